import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventDetail } from './model';
import type { DrawnEvent } from './scene';
import { factsOf, Tooltip } from './tooltip';

const drawn = (changes: Partial<DrawnEvent> = {}): DrawnEvent => ({
  trackId: '0.0.0', lineId: '0.0.0', row: 0, event: 7, longest: [7], name: 'fusion.7', category: 2, count: 1, share: 1, startPs: 0, endPs: 2e6, longestPs: 2e6,
  beginsBefore: false, endsAfter: false, x0: 0, x1: 1, y: 0, height: 17, ...changes,
});

let host: HTMLElement;
beforeEach(() => {
  vi.useFakeTimers();
  host = document.createElement('div');
  document.body.append(host);
});
afterEach(() => {
  vi.useRealTimers();
  host.remove();
});
const lines = (): string[] => [...host.querySelectorAll<HTMLElement>('.tl-tooltip > div')].filter((line) => !line.hidden).map((line) => line.textContent ?? '');

describe('the hover card', () => {
  it('of one event is its name and duration', () => {
    new Tooltip(host, () => Promise.reject(new Error('not asked'))).show(drawn(), 0, 0);
    expect(lines()).toEqual(['fusion.7', '2.00 µs', 'Fusion']);
  });

  it('of many says how many, and the longest by name and duration once it is known', async () => {
    const asked: DrawnEvent[] = [];
    const tooltip = new Tooltip(host, async (event) => {
      asked.push(event);
      return { name: 'dot.1', duration_ps: 900_000 } as EventDetail;
    });
    const merged = drawn({ count: 12, longest: [7, 9], longestPs: null, share: 0.4 });
    tooltip.show(merged, 0, 0);
    expect(lines()).toEqual(['12 events, the longest of them:', '…', 'all busy 40.0 % of 2.00 µs', 'Fusion']);
    await vi.advanceTimersByTimeAsync(500);
    expect(asked).toEqual([merged]);
    expect(lines()).toEqual(['12 events, the longest of them:', 'dot.1', '900 ns; all busy 40.0 % of 2.00 µs', 'Fusion']);
    tooltip.showReading({ title: 'queue', facts: '4' }, 0, 0);
    expect(lines()).toEqual(['queue', '4']);
  });

  it('keeps what tiles know when the server does not answer', async () => {
    new Tooltip(host, () => Promise.reject(new Error('gone'))).show(drawn({ count: 2, longest: [7, 9], longestPs: null }), 0, 0);
    await vi.advanceTimersByTimeAsync(500);
    expect(lines()[1]).toBe('fusion.7');
  });

  it('says that an event which the view cuts goes on', () => {
    expect(factsOf(drawn({ beginsBefore: true }))).toBe('at least 2.00 µs; goes on outside the view');
  });
});
