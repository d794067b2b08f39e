// What can be drawn of a chunk now: the exact tile, else a coarser one, else finer ones, else "not loaded".
// A region is never left out: the segments of a view follow each other without a hole, so no false gap can appear.

import type { Tile } from './tile';
import type { TileCache } from './tileCache';
import type { TileRange } from './tileGrid';
import type { TimeSpan } from './view';

export interface Segment {
  readonly tile: Tile | null; // null: not loaded
  readonly startPs: number;
  readonly endPs: number;
  readonly exact: boolean; // the tile has the wanted level
}

/** Finer tiles are looked for this many levels down: 2^3 pieces of one tile after zooming out by eight. */
export const MAX_LEVELS_DOWN = 3;

export function coverChunk(
  cache: TileCache, chunk: string, level: number, range: TileRange, rootLevel: number, window: TimeSpan,
): Segment[] {
  const segments: Segment[] = [];
  for (let index = range.first; index <= range.last; ++index) {
    coverTile(cache, chunk, level, index, rootLevel, segments);
  }
  return joinUnloaded(segments, window);
}

function coverTile(
  cache: TileCache, chunk: string, level: number, index: number, rootLevel: number, into: Segment[],
): void {
  const span = 2 ** level;
  const startPs = index * span;
  const endPs = startPs + span;
  const tile = cache.use({ chunk, level, index });
  if (tile !== null) {
    into.push({ tile, startPs, endPs, exact: true });
    return;
  }
  for (let up = level + 1; up <= rootLevel; ++up) {
    const coarse = cache.use({ chunk, level: up, index: Math.floor(startPs / 2 ** up) });
    if (coarse !== null) {
      into.push({ tile: coarse, startPs, endPs, exact: false });
      return;
    }
  }
  coverByFiner(cache, chunk, level, index, MAX_LEVELS_DOWN, into);
}

function coverByFiner(
  cache: TileCache, chunk: string, level: number, index: number, depth: number, into: Segment[],
): void {
  const span = 2 ** (level - 1);
  for (const child of [index * 2, index * 2 + 1]) {
    const startPs = child * span;
    const tile = cache.use({ chunk, level: level - 1, index: child });
    if (tile !== null) into.push({ tile, startPs, endPs: startPs + span, exact: false });
    else if (depth > 1) coverByFiner(cache, chunk, level - 1, child, depth - 1, into);
    else into.push({ tile: null, startPs, endPs: startPs + span, exact: false });
  }
}

/** One segment for neighbours that are not loaded, and nothing beyond the ends of the session. */
function joinUnloaded(segments: readonly Segment[], window: TimeSpan): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const last = joined[joined.length - 1];
    if (segment.tile === null) {
      const startPs = Math.max(segment.startPs, window.startPs);
      const endPs = Math.min(segment.endPs, window.endPs);
      if (endPs <= startPs) continue;
      if (last !== undefined && last.tile === null && last.endPs === startPs) {
        joined[joined.length - 1] = { tile: null, startPs: last.startPs, endPs, exact: false };
      } else {
        joined.push({ tile: null, startPs, endPs, exact: false });
      }
      continue;
    }
    joined.push(segment);
  }
  return joined;
}
