// One open timeline: engine, navigator, input and tooltip tied to one session and one set of elements, and the talk with
// the server that fills them. Lives outside React; the page makes it once the elements exist and disposes it at the end.

import { api, isAbort, onConnection, toApiError } from '../api/client';
import { readKey } from '../state/url';
import type { ResolvedTheme } from '../theme/tokens';
import type { Elements } from './elements';
import { Engine } from './engine';
import { PointerInput } from './input';
import { colourByFrom, type ColourBy } from './colour';
import { BUCKETS } from './counterChart';
import { pinnedFromText, toggledFromText, toggledToText, type Choice } from './layout';
import { marksFromText, marksToText, withMark, type Mark } from './marks';
import { Navigator } from './navigator';
import { RulerMarkLoader } from './rulerMarks';
import { installHook } from './testHook';
import { planeOf, splitEventId } from './model';
import type { TimelineStore } from './state';
import { tilesOf } from './tileSource';
import { formatExactTime, formatTimeAt, parseTime } from './time';
import { Tooltip } from './tooltip';
import { viewEndPs, viewFromText, viewToText, type TimeSpan } from './view';

/** While lines are still being decoded the list is asked for again; each time a little later, up to the last. */
const POLL_MS = [300, 500, 800, 1200, 2000] as const;
/** A lost server is asked again this often. */
const RETRY_MS = 3000;
/** Arrows drawn at once; more would be a black surface. */
const MAX_VIEW_FLOWS = 400;
/** Keys of the address that the page follows on Back. */
const FOLLOWED = ['v', 'sel', 'q', 'open', 'area', 'pin', 'tf', 'he', 'marks', 'colour', 'flows', 'two'] as const;

export interface UrlWriter {
  replaceSoon(changes: Readonly<Record<string, string | null>>): void;
  push(changes: Readonly<Record<string, string | null>>): void;
}

export class TimelineSession {
  readonly engine: Engine;
  readonly navigator: Navigator;
  private readonly input: PointerInput | undefined;
  private readonly tooltip: Tooltip;
  private readonly stop = new AbortController();
  private readonly removeHook: () => void;
  private readonly forgetConnection: () => void;
  private readonly unsubscribe: () => void;
  private flowsOf: string | null = null; // the selection whose flows are asked for
  private flowCalls = new AbortController();
  private viewFlowCalls = new AbortController();
  private readonly ruler: RulerMarkLoader;
  private countersOf = ''; // the version whose counters are known
  private version = '';
  private timer = 0;
  private polls = 0;
  private started = false;
  private readonly seen = new Map<string, string>(); // what the address said when we last looked
  private readonly written = new Map<string, string>(); // what we wrote into it last

  constructor(
    private readonly sessionId: string, elements: Elements, private readonly store: TimelineStore,
    theme: ResolvedTheme, private readonly url: UrlWriter,
  ) {
    this.engine = new Engine(elements, tilesOf(sessionId, () => this.version), store, {
      force2d: readKey('renderer') === '2d',
      reducedMotion: matchMedia('(prefers-reduced-motion: reduce)').matches,
      theme,
      onRest: () => {
        this.writeUrl();
        this.loadViewFlows();
        if (this.started) void this.ruler.look(this.engine.view, this.engine.window);
        this.input?.hoverAgain();
      },
      onVersionChanged: () => void this.loadLines(),
      onMoved: () => this.input?.clearHover(),
      series: (counter, fromPs, toPs, signal) => api.counterSeries(sessionId, counter, { from_ps: fromPs, to_ps: toPs, buckets: BUCKETS }, { signal }),
    });
    this.ruler = new RulerMarkLoader(sessionId, (marks) => store.set(marks));
    this.navigator = new Navigator(sessionId, this.engine, store, (id) => url.push(this.noteWritten({ sel: id })));
    this.tooltip = new Tooltip(elements.body, (event) => this.navigator.longestOf(event, this.stop.signal));
    this.input = new PointerInput(elements, this.engine, this.navigator, store, this.tooltip, (area) => this.setArea(area));
    this.forgetConnection = onConnection((lost) => {
      if (lost) return;
      this.engine.retryTiles();
      if (this.started) void this.loadLines();
    });
    this.removeHook = installHook(this.engine, store);
    this.engine.setToggled(toggledFromText(readKey('open') ?? ''));
    this.engine.setChoice(choiceFromUrl());
    this.store.set({
      area: areaFromText(readKey('area')), panel: readKey('sel') === null ? 'area' : 'event', marks: marksFromText(readKey('marks') ?? ''),
      colourBy: colourByFrom(readKey('colour') ?? ''), flowsOn: readKey('flows') === '1', twoOn: readKey('two') === '1',
    });
    this.unsubscribe = store.subscribe(() => this.followSelection());
    void this.loadLines();
  }

