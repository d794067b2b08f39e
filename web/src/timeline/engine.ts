// The canvas side of the page: keeps view, scroll, layout and tiles, draws a frame when something changed, and nothing else.
// React never renders per frame; panels read the store, which changes only when what they show does.
//
//   const engine = new Engine(elements, source, store, options);
//   engine.setLines(answer, version); engine.glide(view); engine.dispose();

import { registerRedraw } from '../export/registry';
import { formatTime } from '../format/format';
import type { ResolvedTheme } from '../theme/tokens';
import type { CategoryTime } from './categoryTimes';
import { wantedPieces } from './counterChart';
import { CounterLoader, type SeriesSource } from './counterLoader';
import type { Elements } from './elements';
import { FramePace, messageAfterFrame } from './framePace';
import { FrameTimes } from './frameTimes';
import { LabelColumn, type TrackAction } from './labelColumn';
import { arrowsOf } from './flowArrows';
import { HEADER_PX, Layout, NO_CHOICE, barTop, makeLayout, moved, rowAt, type Choice, type Track } from './layout';
import { flowPlace } from './look';
import { LegendTimes } from './legendTimes';
import { Minimap, minimapTracks, showsOnMinimap } from './minimap';
import { splitEventId, type CounterInfo, type LinesAnswer } from './model';
import { ViewMotion, type HeldMove } from './motion';
import { Overlay, cornerLabels, type Box } from './overlay';
import { makePalette, type Palette } from './palette';
import { makeRenderer, type Renderer } from './renderer';
import { Scene, type DrawnEvent, type Frame, type SceneInput } from './scene';
import { SearchMark } from './searchMark';
import { SelectionBox } from './selectionBox';
import type { TimelineStore } from './state';
import { Store } from './store';
import { TileCache } from './tileCache';
import { TileLoader, type TileSource } from './tileLoader';
import { makeRuler } from './ticks';
import { recordedSpan, wholeSpan } from './trace';
import { wantedTiles } from './want';
import { fitSpan, fullView, sameView, timeToX, xToTime, type TimeSpan, type View } from './view';

/** Pieces of the view that are on their way, and all that came so far. */
export interface Progress {
  readonly pending: number;
  readonly arrived: number;
}

export interface EngineOptions {
  readonly force2d: boolean;
  readonly reducedMotion: boolean;
  readonly theme: ResolvedTheme;
  readonly onRest: () => void; // view, scroll or folding changed and came to rest: write the URL
  readonly onVersionChanged: () => void;
  readonly onMoved: () => void; // something else is under the pointer now
  readonly series: SeriesSource; // of the counters
}

/** While the view moves, tiles are asked for at most this often: levels that only flash by are not fetched. */
const WANT_PAUSE_MS = 90;
/** A pointer this near to a thin bar still means it. */
const PICK_SLACK_PX = 3;
/** Canvas pixels per CSS pixel are not raised beyond this; text stays sharp and fill rate sane. */
const MAX_PIXEL_RATIO = 2;

export class Engine {
  readonly cache = new TileCache();
  readonly motion: ViewMotion;
  layout = new Layout([], 0);
  scrollPx = 0;
  lines: LinesAnswer | null = null;
  lastFrame: Frame | null = null;
  pointer: { x: number; y: number } | null = null;
  cursorPs: number | null = null; // where "go to" went
  hovered: DrawnEvent | null = null;
  /** Told when the view that is drawn is another: a second timeline goes along. */
  onView: ((view: View) => void) | null = null;
  /** The view of the address, for when a second session widens the reach. */
  unclamped: View | null = null;
  /** Beside the store, whose changes make a frame each. */
  readonly progress = new Store<Progress>({ pending: 0, arrived: 0 });
  /** Of what is on screen, by category, the longest first; beside the store too. */
  readonly times = new Store<{ readonly times: readonly CategoryTime[] }>({ times: [] });
  readonly frameTimes = new FrameTimes();
  private readonly pace = new FramePace(messageAfterFrame(), () => performance.now());
  readonly charts: CounterLoader;

