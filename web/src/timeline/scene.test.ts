import { describe, expect, it } from 'vitest';
import { PieceCache } from './counterChart';
import { coverChunk } from './cover';
import { makeLayout } from './layout';
import { STYLE_DIAGONAL } from './rectBuffer';
import { Scene, type DrawnEvent, type SceneInput } from './scene';
import { SearchMark } from './searchMark';
import { TileCache } from './tileCache';
import { levelFor, rootLevelFor, tileRange, visibleRange } from './tileGrid';
import { testHost, testLine, testPlane } from './testSession';
import { makeTile, randomSource, type TestEvent, type TestLines } from './testTiles';
import { fullView, makeView, clampView, viewEndPs, type TimeSpan, type View } from './view';

const WIDTH = 1000;

function busyLine(count: number, seed: number): TestEvent[] {
  const random = randomSource(seed);
  const events: TestEvent[] = [];
  let at = 1000;
  for (let i = 0; i < count; ++i) {
    const durationPs = Math.floor(random() * 4e6);
    events.push({ startPs: at, durationPs, name: `op.${i % 7}`, category: i % 9 });
    at += durationPs + Math.floor(random() * 2e6);
  }
  return events;
}

class Fixture {
  readonly cache = new TileCache();
  readonly layout;
  constructor(readonly lines: TestLines, readonly window: TimeSpan) {
    const plane = {
      ...testPlane('0.0', 0, { event_count: null }),
      lines: lines.map((rows, i) => testLine(`0.0.${i}`, { row_count: rows.length, event_count: rows.flat().length })),
    };
    this.layout = makeLayout([testHost('0', [plane])], new Set());
  }
  load(level: number, index: number): void {
    this.cache.put({ chunk: '0.0.0', level, index }, makeTile(this.lines, level, index));
  }
  loadFor(view: View): number {
    const level = levelFor(view, WIDTH);
    const range = visibleRange(level, view, this.window)!;
    for (let index = range.first; index <= range.last; ++index) this.load(level, index);
    return level;
  }
  loadRoot(): void {
    const level = rootLevelFor(this.window);
    const range = tileRange(level, this.window.startPs, this.window.endPs + 1);
    for (let index = range.first; index <= range.last; ++index) this.load(level, index);
  }
  input(view: View, changes: Partial<SceneInput> = {}): SceneInput {
    return {
      view, window: this.window, layout: this.layout, cache: this.cache, widthPx: WIDTH, heightPx: 600, scrollPx: 0, pixelRatio: 1,
      edges: false, mark: null, gridX: [], colourBy: 'category', planeOrdinals: new Map(), pieces: new PieceCache(), ...changes,
    };
  }
}

function inView(events: readonly TestEvent[], view: View): TestEvent[] {
  return events.filter((event) => event.startPs < viewEndPs(view) && event.startPs + event.durationPs > view.startPs);
}

/** Busy pixels of the view, summed from what is drawn, cut at the screen's edges. */
function busyPx(drawn: readonly DrawnEvent[]): number {
  let sum = 0;
  for (const event of drawn) {
    const width = event.x1 - event.x0;
    const seen = Math.min(WIDTH, event.x1) - Math.max(0, event.x0);
    sum += Math.max(0, seen) * event.share * (width > 0 ? 1 : 0);
  }
  return sum;
}

const events = busyLine(20_000, 4);
const last = events[events.length - 1]!;
const window = { startPs: 0, endPs: last.startPs + last.durationPs };