  dispose(): void {
    this.stop.abort();
    window.clearTimeout(this.timer);
    this.removeHook();
    this.ruler.dispose();
    this.forgetConnection();
    this.unsubscribe();
    this.flowCalls.abort();
    this.viewFlowCalls.abort();
    this.input?.dispose();
    this.navigator.dispose();
    this.tooltip.dispose();
    this.engine.dispose();
  }

  retry(): void {
    this.store.set({ phase: 'loading', error: null });
    void this.loadLines();
  }

  setArea(area: TimeSpan | null): void {
    this.store.set({ area, panel: area === null ? 'event' : 'area' });
    this.url.push(this.noteWritten({ area: area === null ? null : `${formatExactTime(area.startPs)},${formatExactTime(area.endPs - area.startPs)}` }));
  }

  // ---- tracks, colours, marks, gaps ----------------------------------------------------------------------------------

  chooseTracks(changes: Partial<Choice>): void {
    this.engine.setChoice({ ...this.engine.tracksChosen, ...changes });
    this.engine.noteChanged();
  }

  setColourBy(colourBy: ColourBy): void {
    this.store.set({ colourBy });
    this.url.push(this.noteWritten({ colour: colourBy === 'category' ? null : colourBy }));
  }

  /** Marks where the pointer is; without one the start of the selection, else the middle of the view. */
  addMark(): void {
    const { engine, store } = this;
    const { pointer, view } = engine;
    const atPs = pointer !== null ? engine.timeAt(pointer.x) : store.get().detail?.start_ps ?? view.startPs + Math.floor(view.durationPs / 2);
    if (store.get().marks.some((mark) => mark.atPs === atPs)) return;
    this.setMarks(withMark(store.get().marks, { atPs, note: '' }));
    store.set({ notice: `Marked ${formatTimeAt(atPs, 1e3)}. Notes are under Marks.` });
  }

  setNote(atPs: number, note: string): void {
    this.setMarks(withMark(this.store.get().marks, { atPs, note }));
  }

  removeMark(atPs: number): void {
    this.setMarks(this.store.get().marks.filter((mark) => mark.atPs !== atPs));
  }

  private setMarks(marks: readonly Mark[]): void {
    this.store.set({ marks });
    this.url.push(this.noteWritten({ marks: marks.length === 0 ? null : marksToText(marks) }));
  }

  openGaps(plane: string | null): void {
    const selected = splitEventId(this.store.get().selection ?? '');
    this.store.set({ panel: 'gaps', gapsPlane: plane ?? (selected === null ? this.store.get().gapsPlane : planeOf(selected.line)) });
  }

  showGap(gap: TimeSpan): void {
    this.engine.cursorPs = null;
    this.engine.fitTo(gap);
  }

  find(name: string): void {
    const query = `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/`;
    this.navigator.search(query);
    this.url.push(this.noteWritten({ q: query }));
  }

  // ---- flows ---------------------------------------------------------------------------------------------------------

