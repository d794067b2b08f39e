// Walks the rectangles of one row from left to right over several tiles and hands out what is to be drawn: events cut by
// a tile's edge are put together again, events thinner than a pixel are gathered into one-pixel columns.
//
//   walker.begin(view transform, sink); walker.walk(segments, line, row); walker.end();
//
// No allocation per rectangle: the sink reads the walker's fields.

import type { Segment } from './cover';
import { FLAG_BEGINS_BEFORE, FLAG_ENDS_AFTER, FLAG_MERGED, RECT_WORDS, type Tile } from './tile';
import type { View } from './view';

export type Sink = (walker: RowWalker) => void;

/** Events asked about when a column's longest is in doubt; a pixel gathers eight cells at most, where finer tiles stand in. */
const MAX_RIVALS = 8;
/** Of a merged rectangle's fill, which has 256 steps. */
const FILL_SLACK = 1 / 255;

/** What may be the longest event of a bar, with the least and the most that it can last, in pixels. */
interface Rival {
  readonly tile: Tile;
  readonly rect: number;
  readonly least: number;
  readonly most: number;
}

/** Positions are cut here, in device pixels beyond the canvas: floats stay exact and labels can stick to the edge. */
const MARGIN_PX = 64;

export class RowWalker {
  // What is being put together; valid inside the sink.
  x0 = 0; // device pixels
  x1 = 0;
  column = false; // a one-pixel column of events thinner than a pixel
  covered = 0; // busy pixels: of a column 0..1, of a bar its width x fill
  category = 0;
  merged = false;
  firstTile: Tile | null = null; // begins here ...
  firstRect = 0;
  lastTile: Tile | null = null; // ... and ends here
  lastRect = 0;
  bestTile: Tile | null = null; // the widest of all: it gives the colour
  bestRect = 0;
  beginsBefore = false; // the event begins before what is loaded
  endsAfter = false;
  events = 0; // only counted when `counting`

  counting = false;
  private rivals: Rival[] = []; // only kept when `counting`
  private active = false;
  private bestWidth = 0;
  private continues = false; // the next segment may go on with this event
  private sink: Sink = () => undefined;
  private view: View = { startPs: 0, fractionPs: 0, durationPs: 1 };
  private scale = 1;
  private widthPx = 1;

  begin(view: View, widthPx: number, sink: Sink, counting: boolean): void {
    this.view = view;
    this.scale = widthPx / view.durationPs;
    this.widthPx = widthPx;
    this.sink = sink;
    this.counting = counting;
    this.active = false;
  }

  xOf(ps: number): number {
    return (ps - this.view.startPs - this.view.fractionPs) * this.scale;
  }

  /** All of one row. Returns true when it met an event. */
  walk(segments: readonly Segment[], slots: readonly number[], row: number): boolean {
    let met = false;
    for (let i = 0; i < segments.length; ++i) {
      const slot = slots[i]!;
      const tile = segments[i]!.tile;
      if (tile === null || slot < 0) continue;
      if (this.walkSegment(segments[i]!, tile, slot, row)) met = true;
    }
    this.flush();
    return met;
  }

  private walkSegment(segment: Segment, tile: Tile, slot: number, row: number): boolean {
    const words = tile.rects;
    const psPerUnit = tile.psPerUnit;
    const tileStart = tile.startPs;
    // One exact subtraction for the tile; from here on everything is relative to the view.
    const base = (tileStart - this.view.startPs - this.view.fractionPs) * this.scale;
    const perUnit = psPerUnit * this.scale;
    const leftX = Math.max(this.xOf(segment.startPs), -MARGIN_PX);
    const rightX = Math.min(this.xOf(segment.endPs), this.widthPx + MARGIN_PX);
    if (rightX <= leftX) return false;
    const fromUnits = Math.max((segment.startPs - tileStart) / psPerUnit, Math.floor((leftX - base) / perUnit) - 1);
    const toUnits = Math.min((segment.endPs - tileStart) / psPerUnit, Math.ceil((rightX - base) / perUnit) + 1);
    const end = tile.rowEnd(slot, row);
    const wholeTile = segment.endPs - segment.startPs === tile.spanPs;
    let met = false;
    for (let i = tile.firstEndingAfter(slot, row, fromUnits - 1); i < end; ++i) {
      const start = words[i * RECT_WORDS]!;
      const stop = words[i * RECT_WORDS + 1]!;
      if (start > toUnits || (start === toUnits && !wholeTile)) break;
      if (stop === fromUnits && start < stop) continue;
      met = true;
      this.add(tile, i, Math.max(base + start * perUnit, leftX), Math.min(base + stop * perUnit, rightX),
        start < fromUnits, stop > toUnits);
    }
    return met;
  }

