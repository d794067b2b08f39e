// Turns view + layout + tiles into the rectangles and labels of one frame. Only visible tracks and rows are visited.
//
//   const frame = scene.build({ view, layout, ... });     // frame.buffer goes to the renderer, frame.labels to the overlay
//
// Cost: linear in the rectangles on screen (about 2 a pixel and row at most), no allocation but for labels.

import { plural } from '../format/format';
import { CategoryTimes, type CategoryTime } from './categoryTimes';
import { pushBusy, pushCurve, pushUnknown, type Place } from './chartRects';
import { counterColumns, type PieceCache } from './counterChart';
import { coverChunk, type Segment } from './cover';
import { BUCKET_PX, DeviceStrip, isDense, type Busy } from './deviceStrip';
import { BAR_PX, COUNTER_PAD_PX, LINE_PAD_PX, ROW_PX, barTop, type Layout, type Track } from './layout';
import { COLOUR_APP, COLOUR_CONTROL, COLOUR_LINE, COLOUR_SUNKEN, EDGE_OFFSET } from './palette';
import { RectBuffer, STYLE_DIAGONAL, STYLE_DOTTED, STYLE_EDGE, STYLE_FOOT } from './rectBuffer';
import { RowWalker } from './rowWalk';
import type { SearchMark } from './searchMark';
import { StripBuffer } from './strip';
import { Colours, type ColourBy } from './colour';
import type { TileCache } from './tileCache';
import { coarseLevelFor, levelFor, rootLevelFor, visibleRange } from './tileGrid';
import type { TimeSpan, View } from './view';

export interface SceneInput {
  readonly view: View;
  readonly window: TimeSpan;
  readonly layout: Layout;
  readonly cache: TileCache;
  readonly widthPx: number; // CSS pixels
  readonly heightPx: number;
  readonly scrollPx: number;
  readonly pixelRatio: number;
  readonly edges: boolean; // light theme: a 1 px inner edge keeps bars apart from white
  readonly mark: SearchMark | null;
  readonly colourBy: ColourBy;
  readonly planeOrdinals: ReadonlyMap<string, number>; // by plane id: which device it is, for colours
  readonly gridX: readonly number[]; // CSS pixels of the ruler's named ticks
  readonly pieces: PieceCache; // of the counters' curves
}

export interface Label {
  readonly text: string;
  readonly x: number; // CSS pixels
  readonly y: number;
  readonly width: number;
  readonly dim: boolean;
}

export interface Frame {
  readonly buffer: RectBuffer;
  readonly strips: StripBuffer;
  readonly labels: readonly Label[];
  readonly bars: number; // rectangles that stand for events
  readonly anyEvent: boolean;
  readonly unloaded: boolean; // some region is drawn as not loaded
  readonly settled: boolean; // every region is drawn from its own tile
  readonly busy: ReadonlyMap<string, Busy>; // of the strips on screen, by track
}

/** What one bar on screen is; made only when somebody asks (hover, click, tests). */
export interface DrawnEvent {
  readonly trackId: string;
  readonly lineId: string;
  readonly row: number;
  readonly event: number; // of the longest one, as far as tiles tell
  readonly longest: readonly number[]; // events of which one is the longest; `event` is the first
  readonly name: string; // of `event`
  readonly category: number;
  readonly count: number;
  readonly share: number;
  readonly startPs: number; // of all it stands for
  readonly endPs: number;
  readonly longestPs: number | null; // null: of several events, tiles do not tell exactly
  readonly beginsBefore: boolean; // ends are further out than what is loaded
  readonly endsAfter: boolean;
  readonly x0: number; // CSS pixels of the canvas
  readonly x1: number;
  readonly y: number;
  readonly height: number;
}

const COLLECTIVE = 6;
/** Narrower bars carry no text. */
const MIN_LABEL_PX = 28;
/** Text drawing is the slowest part of a frame; a 2,560 px screen full of 30 px bars in 50 rows has 4,000. */
const MAX_LABELS = 1500;
/** The weakest a drawn event may be, of 255: a short event must stay visible in a long gap. */
const LEAST_STRENGTH = 72;
const DERIVED_STRENGTH = 0.6;
const DIM_STRENGTH = 0.22;
/** Narrower bars have neither edge nor gap and go into the strips. Device pixels. */
const MIN_RECT_PX = 3;
const NO_STRIP = -1;

export class Scene {
  private readonly buffer = new RectBuffer();
  private readonly strips = new StripBuffer();
  private stripRow = NO_STRIP;
  private readonly walker = new RowWalker();
  private readonly colours = new Colours();
  private readonly strip = new DeviceStrip();
  private busy = new Map<string, Busy>();
  private labels: Label[] = [];
  private covers = new Map<string, readonly Segment[]>();
  private bars = 0;
  private anyEvent = false;
  private unloaded = false;
  private settled = true;
  private input!: SceneInput;
  private track!: Track;
  private y = 0;
  private drawn: DrawnEvent[] | null = null;
  private row = 0;