  private readonly loader: TileLoader;
  private readonly scene = new Scene();
  private readonly asking = new Scene(); // describe() must not disturb the frame's buffer
  private readonly overlay: Overlay;
  private readonly minimap: Minimap;
  private readonly labels: LabelColumn;
  private renderer: Renderer;
  private palette: Palette;
  private theme: ResolvedTheme;
  private toggled: ReadonlySet<string> = new Set();
  private planeOrdinals: ReadonlyMap<string, number> = new Map();
  private choice: Choice = NO_CHOICE;
  private strips: Track[] = [];
  private counters: readonly CounterInfo[] = [];
  private trace: TimeSpan = { startPs: 0, endPs: 1 };
  private recorded: TimeSpan = { startPs: 0, endPs: 1 };
  private wider: TimeSpan | null = null;
  private asked: { readonly view: View; readonly shown: View } | null = null; // what the address asked for, and what could be shown of it
  private toldView: View | null = null;
  private mark: SearchMark | null = null;
  private width = 1;
  private height = 1;
  private ratio = 1;
  private frameId = 0;
  private wantedAtMs = 0;
  private wantTimer = 0;
  private redrawTimer = 0;
  private resting = true;
  private readonly selection = new SelectionBox(this);
  private readonly legend = new LegendTimes(() => this.sceneInput(), (times) => this.times.set({ times }));
  private readonly observer: ResizeObserver;
  private readonly unsubscribe: () => void;
  private disposed = false;

  constructor(
    private readonly elements: Elements, source: TileSource, private readonly store: TimelineStore,
    private readonly options: EngineOptions,
  ) {
    this.theme = options.theme;
    this.palette = makePalette(options.theme);
    this.motion = new ViewMotion({ startPs: 0, endPs: 1 }, () => this.width, () => this.pointer?.x ?? this.width / 2, options.reducedMotion);
    this.renderer = this.newRenderer(options.force2d);
    this.overlay = new Overlay(elements.overlay, elements.ruler);
    this.minimap = new Minimap(elements.minimap);
    this.labels = new LabelColumn(elements.labels, (track, action) => this.act(track, action));
    this.loader = new TileLoader(source, (address) => this.cache.has(address), {
      onTile: (address, tile) => {
        this.cache.put(address, tile);
        this.progress.set({ arrived: this.progress.get().arrived + 1 });
        if (showsOnMinimap(address, this.strips, this.trace)) this.minimap.invalidate();
        this.redrawSoon();
      },
      onVersionChanged: () => options.onVersionChanged(),
      onProgress: () => this.noteProgress(),
    });
    this.charts = new CounterLoader(options.series, () => this.invalidate());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(elements.body);
    this.unsubscribe = store.subscribe(() => this.invalidate());
    void document.fonts?.ready.then(() => {
      this.overlay.fontsChanged();
      this.invalidate();
    });
    this.resize();
  }

  dispose(): void {
    this.disposed = true;
    cancelAnimationFrame(this.frameId);
    window.clearTimeout(this.wantTimer);
    window.clearTimeout(this.redrawTimer);
    this.legend.dispose();
    this.observer.disconnect();
    this.unsubscribe();
    this.loader.reset();
    this.charts.reset();
    this.labels.dispose();
    this.renderer.dispose();
  }

  // ---- what is shown -------------------------------------------------------------------------------------------

  get widthPx(): number {
    return this.width;
  }
  get heightPx(): number {
    return this.height;
  }
  get view(): View {
    return this.motion.view;
  }
  /** From the first to the last moment of the session: its recorded window and every event. */
  get window(): TimeSpan {
    return this.trace;
  }
  /** How far the view may go: beside another session further than this one's own ends. */
  get reach(): TimeSpan {
    return this.motion.window;
  }
  get toggledIds(): ReadonlySet<string> {
    return this.toggled;
  }
  get rendererKind(): string {
    return this.renderer.kind;
  }