  private add(tile: Tile, rect: number, x0: number, x1: number, cutLeft: boolean, cutRight: boolean): void {
    const word = tile.rects[rect * RECT_WORDS + 3]!;
    const flags = word >>> 24;
    const before = cutLeft || (flags & FLAG_BEGINS_BEFORE) !== 0;
    const after = cutRight || (flags & FLAG_ENDS_AFTER) !== 0;
    const width = x1 - x0;
    const covered = width * (((word >>> 16) & 0xff) / 255);
    if (this.active && this.continues && before && this.isSameEvent(tile, rect)) {
      this.extend(tile, rect, x1, covered, after);
      return;
    }
    if (width < 1) {
      const left = Math.floor(x0);
      if (this.active && this.column && this.x0 === left) {
        this.gather(tile, rect, width, covered, (flags & FLAG_MERGED) !== 0, after);
        return;
      }
      this.start(tile, rect, left, left + 1, covered, word, before, after, width);
      this.column = true;
      this.bestWidth = width;
      return;
    }
    this.start(tile, rect, x0, x1, covered, word, before, after, width);
  }

  private isSameEvent(tile: Tile, rect: number): boolean {
    return this.lastTile !== null && tile.event(rect) === this.lastTile.event(this.lastRect);
  }

  private start(
    tile: Tile, rect: number, x0: number, x1: number, covered: number, word: number, before: boolean, after: boolean, width: number,
  ): void {
    this.flush();
    this.active = true;
    this.column = false;
    this.x0 = x0;
    this.x1 = x1;
    this.covered = covered;
    this.category = tile.category(word & 0xffff);
    this.merged = ((word >>> 24) & FLAG_MERGED) !== 0;
    this.firstTile = this.lastTile = this.bestTile = tile;
    this.firstRect = this.lastRect = this.bestRect = rect;
    this.beginsBefore = before;
    this.endsAfter = this.continues = after;
    this.events = 1;
    if (!this.counting) return;
    this.events = tile.eventCount(rect);
    this.rivals = [];
    this.addRival(tile, rect, width, covered);
  }

  private extend(tile: Tile, rect: number, x1: number, covered: number, after: boolean): void {
    if (this.column && x1 > this.x0 + 1) this.column = false;
    if (!this.column) this.x1 = x1;
    this.covered += covered;
    this.lastTile = tile;
    this.lastRect = rect;
    this.endsAfter = this.continues = after;
  }

  private gather(tile: Tile, rect: number, width: number, covered: number, merged: boolean, after: boolean): void {
    this.covered += covered;
    this.merged = this.merged || merged || tile !== this.firstTile || rect !== this.firstRect;
    if (width > this.bestWidth) {
      this.bestWidth = width;
      this.bestTile = tile;
      this.bestRect = rect;
      this.category = tile.category(tile.nameIndex(rect));
    }
    this.lastTile = tile;
    this.lastRect = rect;
    this.endsAfter = this.continues = after;
    if (!this.counting) return;
    this.events += tile.eventCount(rect);
    this.addRival(tile, rect, width, covered);
  }

  /** A merged rectangle does not tell how long its longest event is: no longer than all of them, no shorter than their mean. */
  private addRival(tile: Tile, rect: number, width: number, covered: number): void {
    const count = tile.eventCount(rect);
    const slack = width * FILL_SLACK;
    this.rivals.push(count === 1 ? { tile, rect, least: width, most: width } : { tile, rect, least: Math.max(0, covered - slack) / count, most: covered + slack });
  }

  /** The rectangles whose event may be the longest, the likeliest first. */
  private likeliest(): readonly Rival[] {
    if (this.rivals.length < 2) return this.rivals;
    const least = Math.max(...this.rivals.map((rival) => rival.least));
    return this.rivals.filter((rival) => rival.most >= least).sort((a, b) => b.least - a.least).slice(0, MAX_RIVALS);
  }

  /** Events of which one is the longest, the likeliest first; only when `counting`. */
  get longest(): number[] {
    return [...new Set(this.likeliest().map(({ tile, rect }) => tile.event(rect)))];
  }

  private flush(): void {
    if (!this.active) return;
    this.active = false;
    this.sink(this);
  }

  get startPs(): number {
    return this.firstTile === null ? 0 : this.firstTile.startOf(this.firstRect);
  }
  get endPs(): number {
    return this.lastTile === null ? 0 : this.lastTile.endOf(this.lastRect);
  }
  /** Of the longest event; while drawing, of the widest rectangle. */
  get name(): string {
    const { tile, rect } = this.named();
    return tile === null ? '' : tile.name(tile.nameIndex(rect));
  }
  private named(): { tile: Tile | null; rect: number } {
    return (this.counting ? this.likeliest()[0] : undefined) ?? { tile: this.bestTile, rect: this.bestRect };
  }
  /** Busy share of what is drawn, 0..1. */
  get share(): number {
    return Math.min(1, this.covered / Math.max(1e-9, this.x1 - this.x0));
  }
}
