import { describe, expect, it } from 'vitest';
import { forRuns } from './chartRects';
import { BUCKETS, MAX_PIECES, PieceCache, chartScale, chartY, counterColumns, wantedPieces } from './counterChart';
import type { CounterInfo, CounterSeries } from './model';
import { levelFor, rootLevelFor } from './tileGrid';
import { clampView, fullView, makeView } from './view';

const COUNTER: CounterInfo = {
  id: 'm', name: 'bytes_in_use', group: '', host: 'host0', plane: '0.0', plane_name: '/host:CPU', line: null, unit: 'bytes', kind: 'memory', samples: 4, start_ps: 0, end_ps: 1, min: 0, max: 8,
};
const SAMPLES: readonly (readonly [number, number])[] = [[100_000, 2], [250_000, 8], [250_100, 4], [700_000, 6]];
const WINDOW = { startPs: 0, endPs: 1_000_000 };

/** What the server says of a piece, from the samples. */
function piece(level: number, index: number): CounterSeries {
  const span = 2 ** level;
  const from = index * span;
  const series: CounterSeries = {
    id: 'm', from_ps: from, to_ps: from + span, bucket_count: BUCKETS, samples: 0, before: null, min: Array(BUCKETS).fill(null), mean: Array(BUCKETS).fill(null), max: Array(BUCKETS).fill(null),
    last: Array(BUCKETS).fill(null), count: Array(BUCKETS).fill(0),
  };
  for (const [at, value] of SAMPLES) {
    if (at < from) series.before = { time_ps: at, value };
    const i = Math.floor(((at - from) * BUCKETS) / span);
    if (i < 0 || i >= BUCKETS) continue;
    const n = series.count[i]!++;
    series.min[i] = Math.min(series.min[i] ?? value, value);
    series.max[i] = Math.max(series.max[i] ?? value, value);
    series.mean[i] = ((series.mean[i] ?? 0) * n + value) / (n + 1);
    series.last[i] = value;
  }
  return series;
}

function load(cache: PieceCache, level: number, indices: readonly number[]): void {
  for (const index of indices) cache.put('m', { chunk: '', level, index }, piece(level, index));
}

describe('a curve', () => {
  it('has the samples of each pixel and holds the last value in between', () => {
    const cache = new PieceCache();
    const view = fullView(WINDOW);
    const wanted = wantedPieces(view, WINDOW, 500);
    load(cache, wanted[0]!.level, wanted.map((one) => one.index));
    const columns = counterColumns(cache, COUNTER, view, WINDOW, 500);
    const at = (ps: number): number => Math.floor(((ps - view.startPs) * 500) / view.durationPs);
    expect(columns.exact).toBe(true);
    expect(columns.mean[at(50_000)]).toBeNaN();
    expect(columns.loaded[at(50_000)]).toBe(1);
    expect(columns.mean[at(180_000)]).toBe(2);
    expect([columns.min[at(250_000)], columns.max[at(250_000)]]).toEqual([2, 8]);
    expect(columns.mean[at(600_000)]).toBe(4);
    expect(columns.mean[at(990_000)]).toBe(6);
  });

  it('begins with what was said before the view, from exact and from coarser pieces alike', () => {
    const view = clampView(makeView(400_000, 20_000), WINDOW);
    const level = levelFor(view, 500);
    for (const from of [level, rootLevelFor(WINDOW)]) {
      const cache = new PieceCache();
      load(cache, from, from === level ? wantedPieces(view, WINDOW, 500).map((one) => one.index) : [0]);
      const columns = counterColumns(cache, COUNTER, view, WINDOW, 500);
      expect(columns.exact).toBe(from === level);
      for (const x of [0, 250, 499]) expect(columns.mean[x]).toBe(4);
    }
  });

  it('is not known where nothing was loaded', () => {
    const columns = counterColumns(new PieceCache(), COUNTER, fullView(WINDOW), WINDOW, 100);
    expect(columns.loaded.every((one) => one === 0)).toBe(true);
    expect(columns.exact).toBe(false);
  });

  it('stands on zero, or on its least below', () => {
    expect(chartScale({ min: 3, max: 8 })).toEqual({ low: 0, high: 8 });
    expect(chartScale({ min: -2, max: 2 })).toEqual({ low: -2, high: 2 });
    expect(chartScale({ min: 0, max: 0 })).toEqual({ low: 0, high: 1 });
    expect(chartY(4, { min: 0, max: 8 }, 40)).toBe(20);
    expect(chartY(0, { min: -2, max: 2 }, 40)).toBe(20);
  });

  it('keeps a bounded number of pieces', () => {
    const cache = new PieceCache();
    for (let i = 0; i < MAX_PIECES + 10; ++i) cache.put('m', { chunk: '', level: 20, index: i }, piece(20, 0));
    expect(cache.size).toBe(MAX_PIECES);
    expect(cache.use('m', 20, 0)).toBe(null);
  });
});

describe('runs', () => {
  it('join equal neighbours and leave out what is not known', () => {
    const values = [1, 1, NaN, 2, 2, 2, 0];
    const runs: number[][] = [];
    forRuns(values.length, (i) => values[i]!, (from, to, value) => runs.push([from, to, value]));
    expect(runs).toEqual([[0, 2, 1], [3, 6, 2], [6, 7, 0]]);
  });
});