  setFlowsOn(flowsOn: boolean): void {
    this.store.set({ flowsOn });
    this.url.push(this.noteWritten({ flows: flowsOn ? '1' : null }));
    this.loadViewFlows();
  }

  private followSelection(): void {
    const { selection } = this.store.get();
    if (selection === this.flowsOf) return;
    this.flowsOf = selection;
    this.flowCalls.abort();
    this.flowCalls = new AbortController();
    const { signal } = this.flowCalls;
    this.store.set({ flows: [], flowsTotal: 0 });
    if (selection === null) return;
    api.flows(this.sessionId, { event: selection, limit: MAX_VIEW_FLOWS }, { signal }).then(
      (answer) => this.store.set({ flows: answer.flows, flowsTotal: answer.total }),
      // An event without arrows is still an event: what went wrong is said by its details.
      () => undefined,
    );
  }

  private loadViewFlows(): void {
    this.viewFlowCalls.abort();
    if (!this.store.get().flowsOn || !this.started) return;
    this.viewFlowCalls = new AbortController();
    const { view } = this.engine;
    api.flows(this.sessionId, { from_ps: view.startPs, to_ps: viewEndPs(view), limit: MAX_VIEW_FLOWS }, { signal: this.viewFlowCalls.signal }).then(
      (answer) => this.store.set({ viewFlows: answer.flows, viewFlowsTotal: answer.total }),
      (error: unknown) => {
        if (!isAbort(error)) this.store.set({ notice: `The flows could not be loaded: ${toApiError(error).message}` });
      },
    );
  }

  /** Counters appear beside their lines once everything is read; without any the tracks stay as they are. */
  private async loadCounters(version: string): Promise<void> {
    if (this.countersOf === version) return;
    this.countersOf = version;
    try {
      const { counters } = await api.counters(this.sessionId, { signal: this.stop.signal });
      if (this.version !== version) return;
      this.engine.setCounters(counters);
    } catch (error) {
      this.countersOf = '';
      if (isAbort(error)) return;
      const apiError = toApiError(error);
      if (!apiError.lostConnection) this.store.set({ notice: `The counters could not be loaded: ${apiError.message}` });
    }
  }

  setTwoOn(twoOn: boolean): void {
    this.store.set({ twoOn });
    this.url.push(this.noteWritten({ two: twoOn ? '1' : null }));
  }

  /** Escape: the topmost thing only. False when there was nothing to close. */
  closeTop(): boolean {
    const { goToOpen, area, selection, panel } = this.store.get();
    this.navigator.forgetStep();
    if (goToOpen) this.store.set({ goToOpen: false });
    else if (panel === 'gaps') this.store.set({ panel: 'event' });
    else if (this.engine.cursorPs !== null) {
      this.engine.cursorPs = null;
      this.engine.invalidate();
    } else if (area !== null) this.setArea(null);
    else if (selection !== null) this.navigator.select(null);
    else return false;
    return true;
  }

  // ---- server ------------------------------------------------------------------------------------------------------

  private async loadLines(): Promise<void> {
    window.clearTimeout(this.timer);
    try {
      const answer = await api.lines(this.sessionId, { signal: this.stop.signal });
      if (this.stop.signal.aborted) return;
      if (this.version !== answer.version) this.ruler.forget();
      this.version = answer.version;
      this.engine.setLines(answer);
      if (!this.started) this.restore();
      this.store.set({ phase: 'ready', error: null, complete: answer.complete });
      if (answer.complete) void this.loadCounters(answer.version);
      if (!answer.complete) this.again(POLL_MS[Math.min(this.polls++, POLL_MS.length - 1)]!);
    } catch (error) {
      if (isAbort(error)) return;
      const apiError = toApiError(error);
      this.store.set({ error: apiError.body, phase: this.started ? 'ready' : 'failed' });
      if (apiError.lostConnection) this.again(RETRY_MS);
    }
  }

