// Counters as curves: which pieces of a series a view needs, what is known of each pixel, and how high it stands.
//
//   const columns = counterColumns(cache, counter, view, window, widthPx);      // min, mean, max of every pixel
//   const y = chartY(value, counter, heightPx);                                // 0 at the bottom, or the least below zero
//
// Pieces have the tiles' grid (level, index), so a pan asks for nothing that is there. A pixel without a sample holds the
// value that came last: a counter keeps its value until it says another.

import type { CounterInfo, CounterSeries } from './model';
import { CELLS_PER_TILE } from './tile';
import { levelFor, rootLevelFor, visibleRange, type TileAddress } from './tileGrid';
import type { TimeSpan, View } from './view';

/** As many cells as a tile has: a piece then never has a cell wider than a pixel. */
export const BUCKETS = CELLS_PER_TILE;
/** Pieces kept; one is about 40 kB, a screen of charts needs 60. */
export const MAX_PIECES = 256;

export interface Columns {
  readonly min: Float64Array; // NaN: not loaded, or before the first sample
  readonly mean: Float64Array;
  readonly max: Float64Array;
  readonly loaded: Uint8Array; // 1: what stands there (or that nothing does) is known
  readonly exact: boolean;
}

export class PieceCache {
  private readonly pieces = new Map<string, CounterSeries>();

  static key(counter: string, address: TileAddress): string {
    return `${counter} ${address.level} ${address.index}`;
  }
  get size(): number {
    return this.pieces.size;
  }
  has(counter: string, address: TileAddress): boolean {
    return this.pieces.has(PieceCache.key(counter, address));
  }
  use(counter: string, level: number, index: number): CounterSeries | null {
    const key = PieceCache.key(counter, { chunk: '', level, index });
    const piece = this.pieces.get(key);
    if (piece === undefined) return null;
    this.pieces.delete(key);
    this.pieces.set(key, piece);
    return piece;
  }
  put(counter: string, address: TileAddress, piece: CounterSeries): void {
    this.pieces.set(PieceCache.key(counter, address), piece);
    for (const key of this.pieces.keys()) {
      if (this.pieces.size <= MAX_PIECES) break;
      this.pieces.delete(key);
    }
  }
  clear(): void {
    this.pieces.clear();
  }
}

/** The pieces that a view of a counter is made of, the ones in view only. */
export function wantedPieces(view: View, window: TimeSpan, widthPx: number): TileAddress[] {
  const level = levelFor(view, widthPx);
  const range = visibleRange(level, view, window);
  if (range === null) return [];
  return Array.from({ length: range.last - range.first + 1 }, (_, i) => ({ chunk: '', level, index: range.first + i }));
}

export function counterColumns(cache: PieceCache, counter: CounterInfo, view: View, window: TimeSpan, widthPx: number): Columns {
  const width = Math.max(1, Math.round(widthPx));
  const columns = { min: new Float64Array(width).fill(NaN), mean: new Float64Array(width).fill(NaN), max: new Float64Array(width).fill(NaN), loaded: new Uint8Array(width), exact: true };
  const rootLevel = rootLevelFor(window);
  let last = NaN;
  for (const { level, index } of wantedPieces(view, window, width)) {
    const startPs = index * 2 ** level;
    let piece = cache.use(counter.id, level, index);
    for (let up = level + 1; piece === null && up <= rootLevel; ++up) {
      piece = cache.use(counter.id, up, Math.floor(startPs / 2 ** up));
      columns.exact = false;
    }
    if (piece === null) {
      columns.exact = false;
      last = NaN;
      continue;
    }
    last = fillFrom(piece, columns, view, width, startPs, startPs + 2 ** level, last);
  }
  // After the end of the session nobody knows the value.
  const end = Math.max(0, Math.ceil((window.endPs - view.startPs - view.fractionPs) * (width / view.durationPs)));
  for (const values of [columns.min, columns.mean, columns.max]) values.fill(NaN, Math.min(width, end));
  return columns;
}

/** Writes the pixels of [fromPs, toPs); gives the value at its end. */
function fillFrom(piece: CounterSeries, columns: Columns, view: View, width: number, fromPs: number, toPs: number, before: number): number {
  const cellPs = (piece.to_ps - piece.from_ps) / piece.bucket_count;
  const scale = width / view.durationPs;
  const first = Math.floor((fromPs - piece.from_ps) / cellPs);
  let last = before;
  // What the samples before this part said; a coarser piece begins further left.
  if (piece.before !== null) last = piece.before.value;
  for (let i = 0; i < first; ++i) last = piece.last[i] ?? last;
  const end = Math.min(piece.bucket_count, Math.ceil((toPs - piece.from_ps) / cellPs));
  for (let i = Math.max(0, first); i < end; ++i) {
    const x0 = Math.floor((piece.from_ps + i * cellPs - view.startPs - view.fractionPs) * scale);
    const x1 = Math.max(x0 + 1, Math.floor((piece.from_ps + (i + 1) * cellPs - view.startPs - view.fractionPs) * scale));
    const sampled = piece.count[i]! > 0;
    for (let x = Math.max(0, x0); x < Math.min(width, x1); ++x) {
      columns.loaded[x] = 1;
      // The value that held until the first sample belongs to the pixel too: so the curve has no holes at its jumps.
      if (sampled) widen(columns, x, Math.min(piece.min[i]!, Number.isNaN(last) ? Infinity : last), piece.mean[i]!, Math.max(piece.max[i]!, Number.isNaN(last) ? -Infinity : last));
      else if (!Number.isNaN(last) && Number.isNaN(columns.mean[x]!)) widen(columns, x, last, last, last);
    }
    if (sampled) last = piece.last[i] ?? last;
  }
  return last;
}

function widen(columns: Columns, x: number, min: number, mean: number, max: number): void {
  if (!(columns.min[x]! <= min)) columns.min[x] = min;
  if (!(columns.max[x]! >= max)) columns.max[x] = max;
  columns.mean[x] = Number.isNaN(columns.mean[x]!) ? mean : (columns.mean[x]! + mean) / 2;
}

/** Charts stand on zero, so that heights can be compared; a counter that goes below has its least at the bottom. */
export function chartScale(counter: Pick<CounterInfo, 'min' | 'max'>): { low: number; high: number } {
  const low = Math.min(0, counter.min);
  const high = Math.max(0, counter.max);
  return { low, high: high > low ? high : low + 1 };
}

/** Pixels from the bottom of a chart. */
export function chartY(value: number, counter: Pick<CounterInfo, 'min' | 'max'>, heightPx: number): number {
  const { low, high } = chartScale(counter);
  return Math.max(0, Math.min(heightPx, ((value - low) / (high - low)) * heightPx));
}