  build(input: SceneInput): Frame {
    this.start(input);
    for (const x of input.gridX) this.fill(Math.round(x), Math.round(x) + 1, 0, input.heightPx, COLOUR_LINE, 140);
    this.forVisibleTracks((track) => this.drawTrack(track));
    return {
      buffer: this.buffer, strips: this.strips, labels: this.labels, bars: this.bars, anyEvent: this.anyEvent, unloaded: this.unloaded,
      settled: this.settled, busy: this.busy,
    };
  }

  /** Everything on screen, in words. `only` narrows it to one row of one track. */
  describe(input: SceneInput, only: { trackId: string; row: number } | null = null): DrawnEvent[] {
    const drawn: DrawnEvent[] = [];
    this.start(input);
    this.drawn = drawn;
    this.forVisibleTracks((track) => {
      if (only !== null && only.trackId !== track.id) return;
      if (track.line === null || track.chunk === '') return;
      const segments = this.coverOf(track.chunk);
      const slots = segments.map((segment) => segment.tile?.slotOfLine(track.lineIndex) ?? -1);
      this.forVisibleRows(track, (row) => {
        if (only === null || only.row === row) this.walkRow(segments, slots, row);
      });
    });
    this.drawn = null;
    return drawn;
  }

  /** How the time on screen divides over categories; `counted` holds the lines that repeat no other. */
  timesByCategory(input: SceneInput, counted: ReadonlySet<string>): CategoryTime[] {
    this.start(input);
    const { view, widthPx, window } = input;
    const times = new CategoryTimes();
    this.forVisibleTracks((track) => {
      if (showsStrip(track, view, widthPx)) {
        const level = stripLevel(track, view, widthPx, window);
        for (const member of track.members) this.measureLine(times, this.coverOf(member.chunk, level), member.lineIndex, (visit) => visit(0));
      } else if (track.line !== null && track.chunk !== '' && track.line.event_count !== 0 && counted.has(track.line.id)) {
        this.measureLine(times, this.coverOf(track.chunk), track.lineIndex, (visit) => this.forVisibleRows(track, visit));
      }
    });
    return times.ranked(view.durationPs / widthPx);
  }

  private measureLine(times: CategoryTimes, segments: readonly Segment[], lineIndex: number, rows: (visit: (row: number) => void) => void): void {
    const { view, widthPx } = this.input;
    const slots = segments.map((segment) => segment.tile?.slotOfLine(lineIndex) ?? -1);
    times.beginLine();
    rows((row) => {
      times.beginRow();
      this.walker.begin(view, widthPx, (walker) => {
        const x0 = Math.max(0, walker.x0);
        const x1 = Math.min(widthPx, walker.x1);
        if (x1 > x0) times.add(x0, x1, (x1 - x0) * walker.share, walker.category);
      }, false);
      this.walker.walk(segments, slots, row);
    });
  }

  private start(input: SceneInput): void {
    this.input = input;
    this.buffer.clear();
    this.strips.clear(Math.max(1, Math.round(input.widthPx * input.pixelRatio)));
    this.labels = [];
    this.covers = new Map();
    this.busy = new Map();
    this.bars = 0;
    this.anyEvent = false;
    this.unloaded = false;
    this.settled = true;
    this.drawn = null;
  }

  private forVisibleTracks(visit: (track: Track) => void): void {
    const { layout, scrollPx, heightPx } = this.input;
    for (let i = Math.max(0, layout.indexAt(scrollPx)); i < layout.tracks.length; ++i) {
      const track = layout.tracks[i]!;
      if (track.y >= scrollPx + heightPx) break;
      this.track = track;
      this.y = track.y - scrollPx;
      visit(track);
    }
  }

  private forVisibleRows(track: Track, visit: (row: number) => void): void {
    const first = Math.max(0, Math.floor((-this.y - LINE_PAD_PX) / ROW_PX));
    const last = Math.min(track.rows - 1, Math.floor((this.input.heightPx - this.y - LINE_PAD_PX) / ROW_PX));
    for (let row = first; row <= last; ++row) visit(row);
  }

  private drawTrack(track: Track): void {
    const { widthPx } = this.input;
    if (track.kind !== 'line' && track.kind !== 'counter') this.fill(0, widthPx, this.y, track.height, COLOUR_APP);
    this.fill(0, widthPx, this.y + track.height - 1, 1, COLOUR_LINE);
    if (track.counter !== null) return this.drawCurve(track);
    if (showsStrip(track, this.input.view, widthPx)) return this.drawStrip(track);
    if (track.line === null || track.chunk === '' || track.line.event_count === 0) return;
    const segments = this.coverOf(track.chunk);
    const slots: number[] = [];
    for (const segment of segments) {
      const slot = segment.tile?.slotOfLine(track.lineIndex) ?? -1;
      slots.push(slot);
      // A tile that does not know the line says nothing about it: that is not the same as "no events".
      this.drawGround(track, segment, slot >= 0);
    }
    this.forVisibleRows(track, (row) => this.walkRow(segments, slots, row));
  }