  /** Takes the list of lines; the track at the top of the screen stays where it is. */
  setLines(answer: LinesAnswer): void {
    const changed = this.lines !== null && this.lines.version !== answer.version;
    if (changed) {
      this.cache.clear();
      this.loader.reset();
      this.charts.reset();
    }
    const first = this.lines === null;
    this.lines = answer;
    this.legend.setLines(answer);
    this.planeOrdinals = new Map(answer.hosts.flatMap((host) => host.planes).map((plane, i) => [plane.id, i]));
    this.setTrace(wholeSpan(answer), first);
    this.recorded = recordedSpan(answer);
    this.elements.total.textContent = formatTime(this.trace.endPs - this.trace.startPs);
    const { startPs, endPs } = this.recorded;
    const beyond = startPs > this.trace.startPs || endPs < this.trace.endPs;
    this.elements.total.title = beyond ? `Recorded from ${formatTime(startPs)} to ${formatTime(endPs)}; events go from ${formatTime(this.trace.startPs)} to ${formatTime(this.trace.endPs)}.` : '';
    this.relayout();
  }

  /** Lines that are decoded later may reach further: who sees everything goes on seeing it, and a view that was cut is shown whole. */
  private setTrace(trace: TimeSpan, first: boolean): void {
    const old = this.trace;
    if (trace.startPs === old.startPs && trace.endPs === old.endPs) return;
    const seen = this.motion.target;
    this.trace = trace;
    this.motion.setWindow(this.wider ?? trace);
    if (first || sameView(seen, fullView(old))) this.motion.jump(fullView(trace));
    else if (this.asked !== null && sameView(seen, this.asked.shown)) this.jumpAsFarAsKnown(this.asked.view);
  }

  /** Goes to a view of the address, of which some may lie where no line is known to reach yet. */
  jumpAsFarAsKnown(view: View): void {
    this.jump(view);
    this.asked = { view, shown: this.motion.target };
  }

  /** Null: no further than the session's own ends. */
  setReach(wider: TimeSpan | null): void {
    this.wider = wider;
    this.motion.setWindow(wider ?? this.trace);
    this.invalidate();
  }

  setCounters(counters: readonly CounterInfo[]): void {
    this.counters = counters;
    this.relayout();
  }

  setToggled(toggled: ReadonlySet<string>): void {
    this.toggled = toggled;
    this.relayout();
  }

  toggle(id: string): void {
    const next = new Set(this.toggled);
    if (!next.delete(id)) next.add(id);
    this.setToggled(next);
    this.rest();
  }

  get tracksChosen(): Choice {
    return this.choice;
  }

  setChoice(choice: Choice): void {
    this.choice = choice;
    this.relayout();
    this.store.set({ filter: choice.filter, hideEmpty: choice.hideEmpty, pinnedCount: choice.pinned.length });
  }

  private act(track: Track, action: TrackAction): void {
    if (action === 'toggle') {
      this.toggle(track.id);
      return;
    }
    if (action === 'pin') {
      this.togglePin(track.id);
      return;
    }
    this.setChoice({ ...this.choice, pinned: moved(this.choice.pinned, track.id, action === 'up' ? -1 : 1) });
    this.rest();
  }

  togglePin(lineId: string): void {
    const { pinned } = this.choice;
    const next = pinned.includes(lineId) ? pinned.filter((id) => id !== lineId) : [...pinned, lineId];
    this.setChoice({ ...this.choice, pinned: next });
    this.rest();
  }

  /** The view, the scroll or the tracks are to be written into the address. */
  noteChanged(): void {
    this.rest();
  }

  showTrack(lineId: string): void {
    this.reveal(lineId);
    this.scrollToTrack(lineId);
  }

  /** Opens every group in which a line lies. */
  reveal(lineId: string): void {
    const [host, plane] = lineId.split('.');
    const next = new Set(this.toggled);
    for (const id of [`h${host}`, `${host}.${plane}`]) {
      const track = makeLayout(this.lines?.hosts ?? [], next).find(id);
      if (track === null || track.open) continue;
      if (!next.delete(id)) next.add(id);
    }
    if (this.layout.find(lineId) === null) this.setToggled(next);
    // What is asked for by name must not stay hidden behind the filter.
    if (this.layout.find(lineId) === null) this.setChoice({ ...this.choice, filter: '', hideEmpty: false });
  }

