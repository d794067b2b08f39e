// The timeline of a second session below the first: its own tracks, tiles and selection, one view. Moving either moves both;
// a time of the lower one is the upper one's plus the shift.
//
//   const second = new SecondSession(id, elements, store, theme, upper, { onReady });
//   second.setShift(ps); second.dispose();

import { api, isAbort, onConnection, toApiError } from '../api/client';
import type { ResolvedTheme } from '../theme/tokens';
import { sideOf, type AlignSide } from './align';
import { BUCKETS } from './counterChart';
import type { Elements } from './elements';
import { Engine } from './engine';
import { PointerInput } from './input';
import type { LinesAnswer } from './model';
import { Navigator } from './navigator';
import { RulerMarkLoader } from './rulerMarks';
import type { TimelineStore } from './state';
import { tilesOf } from './tileSource';
import { Tooltip } from './tooltip';
import { sameView, type View } from './view';

const POLL_MS = 700;
const RETRY_MS = 3000;

export class SecondSession {
  readonly engine: Engine;
  readonly navigator: Navigator;
  private readonly input: PointerInput | undefined;
  private readonly tooltip: Tooltip;
  private readonly ruler: RulerMarkLoader;
  private readonly stop = new AbortController();
  private readonly forgetConnection: () => void;
  private lines: LinesAnswer | null = null;
  private version = '';
  private timer = 0;
  private shiftPs = 0;
  private aligned = false; // before that neither may move the other

  constructor(
    private readonly sessionId: string, elements: Elements, private readonly store: TimelineStore, theme: ResolvedTheme,
    private readonly upper: Engine, private readonly onChanged: () => void,
  ) {
    this.engine = new Engine(elements, tilesOf(sessionId, () => this.version), store, {
      force2d: upper.rendererKind === '2d',
      reducedMotion: true,
      theme,
      onRest: () => {
        if (this.lines !== null) void this.ruler.look(this.engine.view, this.engine.window);
        this.input?.hoverAgain();
      },
      onVersionChanged: () => void this.load(),
      onMoved: () => this.input?.clearHover(),
      series: (counter, fromPs, toPs, signal) => api.counterSeries(sessionId, counter, { from_ps: fromPs, to_ps: toPs, buckets: BUCKETS }, { signal }),
    });
    this.ruler = new RulerMarkLoader(sessionId, (marks) => {
      store.set(marks);
      onChanged();
    });
    this.navigator = new Navigator(sessionId, this.engine, store, () => undefined);
    this.tooltip = new Tooltip(elements.body, (event) => this.navigator.longestOf(event, this.stop.signal));
    this.input = new PointerInput(elements, this.engine, this.navigator, store, this.tooltip, (area) => store.set({ area }));
    this.forgetConnection = onConnection((lost) => {
      if (!lost) void this.load();
    });
    upper.onView = (view) => this.follow(view);
    this.engine.onView = (view) => this.lead(view);
    void this.load();
  }

  dispose(): void {
    this.upper.onView = null;
    this.engine.onView = null;
    this.upper.setReach(null);
    this.stop.abort();
    window.clearTimeout(this.timer);
    this.forgetConnection();
    this.ruler.dispose();
    this.input?.dispose();
    this.navigator.dispose();
    this.tooltip.dispose();
    this.engine.dispose();
  }

  /** What can be aligned by; null until the lines are known. */
  get side(): AlignSide | null {
    return this.lines === null ? null : sideOf(this.lines, this.store.get().steps);
  }

  setShift(shiftPs: number): void {
    if (this.lines === null) return;
    this.shiftPs = shiftPs;
    this.aligned = true;
    const { window: upper } = this.upper;
    const { window: lower } = this.engine;
    // Both may be moved as far as either session goes, so that neither holds the other back.
    const reach = { startPs: Math.min(upper.startPs, lower.startPs - shiftPs), endPs: Math.max(upper.endPs, lower.endPs - shiftPs) };
    const view = this.upper.unclamped ?? this.upper.view;
    this.upper.unclamped = null;
    this.upper.setReach(reach);
    this.engine.setReach({ startPs: reach.startPs + shiftPs, endPs: reach.endPs + shiftPs });
    this.upper.jump(view);
    this.follow(this.upper.view);
  }

  retry(): void {
    this.store.set({ error: null });
    void this.load();
  }

  private follow(view: View): void {
    if (!this.aligned) return;
    const wanted = { ...view, startPs: view.startPs + this.shiftPs };
    if (!sameView(wanted, this.engine.view)) this.engine.jump(wanted);
  }

  private lead(view: View): void {
    if (!this.aligned || this.upper.motion.moving) return;
    const wanted = { ...view, startPs: view.startPs - this.shiftPs };
    if (!sameView(wanted, this.upper.view)) this.upper.jump(wanted);
  }

  private async load(): Promise<void> {
    window.clearTimeout(this.timer);
    try {
      const answer = await api.lines(this.sessionId, { signal: this.stop.signal });
      if (this.stop.signal.aborted) return;
      const first = this.lines === null;
      this.version = answer.version;
      this.engine.setLines(answer);
      this.engine.retryTiles();
      this.lines = answer;
      this.store.set({ phase: 'ready', error: null, complete: answer.complete });
      if (first) void this.ruler.look(this.engine.view, this.engine.window);
      else if (this.aligned) this.setShift(this.shiftPs);
      this.onChanged();
      if (answer.complete) await this.loadCounters();
      else this.timer = window.setTimeout(() => void this.load(), POLL_MS);
    } catch (error) {
      if (isAbort(error)) return;
      const apiError = toApiError(error);
      this.store.set({ error: apiError.body, phase: this.lines === null ? 'failed' : 'ready' });
      if (apiError.lostConnection) this.timer = window.setTimeout(() => void this.load(), RETRY_MS);
    }
  }

  private async loadCounters(): Promise<void> {
    const { counters } = await api.counters(this.sessionId, { signal: this.stop.signal });
    this.engine.setCounters(counters);
  }
}