describe('a frame', () => {
  it('names the longest of the events in a column, not one of the widest rectangle', () => {
    // Two cells in one pixel: a single event, and five that are shorter though they reach further.
    const cell = 1024;
    const tiny = Array.from({ length: 5 }, (_, i) => ({ startPs: cell + 10 + i * 150, durationPs: 20, name: 'tiny' }));
    const fixture = new Fixture([[[{ startPs: 10, durationPs: 300, name: 'longest' }, ...tiny]]], { startPs: 0, endPs: 4e6 });
    const view = makeView(0, Math.round(WIDTH * 1.9 * cell));
    expect(fixture.loadFor(view)).toBe(20);
    const [first] = new Scene().describe(fixture.input(view));
    expect(first).toMatchObject({ name: 'longest', event: 0, longest: [0], count: 6, longestPs: null });
  });

  it('gives every event that may be the longest where tiles do not tell', () => {
    const cell = 1024;
    const tiny = (from: number, durationPs: number): TestEvent[] => Array.from({ length: 5 }, (_, i) => ({ startPs: from + i * 150, durationPs, name: `of ${durationPs}` }));
    const fixture = new Fixture([[[...tiny(10, 60), ...tiny(cell + 10, 50)]]], { startPs: 0, endPs: 4e6 });
    const [first] = new Scene().describe((fixture.loadFor(makeView(0, Math.round(WIDTH * 1.9 * cell))), fixture.input(makeView(0, Math.round(WIDTH * 1.9 * cell)))));
    expect(first!.longest).toEqual([0, 5]);
    expect(first!.count).toBe(10);
  });

  it('draws every event of the view once, at its place, at every zoom', () => {
    const fixture = new Fixture([[events]], window);
    for (const duration of [1e6, 2e7, 3e8]) {
      const view = clampView(makeView(3e9 + 12_345, duration), window);
      fixture.loadFor(view);
      const drawn = new Scene().describe(fixture.input(view));
      const expected = inView(events, view);
      let count = 0;
      for (const one of drawn) {
        count += one.count;
        if (one.count > 1) continue;
        const event = events[one.event]!;
        expect([one.startPs, one.endPs, one.name]).toEqual([event.startPs, event.startPs + event.durationPs, event.name]);
      }
      expect(Math.abs(count - expected.length)).toBeLessThanOrEqual(2);
    }
  });

  it('joins an event that several tiles cut', () => {
    const long = [{ startPs: 100, durationPs: 5_000_000, name: 'long' }];
    const fixture = new Fixture([[long]], { startPs: 0, endPs: 6_000_000 });
    const view = clampView(makeView(0, 6_000_000), fixture.window);
    const level = levelFor(view, WIDTH) - 3;
    for (let index = 0; index <= Math.floor(6_000_000 / 2 ** level); ++index) fixture.load(level, index);
    const drawn = new Scene().describe(fixture.input(view));
    expect(drawn.map((one) => [one.startPs, one.endPs, one.count])).toEqual([[100, 5_000_100, 1]]);
    const frame = new Scene().build(fixture.input(view));
    expect(frame.labels.map((label) => label.text)).toEqual(['long']);
  });

  it('has the same busy share right after a zoom, from coarser tiles, as when it has settled', () => {
    const fixture = new Fixture([[events]], window);
    fixture.loadRoot();
    for (const duration of [window.endPs / 4, window.endPs / 20, window.endPs / 60]) {
      const view = clampView(makeView(window.endPs * 0.4, duration), window);
      const coarse = new Scene().describe(fixture.input(view));
      expect(new Scene().build(fixture.input(view)).settled).toBe(false);
      const settledFixture = new Fixture([[events]], window);
      settledFixture.loadFor(view);
      const settled = new Scene().describe(settledFixture.input(view));
      expect(Math.abs(busyPx(coarse) - busyPx(settled)) / busyPx(settled)).toBeLessThan(0.02);
      const exact = inView(events, view).reduce((sum, event) => sum + event.durationPs, 0) / view.durationPs;
      expect(busyPx(settled) / WIDTH / exact).toBeGreaterThan(0.97);
      expect(busyPx(settled) / WIDTH / exact).toBeLessThan(1.03);
    }
  });

  it('draws what is not loaded as not loaded, and nothing of it as empty', () => {
    const fixture = new Fixture([[events]], window);
    const view = clampView(makeView(1e9, 2e9), window);
    const empty = new Scene().build(fixture.input(view));
    expect([empty.unloaded, empty.settled, empty.anyEvent]).toEqual([true, false, false]);
    const diagonal = [...Array(empty.buffer.count).keys()].filter((i) => (empty.buffer.style(i) & STYLE_DIAGONAL) !== 0);
    expect(diagonal.length).toBe(1);
    expect(empty.buffer.x0(diagonal[0]!)).toBe(0);
    expect(empty.buffer.x1(diagonal[0]!)).toBe(WIDTH);

    const level = levelFor(view, WIDTH);
    const range = visibleRange(level, view, window)!;
    fixture.load(level, range.first);
    const half = new Scene().build(fixture.input(view));
    const at = [...Array(half.buffer.count).keys()].find((i) => (half.buffer.style(i) & STYLE_DIAGONAL) !== 0)!;
    const edge = ((range.first + 1) * 2 ** level - view.startPs) * (WIDTH / view.durationPs);
    expect(half.buffer.x0(at)).toBeCloseTo(edge, 2);
    expect(half.anyEvent).toBe(true);
  });

  it('visits only the rows on screen of 5,000 lines', () => {
    const one = [{ startPs: 10, durationPs: 1000 }];
    const lines = Array.from({ length: 64 }, () => [one]);
    const plane = testPlane('0.0', 5000);
    const fixture = new Fixture(lines, { startPs: 0, endPs: 4000 });
    const layout = makeLayout([testHost('0', [plane])], new Set());
    for (const chunk of ['0.0.0', '0.0.1']) fixture.cache.put({ chunk, level: 12, index: 0 }, makeTile(lines, 12, 0));
    const frame = new Scene().build(fixture.input(fullView(fixture.window), { layout, heightPx: 480 }));
    expect(frame.bars).toBeLessThanOrEqual(21);
    expect(frame.bars).toBeGreaterThanOrEqual(17);
  });

  it('keeps bars of one pixel at least and one bar a pixel at most where events are thinner', () => {
    const fixture = new Fixture([[events]], window);
    const view = fullView(window);
    fixture.loadFor(view);
    const frame = new Scene().build(fixture.input(view));
    expect(frame.bars).toBeLessThanOrEqual(2 * WIDTH);
    const drawn = new Scene().describe(fixture.input(view));
    expect(drawn.reduce((sum, one) => sum + one.count, 0)).toBe(events.length);
  });

  it('dims what a search does not mean', () => {
    const fixture = new Fixture([[events]], window);
    const view = clampView(makeView(1e9, 2e7), window);
    fixture.loadFor(view);
    const frame = new Scene().build(fixture.input(view, { mark: new SearchMark('OP.3', []) }));
    const strengths = new Set<number>();
    for (let i = 0; i < frame.buffer.count; ++i) if (frame.buffer.height(i) === 17) strengths.add(frame.buffer.strength(i));
    expect(Math.max(...strengths)).toBe(255);
    expect(Math.min(...strengths)).toBeLessThan(80);
    expect(frame.labels.some((label) => !label.dim && label.text !== 'op.3')).toBe(false);
  });
});