  private drawStrip(track: Track): void {
    const { view, window, widthPx } = this.input;
    const cutTo = { from: this.cssX(window.startPs), to: this.cssX(window.endPs) };
    const level = stripLevel(track, view, widthPx, window);
    for (const chunk of new Set(track.members.map((member) => member.chunk))) {
      for (const segment of this.coverOf(chunk, level)) if (segment.tile === null || !segment.exact) this.settled = false;
    }
    const busy = this.strip.measure(track.members, (chunk) => this.coverOf(chunk, level), view, widthPx, cutTo);
    const place = this.placeOf(barTop(0), BAR_PX);
    const first = Math.floor(Math.max(0, cutTo.from) / BUCKET_PX);
    const last = Math.ceil(Math.min(widthPx, cutTo.to) / BUCKET_PX);
    const known = (i: number): boolean => i < first || i >= last || (busy !== null && !Number.isNaN(busy.mean[i]!));
    if (pushUnknown(place, Math.ceil(widthPx / BUCKET_PX), BUCKET_PX, known)) {
      this.unloaded = true;
      this.settled = false;
    }
    if (busy === null) return;
    this.busy.set(track.id, busy);
    if (busy.most > 0) {
      this.anyEvent = true;
      ++this.bars;
    }
    pushBusy(place, busy);
  }

  private drawCurve(track: Track): void {
    const { view, window, widthPx, pieces } = this.input;
    const columns = counterColumns(pieces, track.counter!, view, window, widthPx);
    const place = this.placeOf(COUNTER_PAD_PX, track.height - 2 * COUNTER_PAD_PX);
    const from = Math.max(0, Math.floor(this.cssX(window.startPs)));
    const to = Math.min(columns.mean.length, Math.ceil(this.cssX(window.endPs)));
    if (pushUnknown(place, columns.mean.length, 1, (x) => x < from || x >= to || columns.loaded[x] === 1)) this.unloaded = true;
    if (!columns.exact || this.unloaded) this.settled = false;
    if (!Number.isNaN(columns.mean[from] ?? NaN) || columns.mean.some((value) => !Number.isNaN(value))) {
      this.anyEvent = true;
      ++this.bars;
    }
    pushCurve(place, columns, track.counter!);
  }

  private placeOf(top: number, height: number): Place {
    const { pixelRatio: ratio, widthPx } = this.input;
    return { buffer: this.buffer, y: this.y + top, height, ratio, widthPx };
  }

  private cssX(ps: number): number {
    return this.walkerX(ps) / this.input.pixelRatio;
  }

  private drawGround(track: Track, segment: Segment, loaded: boolean): void {
    const ratio = this.input.pixelRatio;
    const x0 = Math.max(0, this.walkerX(segment.startPs));
    const x1 = Math.min(this.input.widthPx * ratio, this.walkerX(segment.endPs));
    if (x1 <= x0) return;
    if (!loaded) {
      const top = Math.round(this.y * ratio);
      this.buffer.push(x0, x1, top, Math.round((track.height - 1) * ratio), COLOUR_SUNKEN, 255, STYLE_DIAGONAL);
      this.unloaded = true;
      this.settled = false;
      return;
    }
    if (!segment.exact) this.settled = false;
    const middle = Math.round((this.y + barTop(0) + BAR_PX / 2) * ratio);
    this.buffer.push(x0, x1, middle, Math.max(1, Math.round(ratio)), COLOUR_CONTROL, 130, STYLE_DOTTED);
  }

  private walkerX(ps: number): number {
    const { view, widthPx, pixelRatio } = this.input;
    return (ps - view.startPs - view.fractionPs) * ((widthPx * pixelRatio) / view.durationPs);
  }

  private fill(x0: number, x1: number, y: number, height: number, colour: number, strength = 255): void {
    const ratio = this.input.pixelRatio;
    this.buffer.push(x0 * ratio, x1 * ratio, Math.round(y * ratio), Math.max(1, Math.round(height * ratio)), colour, strength, 0);
  }

  private coverOf(chunk: string, level = levelFor(this.input.view, this.input.widthPx)): readonly Segment[] {
    const key = `${chunk}/${level}`;
    const known = this.covers.get(key);
    if (known !== undefined) return known;
    const { cache, view, window } = this.input;
    const range = visibleRange(level, view, window);
    const segments = range === null ? [] : coverChunk(cache, chunk, level, range, Math.max(level, rootLevelFor(window)), window);
    this.covers.set(key, segments);
    return segments;
  }

