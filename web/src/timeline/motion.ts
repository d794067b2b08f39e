// Moves the view: jumps, short glides after a key press, and steady motion while a key is held. Time comes from outside.
//
//   motion.press('zoom_in', false, now); ... motion.step(now) each frame ... motion.release('zoom_in');

import { clampView, fullView, mixViews, panBy, sameView, zoomAt, type TimeSpan, type View } from './view';

export type HeldMove = 'zoom_in' | 'zoom_out' | 'pan_left' | 'pan_right';

const GLIDE_MS = 130;
/** A key held longer than this moves steadily; a tap is one step. */
const HOLD_AFTER_MS = 190;
const ZOOM_STEP = 1.5;
const FAST_ZOOM_STEP = 3;
const PAN_STEP = 0.14;
const FAST_PAN_STEP = 0.5;
const ZOOM_PER_SECOND = 4.2; // factor
const FAST = 3;
const PAN_PER_SECOND = 0.9; // views
/** After a stall (hidden tab, long task) no frame moves further than this much time would. */
const MAX_FRAME_MS = 200;

interface Held {
  readonly sinceMs: number;
  fast: boolean;
}

export class ViewMotion {
  private current: View;
  private from: View;
  private to: View;
  private glideStartMs = 0;
  private lastStepMs = 0;
  private readonly held = new Map<HeldMove, Held>();

  constructor(
    private trace: TimeSpan,
    private readonly widthPx: () => number,
    private readonly pivotX: () => number,
    private readonly reduced: boolean,
  ) {
    this.current = this.from = this.to = fullView(trace);
  }

  get view(): View {
    return this.current;
  }
  /** Where the view is going; equal to `view` at rest. */
  get target(): View {
    return this.to;
  }
  get window(): TimeSpan {
    return this.trace;
  }
  get moving(): boolean {
    return this.held.size > 0 || !sameView(this.current, this.to);
  }

  setWindow(trace: TimeSpan): void {
    this.trace = trace;
    this.jump(clampView(this.to, trace));
  }

  jump(view: View): void {
    this.current = this.from = this.to = clampView(view, this.trace);
  }

  glide(view: View, nowMs: number): void {
    if (this.reduced) {
      this.jump(view);
      return;
    }
    this.from = this.current;
    this.to = clampView(view, this.trace);
    this.glideStartMs = nowMs;
  }

  press(move: HeldMove, fast: boolean, nowMs: number): void {
    const held = this.held.get(move);
    if (held !== undefined) {
      held.fast = fast;
      return;
    }
    this.held.set(move, { sinceMs: nowMs, fast });
    this.lastStepMs = nowMs;
    this.glide(this.stepped(move, fast), nowMs);
  }

  release(move: HeldMove): void {
    this.held.delete(move);
  }

  releaseAll(): void {
    this.held.clear();
  }

  /** One step of a key, from where the view is going. */
  private stepped(move: HeldMove, fast: boolean): View {
    const width = this.widthPx();
    const zoom = fast ? FAST_ZOOM_STEP : ZOOM_STEP;
    const pan = (fast ? FAST_PAN_STEP : PAN_STEP) * width;
    if (move === 'zoom_in') return zoomAt(this.to, this.trace, this.pivotX(), width, 1 / zoom);
    if (move === 'zoom_out') return zoomAt(this.to, this.trace, this.pivotX(), width, zoom);
    return panBy(this.to, this.trace, move === 'pan_left' ? -pan : pan, width);
  }

  /** Advances to `nowMs`. True when the view changed. */
  step(nowMs: number): boolean {
    const before = this.current;
    if (!sameView(this.current, this.to)) {
      const share = Math.min(1, (nowMs - this.glideStartMs) / GLIDE_MS);
      const eased = 1 - (1 - share) * (1 - share);
      this.current = share >= 1 ? this.to : mixViews(this.from, this.to, Math.max(0, eased));
    }
    const elapsed = Math.min(MAX_FRAME_MS, nowMs - this.lastStepMs) / 1000;
    this.lastStepMs = nowMs;
    for (const [move, held] of this.held) {
      if (nowMs - held.sinceMs < HOLD_AFTER_MS) continue;
      this.jump(this.driven(move, held.fast ? elapsed * FAST : elapsed));
    }
    return !sameView(before, this.current);
  }

  private driven(move: HeldMove, seconds: number): View {
    const width = this.widthPx();
    if (move === 'zoom_in') return zoomAt(this.current, this.trace, this.pivotX(), width, ZOOM_PER_SECOND ** -seconds);
    if (move === 'zoom_out') return zoomAt(this.current, this.trace, this.pivotX(), width, ZOOM_PER_SECOND ** seconds);
    const pan = PAN_PER_SECOND * seconds * width;
    return panBy(this.current, this.trace, move === 'pan_left' ? -pan : pan, width);
  }
}
