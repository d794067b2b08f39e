import { describe, expect, it } from 'vitest';
import { makeLayout } from './layout';
import { MAX_LEVEL, MIN_LEVEL } from './tile';
import { levelFor, middleOut, rootLevelFor, tileKey, tileRange, visibleRange } from './tileGrid';
import { testHost, testPlane } from './testSession';
import { visibleChunks, wantedTiles } from './want';
import { clampView, fullView, makeView } from './view';

const TRACE = { startPs: 0, endPs: 98e12 };

describe('the grid of tiles', () => {
  it('has cells of at most a pixel and at least half of one', () => {
    for (let duration = 1000; duration < 98e12; duration *= 1.37) {
      const view = makeView(0, duration);
      const cellPx = (2 ** (levelFor(view, 1400) - 10) * 1400) / view.durationPs;
      if (levelFor(view, 1400) > MIN_LEVEL) expect(cellPx).toBeLessThanOrEqual(1);
      expect(cellPx).toBeGreaterThan(levelFor(view, 1400) === MIN_LEVEL ? 0 : 0.5);
      const range = tileRange(levelFor(view, 1400), view.startPs, view.startPs + view.durationPs);
      expect(range.last - range.first + 1).toBeLessThanOrEqual(4);
    }
    expect(levelFor(makeView(0, 9e15), 1)).toBeLessThanOrEqual(MAX_LEVEL);
  });

  it('holds a session in two root tiles at most', () => {
    for (const endPs of [1, 1000, 5e6, 98e12, 9e15]) {
      const range = tileRange(rootLevelFor({ startPs: 0, endPs }), 0, endPs + 1);
      expect(range.last - range.first + 1).toBeLessThanOrEqual(2);
    }
  });

  it('does not ask beyond the ends of the session', () => {
    const view = fullView(TRACE);
    const level = levelFor(view, 1400);
    const range = visibleRange(level, view, TRACE)!;
    expect(range.first).toBe(0);
    expect(range.last).toBe(Math.floor(TRACE.endPs / 2 ** level));
  });

  it('fetches the middle first', () => {
    expect(middleOut({ first: 3, last: 7 })).toEqual([5, 6, 4, 7, 3]);
    expect(middleOut({ first: 2, last: 2 })).toEqual([2]);
  });
});

describe('wanted tiles', () => {
  const layout = makeLayout([testHost('0', [testPlane('0.0', 5000), testPlane('0.1', 40)])], new Set(['0.0']));
  const base = { window: TRACE, layout, widthPx: 1400, heightPx: 800, scrollPx: 0, strips: [] };

  it('are those of visible chunks only, few, and each once', () => {
    expect(visibleChunks(layout, 0, 800)).toEqual(['0.0.0']);
    const view = clampView(makeView(40e12, 1e9), TRACE);
    const wanted = wantedTiles({ ...base, view });
    expect(wanted.length).toBeLessThan(20);
    expect(new Set(wanted.map(tileKey)).size).toBe(wanted.length);
    // First something that covers everything, then the view.
    expect(wanted[0]!.level).toBe(rootLevelFor(TRACE));
    const level = levelFor(view, 1400);
    const exact = wanted.filter((tile) => tile.level === level).map((tile) => tile.index);
    const range = visibleRange(level, view, TRACE)!;
    for (let index = range.first - 1; index <= range.last + 1; ++index) expect(exact).toContain(index);
  });

  it('include the chunks a little above and below last', () => {
    const far = layout.find('0.0.200')!;
    const wanted = wantedTiles({ ...base, view: fullView(TRACE), scrollPx: far.y });
    const chunks = [...new Set(wanted.map((tile) => tile.chunk))];
    expect(chunks[0]).toBe('0.0.3');
    expect(chunks).not.toContain('0.0.9');
    expect(chunks.length).toBeLessThanOrEqual(3);
  });
});
