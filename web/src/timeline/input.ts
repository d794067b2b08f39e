// Pointer and wheel. No modes: drag pans, Shift+drag (or a drag on the ruler) selects an area, wheel scrolls the tracks,
// Ctrl+wheel zooms at the pointer, Shift+wheel and sideways wheels pan. Keys come from the key table (useTimelineKeys).

import type { Elements } from './elements';
import type { Engine } from './engine';
import { readAt } from './look';
import type { Navigator } from './navigator';
import type { DrawnEvent } from './scene';
import type { TimelineStore } from './state';
import type { Tooltip } from './tooltip';
import { makeView, panBy, zoomAt, type TimeSpan } from './view';

const DRAG_AFTER_PX = 3;
const ZOOM_PER_WHEEL_PX = 0.0025;
/** Wheels that count lines: about what browsers scroll for one. */
const WHEEL_LINE_PX = 24;
const MAX_WHEEL_PX = 240;

interface Drag {
  readonly kind: 'pan' | 'area';
  readonly pointerId: number;
  readonly fromX: number;
  readonly fromY: number;
  lastX: number;
  lastY: number;
  moved: boolean;
}

export class PointerInput {
  private drag: Drag | null = null;
  private clicked: DrawnEvent | null = null;
  private readonly stop = new AbortController();

  constructor(
    private readonly elements: Elements, private readonly engine: Engine, private readonly navigator: Navigator,
    private readonly store: TimelineStore, private readonly tooltip: Tooltip, private readonly onArea: (area: TimeSpan | null) => void,
  ) {
    const { signal } = this.stop;
    const { body, ruler } = elements;
    body.addEventListener('wheel', (event) => this.onWheel(event), { passive: false, signal });
    ruler.addEventListener('wheel', (event) => this.onWheel(event), { passive: false, signal });
    elements.labels.addEventListener('wheel', (event) => this.onWheel(event), { passive: false, signal });
    body.addEventListener('pointerdown', (event) => this.onDown(event, body, event.shiftKey ? 'area' : 'pan'), { signal });
    ruler.addEventListener('pointerdown', (event) => this.onDown(event, ruler, 'area'), { signal });
    for (const target of [body, ruler]) {
      target.addEventListener('pointermove', (event) => this.onMove(event), { signal });
      target.addEventListener('pointerup', (event) => this.onUp(event), { signal });
      target.addEventListener('pointercancel', () => this.endDrag(), { signal });
    }
    body.addEventListener('pointerleave', () => this.leave(), { signal });
    body.addEventListener('dblclick', () => this.onDouble(), { signal });
    this.bindMinimap(signal);
    this.bindScrollbar(signal);
  }

  dispose(): void {
    this.stop.abort();
  }

  private place(event: MouseEvent): { x: number; y: number } {
    const box = this.elements.body.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? WHEEL_LINE_PX : event.deltaMode === 2 ? this.engine.heightPx : 1;
    const dx = event.deltaX * unit;
    const dy = event.deltaY * unit;
    const { engine } = this;
    if (event.ctrlKey || event.metaKey) {
      const step = Math.max(-MAX_WHEEL_PX, Math.min(MAX_WHEEL_PX, dy));
      const { x } = this.place(event);
      engine.jump(zoomAt(engine.motion.target, engine.reach, x, engine.widthPx, Math.exp(step * ZOOM_PER_WHEEL_PX)));
    } else if (event.shiftKey) {
      engine.jump(panBy(engine.motion.target, engine.reach, dx + dy, engine.widthPx));
    } else {
      if (dy !== 0) engine.scrollTo(engine.scrollPx + dy);
      if (dx !== 0) engine.jump(panBy(engine.motion.target, engine.reach, dx, engine.widthPx));
    }
  }

  private onDown(event: PointerEvent, target: HTMLElement, kind: Drag['kind']): void {
    if (event.button !== 0 || (event.target instanceof Element && event.target.closest('button') !== null)) return;
    const { x, y } = this.place(event);
    target.setPointerCapture(event.pointerId);
    this.elements.body.focus({ preventScroll: true });
    this.drag = { kind, pointerId: event.pointerId, fromX: x, fromY: y, lastX: x, lastY: y, moved: false };
    this.tooltip.hide();
    event.preventDefault();
  }