  private relayout(): void {
    // Who looks at the top sees what is put there, such as a line that was just pinned.
    const anchor = this.scrollPx === 0 ? null : this.layout.tracks[this.layout.indexAt(this.scrollPx)] ?? null;
    this.layout = makeLayout(this.lines?.hosts ?? [], this.toggled, this.choice, this.counters);
    if (anchor !== null) {
      const moved = this.layout.find(anchor.id);
      if (moved !== null) this.scrollPx += moved.y - anchor.y;
    }
    this.strips = minimapTracks(this.layout);
    this.minimap.invalidate();
    this.scrollTo(this.scrollPx);
    this.store.set({ empty: this.lines !== null && this.lines.complete && this.strips.length === 0 && this.hasNoEvents() });
    this.wantSoon();
  }

  private hasNoEvents(): boolean {
    return this.lines!.hosts.every((host) => host.planes.every((plane) => plane.event_count === 0));
  }

  setTheme(theme: ResolvedTheme): void {
    this.theme = theme;
    this.palette = makePalette(theme);
    this.minimap.invalidate();
    this.invalidate();
  }

  setMark(mark: SearchMark | null): void {
    this.mark = mark !== null && mark.meansSomething ? mark : null;
    this.invalidate();
  }

  retryTiles(): void {
    this.loader.retryFailed();
    this.charts.retry();
  }

  // ---- moving --------------------------------------------------------------------------------------------------

  jump(view: View): void {
    this.motion.jump(view);
    this.moved();
  }

  glide(view: View): void {
    this.motion.glide(view, performance.now());
    this.moved();
  }

  press(move: HeldMove, fast: boolean): void {
    this.motion.press(move, fast, performance.now());
    this.moved();
  }

  release(move: HeldMove | 'all'): void {
    if (move === 'all') this.motion.releaseAll();
    else this.motion.release(move);
    this.moved();
  }

  scrollTo(y: number): void {
    const before = this.scrollPx;
    this.scrollPx = Math.max(0, Math.min(Math.round(y), this.layout.heightPx - this.height));
    if (before !== this.scrollPx) {
      this.wantSoon();
      this.rest();
      this.options.onMoved();
    }
    this.invalidate();
  }

  /** Scrolls as little as needed to show a row of a track. */
  scrollToTrack(id: string, row = 0): void {
    const track = this.layout.find(id);
    if (track === null) return;
    const top = track.y + barTop(Math.min(row, track.rows - 1));
    const room = 2 * HEADER_PX;
    if (top - room < this.scrollPx) this.scrollTo(top - room);
    else if (top + room > this.scrollPx + this.height) this.scrollTo(top + room - this.height);
  }

  fitTo(span: TimeSpan): void {
    this.glide(fitSpan(span, this.window));
  }

  fitAll(): void {
    this.glide(fullView(this.window));
  }

  private moved(): void {
    this.rest();
    this.options.onMoved();
    this.invalidate();
  }

  private rest(): void {
    this.resting = false;
    this.invalidate();
  }

  // ---- asking what is on screen ----------------------------------------------------------------------------------

  /** Every bar on screen with its place and name: for tests and the text mirror. */
  drawnEvents(): DrawnEvent[] {
    return this.asking.describe(this.sceneInput());
  }

  rowEvents(trackId: string, row: number): DrawnEvent[] {
    return this.asking.describe(this.sceneInput(), { trackId, row });
  }

  pick(x: number, y: number): DrawnEvent | null {
    const index = this.layout.indexAt(y + this.scrollPx);
    const track = this.layout.tracks[index];
    if (track === undefined || track.line === null || y + this.scrollPx > track.y + track.height) return null;
    const row = rowAt(track, y + this.scrollPx - track.y);
    if (row < 0) return null;
    let best: DrawnEvent | null = null;
    let bestDistance = PICK_SLACK_PX + 1e-6;
    for (const event of this.rowEvents(track.id, row)) {
      const distance = x < event.x0 ? event.x0 - x : x > event.x1 ? x - event.x1 : 0;
      if (distance < bestDistance) {
        best = event;
        bestDistance = distance;
      }
    }
    return best;
  }

  timeAt(x: number): number {
    return xToTime(this.view, this.width, x);
  }

  // ---- frames ----------------------------------------------------------------------------------------------------

