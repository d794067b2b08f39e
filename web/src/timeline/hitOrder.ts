// Which hit comes next: from the selected one, else from a time; after the last comes the first again.

import type { SearchHit } from './model';

export interface NextHit {
  readonly index: number; // -1: there is no hit
  readonly wrapped: boolean;
}

/** `hits` are in time order; without a selected hit the search goes on from `fromPs`. */
export function nextHit(hits: readonly SearchHit[], selection: string | null, fromPs: number, direction: -1 | 1): NextHit {
  if (hits.length === 0) return { index: -1, wrapped: false };
  const at = hits.findIndex((hit) => hit.event === selection);
  let index: number;
  if (at >= 0) index = at + direction;
  else if (direction > 0) index = hits.findIndex((hit) => hit.start_ps >= fromPs);
  else index = hits.findLastIndex((hit) => hit.start_ps < fromPs);
  if (index >= 0 && index < hits.length) return { index, wrapped: false };
  // Not found is -1 whichever way one goes, so only the direction tells which end is the other one.
  return { index: direction > 0 ? 0 : hits.length - 1, wrapped: true };
}
