import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { notifyLocation } from '../state/router';
import TimelinePage from './TimelinePage';
import { testHost, testLine, testPlane } from './testSession';
import { encodeTile } from './testTiles';

const LINES = [
  [[{ startPs: 1_000_000, durationPs: 5_000_000, name: 'outer', category: 8 }], [{ startPs: 2_000_000, durationPs: 1_000_000, name: 'inner', category: 1 }]],
  [[{ startPs: 8_000_000, durationPs: 1_000_000, name: 'other', category: 2 }]],
];
const WINDOW = { start_ps: 0, end_ps: 10_000_000 };

function linesAnswer(complete = true) {
  const plane = {
    ...testPlane('0.0', 0, { event_count: 3 }),
    lines: LINES.map((rows, i) => testLine(`0.0.${i}`, { row_count: complete ? rows.length : null, event_count: complete ? rows.flat().length : null })),
  };
  return { version: 'v1', complete, window: WINDOW, hosts: [testHost('0', [plane])] };
}

const events: Record<string, { name: string; start_ps: number; duration_ps: number; parent: string | null; depth: number }> = {
  '0.0.0.0': { name: 'outer', start_ps: 1_000_000, duration_ps: 5_000_000, parent: null, depth: 0 },
  '0.0.0.1': { name: 'inner', start_ps: 2_000_000, duration_ps: 1_000_000, parent: '0.0.0.0', depth: 1 },
  '0.0.1.0': { name: 'other', start_ps: 8_000_000, duration_ps: 1_000_000, parent: null, depth: 0 },
};

let requests: string[] = [];
let linesAnswers: unknown[] = [];
let linesGate: Promise<void> = Promise.resolve();
let opening = { stage: null as string | null, done_bytes: 0, total_bytes: 0 };
let searchGate: Promise<void> = Promise.resolve(); // answers of the search wait for it

function answer(path: string, query: URLSearchParams): Response {
  const json = (value: unknown, status = 200): Response => new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json' } });
  const parts = path.split('/').slice(5);
  if (parts[0] === 'lines') return json(linesAnswers.length > 1 ? linesAnswers.shift() : linesAnswers[0]);
  if (parts[0] === 'opening') return json(opening);
  if (parts[0] === 'counters') return json({ counters: [] });
  if (parts[0] === 'marks') return json({ steps: null, modules: [] });
  if (parts[0] === 'tiles') return new Response(encodeTile(LINES, Number(parts[2]), Number(parts[3])));
  if (parts[0] === 'events' && parts[1] !== undefined) {
    const event = events[parts[1]];
    if (event === undefined) return json({ error: { code: 'NOT_FOUND', name: 'EVENT_UNKNOWN', message: 'No such event.' } }, 404);
    return json({
      id: parts[1], full_name: `%${event.name}`, host: 'host0', plane: '/device:TPU:0.0', line: 'ops', self_ps: 1, occurrences: 1, offset_bytes: null,
      stats: [{ name: 'bytes_accessed', value: 2048, type: 'uint64', unit: 'B', origin: 'metadata' }], ...event,
    });
  }
  if (parts[0] === 'events') return json({ event: '0.0.1.0', previous: null, next: query.get('event') === '0' ? '0.0.0.1' : null });
  if (parts[0] === 'search') {
    return json({ query: query.get('q'), total: 1, names: 1, hits: [{ event: '0.0.0.1', name: 'inner', start_ps: 2_000_000, duration_ps: 1_000_000, line: '0.0.0' }], truncated: false, density: [0, 1] });
  }
  return json({ error: { code: 'NOT_FOUND', name: 'ROUTE_UNKNOWN', message: path } }, 404);
}

let root: Root;
let host: HTMLElement;

async function open(search = ''): Promise<void> {
  await show(search);
  await until(() => host.querySelector('[data-ready=true]') !== null);
}

function show(search = ''): Promise<void> {
  window.history.replaceState(null, '', `/s/abc/timeline${search}`);
  host = document.createElement('div');
  document.body.append(host);
  root = createRoot(host);
  return act(async () => root.render(<TimelinePage sessionId="abc" />));
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpMs = performance.now() + 4000;
  while (!holds() && performance.now() < giveUpMs) {
    await act(async () => new Promise<void>((done) => void setTimeout(done, 5)));
  }
  expect(holds()).toBe(true);
}

const press = (key: string): Promise<void> => act(async () => {
  window.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  window.dispatchEvent(new KeyboardEvent('keyup', { key, bubbles: true }));
});
const text = (testId: string): string => host.querySelector(`[data-testid=${testId}]`)?.textContent ?? '';
const key = (name: string): string | null => new URLSearchParams(window.location.search).get(name);

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  document.head.innerHTML = '<base href="/" />';
  requests = [];
  linesAnswers = [linesAnswer()];
  searchGate = linesGate = Promise.resolve();
  opening = { stage: null, done_bytes: 0, total_bytes: 0 };
  vi.stubGlobal('fetch', async (address: string, init?: RequestInit) => {
    const url = new URL(address, 'http://test');
    requests.push(url.pathname + url.search);
    await (url.pathname.endsWith('/search') ? searchGate : url.pathname.endsWith('/lines') ? linesGate : Promise.resolve());
    if (init?.signal?.aborted) throw new DOMException('aborted', 'AbortError');
    return answer(url.pathname, url.searchParams);
  });
  // Layout does not exist here: give the drawing area the size of a screen.
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(1000);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600);
});

afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  vi.unstubAllGlobals();
});

describe('the timeline page', () => {
  it('draws what the tiles hold and tells it to tests', async () => {
    await open();
    const hook = window.__strobeTimeline!;
    expect(hook.rects.map((rect) => [rect.name, rect.row, rect.startPs, rect.endPs])).toEqual([
      ['outer', 0, 1_000_000, 6_000_000], ['inner', 1, 2_000_000, 3_000_000], ['other', 0, 8_000_000, 9_000_000],
    ]);
    expect([...host.querySelectorAll('.tl-track-name')].map((name) => name.textContent)).toEqual(['host0', '/device:TPU:0.0', 'line 0.0.0', 'line 0.0.1']);
    expect(requests.every((request) => request.startsWith('/api/v1/sessions/abc/'))).toBe(true);
    expect(requests.filter((request) => request.includes('/tiles/')).every((request) => request.endsWith('?v=v1'))).toBe(true);
  });

  it('says that a profile is being unpacked while nothing can be shown of it', async () => {
    let answerLines = (): void => undefined;
    linesGate = new Promise((done) => (answerLines = done));
    opening = { stage: 'unpacking', done_bytes: 1024 * 1024, total_bytes: 4 * 1024 * 1024 };
    await show();
    await until(() => text('timeline-unpacking') !== '');
    expect(text('timeline-unpacking')).toBe('Unpacking the profile: 1.00 MiB of 4.00 MiB');
    opening = { stage: 'indexing', done_bytes: 0, total_bytes: 0 };
    await until(() => text('timeline-unpacking') === '');
    await act(async () => answerLines());
    await until(() => host.querySelector('[data-ready=true]') !== null);
    const asked = requests.filter((request) => request.endsWith('/opening')).length;
    await act(async () => new Promise<void>((done) => void setTimeout(done, 700)));
    expect(requests.filter((request) => request.endsWith('/opening')).length).toBe(asked);
  });

  it('orders the colours by their time in view, and follows the view', async () => {
    await open();
    const legend = (): string[] => [...host.querySelectorAll('[data-testid=timeline-legend] li:not(.tl-absent)')].map((item) => `${item.getAttribute('data-category')} ${item.querySelector('b')!.textContent}`);
    await until(() => legend().length === 3);
    expect(legend()).toEqual(['host 4.00 µs', 'matmul 1.00 µs', 'fusion 1.00 µs']);
    expect(host.querySelectorAll('[data-testid=timeline-legend] li').length).toBe(9);
    await act(async () => window.__strobeTimeline && (window.history.replaceState(null, '', '/s/abc/timeline?v=8us,1us'), notifyLocation()));
    await until(() => legend().length === 1);
    expect(legend()).toEqual(['fusion 1.00 µs']);
  });

  it('opens the view, selection and search of the address', async () => {
    await open('?v=2us,2us&sel=0.0.0.1&q=inner');
    await until(() => text('timeline-details').includes('bytes_accessed'));
    expect(window.__strobeTimeline!.view).toEqual({ startPs: 2_000_000, fractionPs: 0, durationPs: 2_000_000 });
    expect(text('timeline-details')).toContain('2.00 KiB');
    expect(text('timeline-details')).toContain('%inner');
    await until(() => text('timeline-hits').includes('1 of 1 hit'));
    await until(() => text('timeline-mirror').includes('inner, 1.00 µs'));
  });

  it('walks by keys and keeps the selection in the address', async () => {
    await open('?sel=0.0.0.0');
    await until(() => text('timeline-details').includes('outer'));
    await press('ArrowRight');
    await until(() => key('sel') === '0.0.0.1');
    await until(() => text('timeline-details').includes('inner'));
    await press('ArrowUp');
    await until(() => key('sel') === '0.0.0.0');
    await press('Escape');
    await until(() => key('sel') === null);
    expect(host.querySelector('[data-testid=timeline-details]')).toBeNull();
  });

  it('writes a moved view into the address and shows everything again on 0', async () => {
    await open();
    await press('w');
    await until(() => key('v') !== null);
    expect(window.__strobeTimeline!.view.durationPs).toBeLessThan(10_000_000);
    await press('0');
    await until(() => window.__strobeTimeline!.view.durationPs === 10_400_000);
  });

  it('folds a process and remembers it in the address', async () => {
    await open();
    await act(async () => host.querySelectorAll<HTMLButtonElement>('.tl-toggle[aria-expanded=true]')[1]!.click());
    await until(() => key('open') === '0.0');
    expect(window.__strobeTimeline!.tracks.map((track) => track.id)).toEqual(['h0', '0.0']);
  });

  it('follows Back, but never its own writes while the view moves on', async () => {
    await open('?v=1us,8us');
    await act(async () => {
      window.history.pushState(null, '', '/s/abc/timeline?v=2us,2us');
      notifyLocation();
    });
    await until(() => window.__strobeTimeline!.view.durationPs === 2_000_000);
    await press('w');
    await until(() => key('v') !== '2us,2us');
    const moved = window.__strobeTimeline!.view;
    // Another key of the address changes: the view stays.
    await act(async () => {
      window.history.pushState(null, '', window.location.href + '&m=all');
      notifyLocation();
    });
    await act(async () => new Promise<void>((done) => void setTimeout(done, 60)));
    expect(window.__strobeTimeline!.view).toEqual(moved);
  });

  it('asks for the lines again until all are decoded', async () => {
    linesAnswers = [linesAnswer(false), linesAnswer(true)];
    await open();
    expect(text('timeline')).toContain('Still reading');
    await until(() => !text('timeline').includes('Still reading'));
    expect(window.__strobeTimeline!.tracks.map((track) => track.rows)).toEqual([0, 0, 2, 1]);
  });

  it('says that an event does not exist, and that a view is empty', async () => {
    await open('?v=9.2us,100ns&sel=0.0.0.77');
    await until(() => text('timeline-details').includes('No such event.'));
    await until(() => text('timeline-no-events').includes('Nearest event before'));
  });

  it('shows a view beyond the recorded window, where an event is, once the lines are known', async () => {
    const beyond = (complete: boolean) => {
      const answer = linesAnswer(complete);
      const lines = answer.hosts[0]!.planes[0]!.lines;
      const plane = { ...answer.hosts[0]!.planes[0]!, lines: [lines[0]!, { ...lines[1]!, start_ps: complete ? 8_000_000 : null, end_ps: complete ? 16_000_000 : null }] };
      return { ...answer, hosts: [testHost('0', [plane])] };
    };
    linesAnswers = [beyond(false), beyond(true)];
    await open('?v=14us,1us');
    await until(() => window.__strobeTimeline!.view.startPs === 14_000_000);
    expect(window.__strobeTimeline!.view.durationPs).toBe(1_000_000);
    expect(window.__strobeTimeline!.window).toEqual({ startPs: 0, endPs: 16_000_000 });
    await press('0');
    await until(() => window.__strobeTimeline!.view.durationPs === 16_640_000);
    expect(host.querySelector('[data-part=total]')!.textContent).toBe('16.0 µs');
    expect(host.querySelector<HTMLElement>('[data-part=total]')!.title).toContain('Recorded from 0 s to 10.0 µs');
  });

  const searchField = (): HTMLInputElement => host.querySelector<HTMLInputElement>('[data-testid=timeline-search]')!;
  const typeWords = (value: string): Promise<void> => act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(searchField(), value);
    searchField().dispatchEvent(new Event('input', { bubbles: true }));
  });
  const pressThere = (name: string): Promise<boolean> => act(async () => searchField().dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true })));

  it('goes to the first hit when Enter comes before the hits', async () => {
    let release = (): void => undefined;
    searchGate = new Promise((done) => (release = done));
    await open();
    await typeWords('inner');
    await pressThere('Enter');
    expect(key('q')).toBe('inner');
    expect(key('sel')).toBeNull();
    release();
    await until(() => key('sel') === '0.0.0.1');
    expect(text('timeline-hits')).toBe('1 of 1 hit');
  });

  it('goes to no hit when the words change or Escape is pressed before the hits come', async () => {
    for (const giveUp of [() => typeWords('inne'), () => pressThere('Escape')]) {
      let release = (): void => undefined;
      searchGate = new Promise((done) => (release = done));
      await open();
      await typeWords('inner');
      await pressThere('Enter');
      await giveUp();
      release();
      await act(async () => new Promise<void>((done) => void setTimeout(done, 400)));
      expect(key('sel')).toBeNull();
      await act(async () => root.unmount());
      host.remove();
    }
    await open();
  });

  it('goes to a time', async () => {
    await open();
    await press('@');
    await until(() => host.querySelector('[data-testid=timeline-goto]') !== null);
    const input = host.querySelector<HTMLInputElement>('#tl-goto-time')!;
    const form = host.querySelector<HTMLFormElement>('[data-testid=timeline-goto]')!;
    const write = async (value: string): Promise<void> => act(async () => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input, value);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    const submit = (): Promise<boolean> => act(async () => form.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })));
    await write('soon');
    await submit();
    expect(text('timeline-goto')).toContain('Write a time such as');
    await write('3us,1us');
    await submit();
    await until(() => window.__strobeTimeline!.view.durationPs === 1_200_000);
    expect(window.__strobeTimeline!.view.startPs).toBe(2_900_000);
  });

  it('leaves nothing behind', async () => {
    await open();
    await act(async () => root.render(null));
    expect(window.__strobeTimeline).toBeUndefined();
    const before = requests.length;
    await act(async () => new Promise((done) => setTimeout(done, 50)));
    expect(requests.length).toBe(before);
  });
});
