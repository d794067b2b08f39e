// window.__strobeTimeline: what the canvas shows, in words, for browser tests and for anyone at the browser's console.
// Only getters: nothing can be changed through it.

import type { Engine } from './engine';
import type { FrameTime } from './frameTimes';
import { drawnArrows, drawnCharts, type DrawnArrows, type DrawnChart } from './look';
import type { StepMark } from './marks';
import type { DrawnEvent } from './scene';
import type { TimelineStore } from './state';
import type { View } from './view';

export interface TimelineHook {
  readonly view: View;
  readonly window: { readonly startPs: number; readonly endPs: number };
  readonly rects: readonly DrawnEvent[]; // positions in CSS pixels of the drawing area
  readonly tracks: readonly { id: string; label: string; kind: string; y: number; height: number; rows: number; open: boolean }[];
  readonly settled: boolean;
  readonly renderer: string;
  readonly cacheBytes: number;
  readonly cacheTiles: number;
  readonly selection: string | null;
  readonly scrollPx: number;
  /** Busy shares that folded devices and hosts show: of the view as a whole, and of each bucket. */
  readonly strips: readonly { trackId: string; least: number; all: number; most: number; devices: number; min: number[]; mean: number[]; max: number[] }[];
  /** Curves on screen, pixel by pixel; null where nothing is known. */
  readonly charts: readonly DrawnChart[];
  readonly steps: readonly StepMark[];
  readonly modules: readonly StepMark[];
  readonly arrows: DrawnArrows;
  readonly frames: readonly FrameTime[];
}

declare global {
  interface Window {
    __strobeTimeline?: TimelineHook;
  }
}

export function installHook(engine: Engine, store: TimelineStore): () => void {
  const hook: TimelineHook = Object.freeze({
    get view() {
      return { ...engine.view };
    },
    get window() {
      return { ...engine.window };
    },
    get rects() {
      return engine.drawnEvents();
    },
    get tracks() {
      return engine.layout.tracks.map((track) => ({
        id: track.id, label: track.label, kind: track.kind, y: track.y - engine.scrollPx, height: track.height,
        rows: track.rows, open: track.open,
      }));
    },
    get settled() {
      return engine.lastFrame?.settled === true && !engine.motion.moving;
    },
    get renderer() {
      return engine.rendererKind;
    },
    get cacheBytes() {
      return engine.cache.bytes;
    },
    get cacheTiles() {
      return engine.cache.size;
    },
    get selection() {
      return store.get().selection;
    },
    get scrollPx() {
      return engine.scrollPx;
    },
    get strips() {
      return [...(engine.lastFrame?.busy ?? [])].map(([trackId, busy]) => ({
        trackId, least: busy.least, all: busy.all, most: busy.most, devices: busy.devices, min: [...busy.min], mean: [...busy.mean], max: [...busy.max],
      }));
    },
    get charts() {
      return drawnCharts(engine);
    },
    get steps() {
      return store.get().steps;
    },
    get modules() {
      return store.get().modules;
    },
    get arrows() {
      return drawnArrows(engine, store);
    },
    get frames() {
      return engine.frameTimes.all;
    },
  });
  window.__strobeTimeline = hook;
  return () => {
    if (window.__strobeTimeline === hook) delete window.__strobeTimeline;
  };
}