  /** Of many pieces that come one after the other not each is worth a frame. */
  private redrawSoon(): void {
    const pauseMs = this.pace.pauseMs(this.loader.pending);
    if (pauseMs === 0) this.invalidate();
    else if (this.redrawTimer === 0) {
      this.redrawTimer = window.setTimeout(() => {
        this.redrawTimer = 0;
        this.invalidate();
      }, pauseMs);
    }
  }

  invalidate(): void {
    if (this.frameId !== 0 || this.disposed) return;
    this.frameId = requestAnimationFrame((nowMs) => this.frame(nowMs));
  }

  private frame(nowMs: number): void {
    this.frameId = 0;
    const startMs = performance.now();
    this.pace.began(startMs);
    const moved = this.motion.step(nowMs);
    if (moved) {
      this.rest();
      this.options.onMoved();
    }
    if (moved || !this.resting) this.wantThrottled(nowMs);
    this.draw();
    if (this.motion.moving) {
      this.invalidate();
    } else if (!this.resting) {
      this.resting = true;
      this.wantNow(nowMs);
      this.options.onRest();
    }
    this.frameTimes.note(nowMs, performance.now() - startMs);
  }

  private draw(): void {
    if (this.lines === null) return; // The page shows a skeleton; a ruler of nothing would be a false one.
    this.cache.beginFrame();
    const ruler = makeRuler(this.view, this.width);
    const input = this.sceneInput(ruler.ticks.filter((tick) => tick.label !== '').map((tick) => tick.x));
    const frame = this.scene.build(input);
    this.lastFrame = frame;
    this.legend.drawn(input, this.progress.get().arrived, this.loader.pending > 0);
    this.renderer.draw(frame.buffer, frame.strips, this.palette);
    if (this.toldView === null || !sameView(this.toldView, input.view)) {
      this.toldView = input.view;
      this.onView?.(input.view);
    }
    const { area, detail, selection, marks, steps, modules, flows, viewFlows, flowsOn } = this.store.get();
    const place = flowPlace(this);
    this.overlay.draw({
      view: input.view, widthPx: this.width, heightPx: this.height, pixelRatio: this.ratio, palette: this.palette,
      labels: frame.labels, ruler, selection: this.selection.box(this.store.get()), hover: this.hovered === null ? null : boxOf(this.hovered), area,
      marks, steps, modules, flows: arrowsOf(flows, place), viewFlows: flowsOn ? arrowsOf(viewFlows, place) : [],
      crosshairX: this.cursorPs === null ? null : timeToX(input.view, this.width, this.cursorPs),
    });
    this.minimap.draw({
      window: this.window, recorded: this.recorded, view: input.view, widthPx: this.elements.minimap.clientWidth, pixelRatio: this.ratio,
      palette: this.palette, cache: this.cache, strips: this.strips, density: this.store.get().search?.density ?? null, area,
    });
    const selectedLine = splitEventId(selection ?? detail?.id ?? '')?.line ?? '';
    this.labels.update(this.layout, this.scrollPx, this.height, selectedLine);
    // While the view moves, figures that flicker say nothing.
    if (!this.motion.moving) this.labels.setBusy(frame.busy);
    [this.elements.corner.textContent, this.elements.cornerNote.textContent] = cornerLabels(input.view, ruler, this.width);
    this.updateScrollbar();
    this.updateHooks(frame);
  }

  private updateHooks(frame: Frame): void {
    const pending = this.loader.pending > 0 || this.charts.pending > 0 || this.motion.moving || !frame.settled;
    const data = this.elements.root.dataset;
    data['ready'] = String(this.lines !== null && !pending);
    data['viewStartPs'] = String(this.view.startPs);
    data['viewDurationPs'] = String(this.view.durationPs);
    data['rectCount'] = String(frame.bars);
    data['renderer'] = this.renderer.kind;
    data['scrollPx'] = String(this.scrollPx);
    this.store.set({
      noEvents: this.lines !== null && frame.settled && !this.motion.moving && !frame.anyEvent && !this.store.get().empty &&
        this.loader.failed === 0,
    });
  }