describe('cover', () => {
  const fixture = new Fixture([[events]], window);
  const root = rootLevelFor(window);

  it('leaves no hole between segments, whatever is loaded', () => {
    const random = randomSource(9);
    for (let round = 0; round < 100; ++round) {
      const cache = new TileCache();
      const level = root - 1 - Math.floor(random() * 6);
      const range = tileRange(level, window.startPs, window.endPs + 1);
      for (let i = 0; i < 12; ++i) {
        const at = level + Math.floor(random() * 4) - 2;
        const tiles = tileRange(at, window.startPs, window.endPs);
        const index = Math.floor(random() * (tiles.last + 1));
        cache.put({ chunk: 'x', level: at, index }, makeTile([[[]]], at, index));
      }
      const segments = coverChunk(cache, 'x', level, range, root, window);
      let at = 0;
      for (const segment of segments) {
        expect(segment.startPs).toBe(at);
        at = segment.endPs;
      }
      expect(at).toBeGreaterThanOrEqual(window.endPs);
    }
  });

  it('prefers the exact tile, then a coarser one, then finer ones', () => {
    const cache = new TileCache();
    const view = clampView(makeView(0, window.endPs / 4), window);
    const level = levelFor(view, WIDTH);
    const range = { first: 0, last: 0 };
    const put = (at: number, index: number): void => cache.put({ chunk: 'x', level: at, index }, makeTile(fixture.lines, at, index));
    const levels = (): (number | null)[] => coverChunk(cache, 'x', level, range, root, window).map((segment) => segment.tile?.level ?? null);
    put(level - 1, 1);
    expect(levels()).toEqual([null, level - 1]);
    put(root, 0);
    expect(levels()).toEqual([root]);
    put(level, 0);
    expect(levels()).toEqual([level]);
  });
});

describe('a tile that lacks a line', () => {
  it('leaves the line as not loaded', () => {
    const fixture = new Fixture([[[{ startPs: 10, durationPs: 100 }]]], { startPs: 0, endPs: 4000 });
    const view = fullView(fixture.window);
    fixture.cache.put({ chunk: '0.0.0', level: levelFor(view, WIDTH), index: 0 }, makeTile([], levelFor(view, WIDTH), 0));
    for (let index = 1; index <= 3; ++index) fixture.load(levelFor(view, WIDTH), index);
    const frame = new Scene().build(fixture.input(view));
    expect([frame.unloaded, frame.settled]).toEqual([true, false]);
  });
});
