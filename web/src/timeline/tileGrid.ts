// Which tiles a view needs. A tile is (chunk, level, index); its cells are never wider than a CSS pixel.
//
//   const level = levelFor(view, 1400);
//   const range = tileRange(level, view.startPs, viewEndPs(view));   // 2-4 tiles for a common screen

import { CELLS_PER_TILE, MAX_LEVEL, MIN_LEVEL } from './tile';
import { viewEndPs, type TimeSpan, type View } from './view';

export interface TileAddress {
  readonly chunk: string; // "h.p.c"
  readonly level: number;
  readonly index: number;
}

export interface TileRange {
  readonly first: number;
  readonly last: number; // inclusive
}

export function tileKey(address: TileAddress): string {
  return `${address.chunk}/${address.level}/${address.index}`;
}

/** The coarsest level whose cells are at most one pixel wide. */
export function levelFor(view: View, widthPx: number): number {
  const psPerPx = view.durationPs / Math.max(1, widthPx);
  let level = MIN_LEVEL;
  while (level < MAX_LEVEL && 2 ** (level + 1) / CELLS_PER_TILE <= psPerPx) ++level;
  return level;
}

/** For something that shows `stepPx` pixels as one: cells of that width do, and the whole session's tile is enough at most. */
export function coarseLevelFor(view: View, widthPx: number, window: TimeSpan, stepPx: number): number {
  return Math.min(Math.max(levelFor(view, widthPx), rootLevelFor(window)), levelFor(view, widthPx / stepPx));
}

/** The finest level at which one or two tiles hold the whole session. */
export function rootLevelFor(window: TimeSpan): number {
  const span = Math.max(1, window.endPs - window.startPs);
  let level = MIN_LEVEL;
  while (level < MAX_LEVEL && 2 ** level < span) ++level;
  return level;
}

export function tileRange(level: number, startPs: number, endPs: number): TileRange {
  const span = 2 ** level;
  return { first: Math.floor(startPs / span), last: Math.max(Math.floor(startPs / span), Math.ceil(endPs / span) - 1) };
}

/** Tiles of the view that also touch the session: beyond its ends there is nothing to ask for. */
export function visibleRange(level: number, view: View, window: TimeSpan): TileRange | null {
  const start = Math.max(view.startPs, window.startPs);
  // An event that ends exactly at the window's end, or lasts no time there, still belongs to the last tile.
  const end = Math.min(viewEndPs(view), window.endPs + 1);
  return end <= start ? null : tileRange(level, start, end);
}

/** Addresses in the order in which they should be fetched: the middle first, then outwards. */
export function middleOut(range: TileRange): number[] {
  const middle = Math.floor((range.first + range.last) / 2);
  const order: number[] = [];
  for (let distance = 0; distance <= range.last - range.first + 1; ++distance) {
    if (middle + distance <= range.last) order.push(middle + distance);
    if (distance > 0 && middle - distance >= range.first) order.push(middle - distance);
  }
  return order;
}