  private walkRow(segments: readonly Segment[], slots: readonly number[], row: number): void {
    const { view, widthPx, pixelRatio } = this.input;
    this.row = row;
    this.stripRow = NO_STRIP;
    this.walker.begin(view, widthPx * pixelRatio, this.drawn === null ? this.drawBar : this.noteBar, this.drawn !== null);
    this.walker.walk(segments, slots, row);
  }

  private readonly drawBar = (walker: RowWalker): void => {
    const { pixelRatio: ratio, widthPx, edges, mark } = this.input;
    const right = widthPx * ratio;
    if (walker.x1 <= 0 || walker.x0 >= right) return;
    const track = this.track;
    let strength = LEAST_STRENGTH + (255 - LEAST_STRENGTH) * walker.share;
    if (track.line!.derived) strength *= DERIVED_STRENGTH;
    const dim = mark !== null && !mark.isHit(walker.bestTile!, walker.bestRect, track.line!.id);
    if (dim) strength *= DIM_STRENGTH;
    let x0 = walker.x0;
    let x1 = walker.x1;
    if (!walker.column) {
      x0 = Math.round(x0);
      x1 = Math.max(x0 + 1, Math.round(x1));
      if (x1 - x0 >= 3 * ratio && !walker.merged) x1 -= Math.round(ratio);
    }
    ++this.bars;
    this.anyEvent = true;
    const best = walker.bestTile!;
    const { colourBy, planeOrdinals } = this.input;
    const colour = this.colours.of(colourBy, best, best.nameIndex(walker.bestRect), walker.category, planeOrdinals.get(track.plane!.id) ?? 0);
    if (x1 - x0 < MIN_RECT_PX && this.drawThin(x0, x1, edges && !dim ? colour + EDGE_OFFSET : colour, Math.round(strength))) return;
    const y = this.y + barTop(this.row);
    // Many events in one bar look like no single event: no edge, no foot, and a count for a name.
    let style = edges && !dim && !walker.merged ? STYLE_EDGE : 0;
    if (walker.category === COLLECTIVE && !dim && !walker.merged) style |= STYLE_FOOT;
    this.buffer.push(x0, x1, Math.round(y * ratio), Math.round(BAR_PX * ratio), colour, Math.round(strength), style);
    const left = Math.max(0, walker.x0) / ratio;
    const width = Math.min(right, walker.x1) / ratio - left;
    if (width >= MIN_LABEL_PX && this.labels.length < MAX_LABELS) {
      this.labels.push({ text: walker.merged ? this.countOf(walker) : walker.name, x: left, y, width, dim });
    }
  };

  private countOf(walker: RowWalker): string {
    return plural(walker.bestTile!.eventCount(walker.bestRect), 'event');
  }

  /** A thin bar as texels of this row's strip; false when there is no room for another strip. */
  private drawThin(x0: number, x1: number, colour: number, strength: number): boolean {
    if (this.stripRow === NO_STRIP) {
      this.stripRow = this.strips.addRow();
      if (this.stripRow === NO_STRIP) return false;
      const ratio = this.input.pixelRatio;
      const y = Math.round((this.y + barTop(this.row)) * ratio);
      this.buffer.pushStrip(this.stripRow, this.strips.width, y, Math.round(BAR_PX * ratio));
    }
    for (let x = x0; x < x1; ++x) this.strips.set(this.stripRow, x, colour, strength);
    return true;
  }

  private readonly noteBar = (walker: RowWalker): void => {
    const { pixelRatio: ratio, widthPx } = this.input;
    if (walker.x1 <= 0 || walker.x0 >= widthPx * ratio) return;
    const { longest } = walker;
    this.drawn!.push({
      trackId: this.track.id, lineId: this.track.line!.id, row: this.row, event: longest[0]!, longest, name: walker.name,
      category: walker.category, count: walker.events, share: walker.share, startPs: walker.startPs, endPs: walker.endPs,
      longestPs: walker.events === 1 ? walker.endPs - walker.startPs : null,
      beginsBefore: walker.beginsBefore, endsAfter: walker.endsAfter, x0: walker.x0 / ratio, x1: walker.x1 / ratio,
      y: this.y + barTop(this.row), height: BAR_PX,
    });
  };
}

/** A folded host is a strip always, a folded device while its bars would be dust. */
export function showsStrip(track: Track, view: View, widthPx: number): boolean {
  return track.members.length > 0 && (track.kind === 'host' || isDense(track.members, view, widthPx));
}

/** Many hosts are many tiles: their strips do with cells as wide as a bucket. */
export function stripLevel(track: Track, view: View, widthPx: number, window: TimeSpan): number {
  return track.kind === 'host' ? coarseLevelFor(view, widthPx, window, BUCKET_PX) : levelFor(view, widthPx);
}
