// Which drawn events a search means: by the names inside a tile at once, by the server's hits when they have come.

import type { SearchHit } from './model';
import { splitEventId } from './model';
import type { Tile } from './tile';

/** Words with which only a search expression begins a term (docs/api/v1.md). */
const TERM = /(^|[\s(])(name[:=]|stat:|duration\s*[<>]|(line|plane|host):)/;
const JOINED = /\S\s+(and|or)\s+\S|^not\s+\S/;

/** "stat:flops>1e9 and not line:python" is an expression; "fusion" and "/fus.*3/" are text to look for in names. */
export function isExpression(query: string): boolean {
  if (query.length > 2 && query.startsWith('/') && query.endsWith('/')) return false;
  return TERM.test(query) || JOINED.test(query);
}

/** Null when the text is empty or is an expression that does not compile (the server then says what is wrong). */
export function nameMatcher(query: string): ((name: string) => boolean) | null {
  if (query === '') return null;
  if (query.length > 2 && query.startsWith('/') && query.endsWith('/')) {
    try {
      const expression = new RegExp(query.slice(1, -1), 'i');
      return (name) => expression.test(name);
    } catch {
      return null;
    }
  }
  const wanted = query.toLowerCase();
  return (name) => name.toLowerCase().includes(wanted);
}

export class SearchMark {
  private readonly matches: ((name: string) => boolean) | null;
  private readonly byTile = new WeakMap<Tile, Int8Array>();
  private readonly byLine = new Map<string, Set<number>>();

  /** Of an expression the page knows no more than the hits; `all` says that they are all of them. */
  constructor(readonly query: string, hits: readonly SearchHit[], all = true) {
    this.matches = isExpression(query) ? null : nameMatcher(query);
    // Dimming by a part of the hits would hide the others.
    if (this.matches === null && !all) return;
    for (const hit of hits) {
      const id = splitEventId(hit.event);
      if (id === null) continue;
      const events = this.byLine.get(id.line);
      if (events === undefined) this.byLine.set(id.line, new Set([id.event]));
      else events.add(id.event);
    }
  }

  /** False when nothing can be a hit: then nothing is dimmed either. */
  get meansSomething(): boolean {
    return this.matches !== null || this.byLine.size > 0;
  }

  isHit(tile: Tile, rect: number, lineId: string): boolean {
    const name = tile.nameIndex(rect);
    let known = this.byTile.get(tile);
    if (known === undefined) {
      known = new Int8Array(Math.max(1, tile.nameCount));
      this.byTile.set(tile, known);
    }
    if (known[name] === 0) known[name] = this.matches !== null && this.matches(tile.name(name)) ? 1 : -1;
    return known[name] === 1 || (this.byLine.get(lineId)?.has(tile.event(rect)) ?? false);
  }
}