  private again(delayMs: number): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.loadLines(), delayMs);
  }

  // ---- URL ---------------------------------------------------------------------------------------------------------

  /** The view that the address describes; once, when the lines are known. */
  private restore(): void {
    this.started = true;
    for (const key of FOLLOWED) this.seen.set(key, readKey(key) ?? '');
    const { engine, navigator } = this;
    const view = viewFromText(readKey('v') ?? '');
    if (view !== null) engine.jumpAsFarAsKnown(view);
    // Beside another session the view may lie beyond this one's ends; until that one is there it is cut.
    if (this.store.get().twoOn) engine.unclamped = view;
    const selection = readKey('sel');
    if (selection !== null) navigator.select(selection, { push: false, reveal: view === null });
    const top = /^([^,]+),(-?\d+)$/.exec(readKey('top') ?? '');
    const track = top === null ? null : engine.layout.find(top[1]!);
    if (track !== null) engine.scrollTo(track.y + Number(top![2]));
    const query = readKey('q');
    if (query !== null) navigator.search(query);
    this.loadViewFlows();
    void this.ruler.look(engine.view, engine.window);
  }

  /** Back and Forward: take what somebody else changed. What we wrote ourselves comes back here too and is no news. */
  followUrl(): void {
    if (!this.started) return;
    const { engine, navigator, store } = this;
    this.ifChanged('v', (text) => {
      const view = viewFromText(text);
      if (view !== null) engine.glide(view);
    });
    this.ifChanged('sel', (text) => navigator.select(text === '' ? null : text, { push: false }));
    this.ifChanged('q', (text) => {
      if (text !== store.get().query) navigator.search(text);
    });
    this.ifChanged('open', (text) => engine.setToggled(toggledFromText(text)));
    this.ifChanged('area', (text) => store.set({ area: areaFromText(text) }));
    for (const key of ['pin', 'tf', 'he']) this.ifChanged(key, () => engine.setChoice(choiceFromUrl()));
    this.ifChanged('marks', (text) => store.set({ marks: marksFromText(text) }));
    this.ifChanged('colour', (text) => store.set({ colourBy: colourByFrom(text) }));
    this.ifChanged('two', (text) => store.set({ twoOn: text === '1' }));
    this.ifChanged('flows', (text) => {
      store.set({ flowsOn: text === '1' });
      this.loadViewFlows();
    });
  }

  private ifChanged(key: string, apply: (text: string) => void): void {
    const text = readKey(key) ?? '';
    if (text === this.seen.get(key)) return;
    this.seen.set(key, text);
    if (text === this.written.get(key)) return;
    this.written.set(key, text);
    apply(text);
  }

  private noteWritten(changes: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> {
    for (const [key, value] of Object.entries(changes)) this.written.set(key, value ?? '');
    return changes;
  }

  private writeUrl(): void {
    if (!this.started) return;
    const { engine } = this;
    const top = engine.layout.tracks[engine.layout.indexAt(engine.scrollPx)];
    this.url.replaceSoon(this.noteWritten({
      v: viewToText(engine.view),
      open: toggledToText(engine.toggledIds),
      pin: engine.tracksChosen.pinned.join('~') || null,
      tf: engine.tracksChosen.filter || null,
      he: engine.tracksChosen.hideEmpty ? '1' : null,
      top: top === undefined || engine.scrollPx === 0 ? null : `${top.id},${engine.scrollPx - top.y}`,
    }));
  }
}

function choiceFromUrl(): Choice {
  return { pinned: pinnedFromText(readKey('pin') ?? ''), filter: readKey('tf') ?? '', hideEmpty: readKey('he') === '1' };
}

function areaFromText(text: string | null): TimeSpan | null {
  const [start, duration] = (text ?? '').split(',');
  const startPs = parseTime(start ?? '', 'ps');
  const durationPs = parseTime(duration ?? '', 'ps');
  return startPs === null || durationPs === null || durationPs <= 0 ? null : { startPs, endPs: startPs + durationPs };
}