  private sceneInput(gridX: readonly number[] = []): SceneInput {
    return {
      view: this.motion.view, window: this.trace, layout: this.layout, cache: this.cache, widthPx: this.width,
      heightPx: this.height, scrollPx: this.scrollPx, pixelRatio: this.ratio, edges: this.theme !== 'dark', mark: this.mark, gridX,
      colourBy: this.store.get().colourBy, planeOrdinals: this.planeOrdinals, pieces: this.charts.cache,
    };
  }

  // ---- tiles -----------------------------------------------------------------------------------------------------

  private wantSoon(): void {
    if (this.wantTimer !== 0) return;
    this.wantTimer = window.setTimeout(() => this.wantNow(performance.now()), 0);
  }

  private wantThrottled(nowMs: number): void {
    if (nowMs - this.wantedAtMs >= WANT_PAUSE_MS) this.wantNow(nowMs);
  }

  private wantNow(nowMs: number): void {
    window.clearTimeout(this.wantTimer);
    this.wantTimer = 0;
    this.wantedAtMs = nowMs;
    if (this.lines === null || this.disposed) return;
    // Where the view glides to, not what it passes: that is asked for once, at the start.
    const view = this.motion.target;
    this.loader.want(wantedTiles({
      view, window: this.window, layout: this.layout, widthPx: this.width, heightPx: this.height,
      scrollPx: this.scrollPx, strips: this.strips,
    }));
    this.charts.want(this.chartsInSight(), wantedPieces(view, this.trace, this.width));
  }

  private chartsInSight(): CounterInfo[] {
    const seen: CounterInfo[] = [];
    for (let i = Math.max(0, this.layout.indexAt(this.scrollPx)); i < this.layout.tracks.length; ++i) {
      const track = this.layout.tracks[i]!;
      if (track.y >= this.scrollPx + this.height) break;
      if (track.counter !== null) seen.push(track.counter);
    }
    return seen;
  }

  private noteProgress(): void {
    const failed = this.loader.failed;
    this.store.set({ failedTiles: failed, tileError: failed > 0 ? this.loader.lastError : '' });
    this.progress.set({ pending: this.loader.pending });
    this.redrawSoon();
  }

  // ---- size and renderer -------------------------------------------------------------------------------------------

  private newRenderer(force2d: boolean): Renderer {
    const canvas = document.createElement('canvas');
    canvas.className = 'tl-bars';
    canvas.setAttribute('aria-hidden', 'true');
    this.elements.bars.replaceChildren(canvas);
    // Pictures of a GPU's canvas can be taken only right after it was drawn.
    registerRedraw(canvas, () => this.draw());
    const renderer = makeRenderer(canvas, force2d, () => {
      if (this.disposed) return;
      this.renderer = this.newRenderer(true);
      this.resize();
    });
    this.store.set({ renderer: renderer.kind });
    return renderer;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.elements.body;
    const shrinks = clientHeight < this.height;
    this.width = Math.max(1, clientWidth);
    this.height = Math.max(1, clientHeight);
    this.ratio = Math.min(MAX_PIXEL_RATIO, window.devicePixelRatio || 1);
    this.renderer.resize(Math.round(this.width * this.ratio), Math.round(this.height * this.ratio));
    this.scrollTo(this.scrollPx);
    if (shrinks) this.keepSelectionInSight();
    this.wantSoon();
    // At once: a resized canvas is empty until it is drawn.
    this.draw();
  }

  /** The details panel has just opened over the lower part: what was clicked there must not vanish behind it. */
  private keepSelectionInSight(): void {
    const id = splitEventId(this.store.get().selection ?? '');
    if (id !== null) this.scrollToTrack(id.line, this.selection.row(this.store.get()));
  }

  private updateScrollbar(): void {
    const { scrollThumb } = this.elements;
    const total = this.layout.heightPx;
    scrollThumb.hidden = total <= this.height;
    if (scrollThumb.hidden) return;
    const size = Math.max(24, (this.height / total) * this.height);
    const top = (this.scrollPx / (total - this.height)) * (this.height - size);
    scrollThumb.style.height = `${size}px`;
    scrollThumb.style.transform = `translateY(${top}px)`;
  }
}

function boxOf(event: DrawnEvent): Box {
  return { x0: event.x0, x1: event.x1, y: event.y, height: event.height };
}