  private onMove(event: PointerEvent): void {
    const { x, y } = this.place(event);
    this.engine.pointer = event.currentTarget === this.elements.body ? { x, y } : null;
    const drag = this.drag;
    if (drag === null) {
      if (event.currentTarget === this.elements.body) this.hover(x, y);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.fromX, y - drag.fromY) < DRAG_AFTER_PX) return;
    drag.moved = true;
    const { engine } = this;
    if (drag.kind === 'area') {
      this.store.set({ area: this.spanBetween(drag.fromX, x) });
      return;
    }
    this.elements.body.dataset['dragging'] = 'true';
    engine.jump(panBy(engine.motion.target, engine.reach, drag.lastX - x, engine.widthPx));
    engine.scrollTo(engine.scrollPx + drag.lastY - y);
    drag.lastX = x;
    drag.lastY = y;
  }

  private spanBetween(x0: number, x1: number): TimeSpan {
    const { startPs, endPs } = this.engine.window;
    const clamp = (ps: number): number => Math.min(endPs, Math.max(startPs, ps));
    const a = clamp(this.engine.timeAt(Math.min(x0, x1)));
    return { startPs: a, endPs: Math.max(a + 1, clamp(this.engine.timeAt(Math.max(x0, x1)))) };
  }

  private onUp(event: PointerEvent): void {
    const drag = this.drag;
    this.endDrag();
    if (drag === null) return;
    if (drag.kind === 'area') {
      if (drag.moved) this.onArea(this.store.get().area);
      else this.onArea(null);
      return;
    }
    if (drag.moved) return;
    const { x, y } = this.place(event);
    const picked = this.engine.pick(x, y);
    // The details panel opens between the two clicks of a double click and may move what is under the pointer.
    if (event.detail < 2) this.clicked = picked;
    if (picked === null) this.navigator.select(null);
    else if (event.detail < 2) this.navigator.pickAndSelect(picked);
  }

  private endDrag(): void {
    this.drag = null;
    delete this.elements.body.dataset['dragging'];
  }

  private onDouble(): void {
    const { clicked } = this;
    if (clicked !== null) this.engine.fitTo({ startPs: clicked.startPs, endPs: clicked.endPs });
  }

  private hover(x: number, y: number): void {
    const picked = this.engine.pick(x, y);
    this.engine.hovered = picked;
    this.elements.body.dataset['over'] = String(picked !== null);
    const reading = picked === null ? readAt(this.engine, x, y) : null;
    if (reading !== null) this.tooltip.showReading(reading, x, y);
    else if (picked === null) this.tooltip.hide();
    else this.tooltip.show(picked, x, y);
    this.engine.invalidate();
  }

  /** The view moves: what was under the pointer is elsewhere now. */
  clearHover(): void {
    this.engine.hovered = null;
    this.tooltip.hide();
  }

  /** The view has come to rest under a pointer that did not move. */
  hoverAgain(): void {
    const { pointer } = this.engine;
    if (pointer !== null && this.drag === null) this.hover(pointer.x, pointer.y);
  }

  private leave(): void {
    this.engine.pointer = null;
    this.clearHover();
    this.engine.invalidate();
  }

  private bindMinimap(signal: AbortSignal): void {
    const { minimap } = this.elements;
    const { engine } = this;
    let grab: { kind: 'pan' | 'range'; fromPs: number; offsetPs: number; moved: boolean; fromX: number } | null = null;
    const timeOf = (event: PointerEvent): number => {
      const box = minimap.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return engine.window.startPs + Math.round(share * (engine.window.endPs - engine.window.startPs));
    };
    minimap.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      minimap.setPointerCapture(event.pointerId);
      const at = timeOf(event);
      const { startPs, durationPs } = engine.motion.target;
      const all = durationPs >= engine.window.endPs - engine.window.startPs;
      const inside = at >= startPs && at <= startPs + durationPs && !all;
      grab = { kind: inside ? 'pan' : 'range', fromPs: at, offsetPs: at - startPs, moved: false, fromX: event.clientX };
      event.preventDefault();
    }, { signal });
    minimap.addEventListener('pointermove', (event) => {
      if (grab === null || (!grab.moved && Math.abs(event.clientX - grab.fromX) < DRAG_AFTER_PX)) return;
      grab.moved = true;
      const at = timeOf(event);
      if (grab.kind === 'pan') engine.jump(makeView(at - grab.offsetPs, engine.motion.target.durationPs));
      else engine.jump(makeView(Math.min(at, grab.fromPs), Math.max(1, Math.abs(at - grab.fromPs))));
    }, { signal });
    minimap.addEventListener('pointerup', (event) => {
      if (grab !== null && !grab.moved) {
        const { durationPs } = engine.motion.target;
        engine.glide(makeView(timeOf(event) - Math.floor(durationPs / 2), durationPs));
      }
      grab = null;
    }, { signal });
  }

  private bindScrollbar(signal: AbortSignal): void {
    const { scrollTrack, scrollThumb } = this.elements;
    let grab: { fromY: number; fromScroll: number } | null = null;
    scrollTrack.addEventListener('pointerdown', (event) => {
      if (event.target !== scrollThumb) {
        const box = scrollTrack.getBoundingClientRect();
        const share = (event.clientY - box.top) / box.height;
        this.engine.scrollTo(share * this.engine.layout.heightPx - this.engine.heightPx / 2);
      }
      scrollTrack.setPointerCapture(event.pointerId);
      grab = { fromY: event.clientY, fromScroll: this.engine.scrollPx };
      event.preventDefault();
    }, { signal });
    scrollTrack.addEventListener('pointermove', (event) => {
      if (grab === null) return;
      const perPx = this.engine.layout.heightPx / Math.max(1, scrollTrack.clientHeight);
      this.engine.scrollTo(grab.fromScroll + (event.clientY - grab.fromY) * perPx);
    }, { signal });
    scrollTrack.addEventListener('pointerup', () => {
      grab = null;
    }, { signal });
  }
}
