// What is on the screen of an engine beside bars: curves, strips and arrows, in numbers and words.

import { counterColumns } from './counterChart';
import type { Engine } from './engine';
import { arrowsOf, type FlowPlace } from './flowArrows';
import { readCurve, readStrip, type Reading } from './reading';
import type { TimelineStore } from './state';

export interface DrawnChart {
  readonly trackId: string;
  readonly counter: string;
  readonly y: number;
  readonly height: number;
  readonly min: (number | null)[]; // by pixel; null: not known, or before the first sample
  readonly mean: (number | null)[];
  readonly max: (number | null)[];
}

export interface DrawnArrows {
  readonly ofSelection: number;
  readonly ofView: number;
  readonly betweenHosts: number;
}

/** Of a curve or a strip, what it says at a place. */
export function readAt(engine: Engine, x: number, y: number): Reading | null {
  const track = engine.layout.tracks[engine.layout.indexAt(y + engine.scrollPx)];
  if (track === undefined || y + engine.scrollPx > track.y + track.height) return null;
  const busy = engine.lastFrame?.busy.get(track.id);
  if (busy !== undefined) return readStrip(track, busy, engine.view, engine.widthPx, x);
  return readCurve(track, engine.charts.cache, engine.view, engine.window, engine.widthPx, x);
}

export function drawnCharts(engine: Engine): DrawnChart[] {
  const orNull = (values: Float64Array): (number | null)[] => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
  const { layout, scrollPx, heightPx } = engine;
  const shown = layout.tracks.filter((track) => track.counter !== null && track.y + track.height > scrollPx && track.y < scrollPx + heightPx);
  return shown.map((track) => {
    const columns = counterColumns(engine.charts.cache, track.counter!, engine.view, engine.window, engine.widthPx);
    return { trackId: track.id, counter: track.counter!.id, y: track.y - scrollPx, height: track.height, min: orNull(columns.min), mean: orNull(columns.mean), max: orNull(columns.max) };
  });
}

export function flowPlace(engine: Engine): FlowPlace {
  return { layout: engine.layout, view: engine.view, widthPx: engine.widthPx, heightPx: engine.heightPx, scrollPx: engine.scrollPx };
}

export function drawnArrows(engine: Engine, store: TimelineStore): DrawnArrows {
  const { flows, viewFlows, flowsOn } = store.get();
  const place = flowPlace(engine);
  const ofSelection = arrowsOf(flows, place);
  const ofView = flowsOn ? arrowsOf(viewFlows, place) : [];
  return { ofSelection: ofSelection.length, ofView: ofView.length, betweenHosts: [...ofSelection, ...ofView].filter((arrow) => arrow.crossesHosts).length };
}
