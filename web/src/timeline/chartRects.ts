// Strips and curves as rectangles of a frame: neighbours of one height become one rectangle.

import { BUCKET_PX, type Busy } from './deviceStrip';
import { chartY, type Columns } from './counterChart';
import type { CounterInfo } from './model';
import { COLOUR_ACCENT, COLOUR_SUNKEN } from './palette';
import { STYLE_DIAGONAL, type RectBuffer } from './rectBuffer';

export interface Place {
  readonly buffer: RectBuffer;
  readonly y: number; // CSS pixels, top
  readonly height: number;
  readonly ratio: number;
  readonly widthPx: number;
}

/** What was busy even in the idlest pixel is solid, the mean is lighter, what only the busiest had is faint. */
const MOST_STRENGTH = 70;
const MEAN_STRENGTH = 150;
const LEAST_STRENGTH = 240;
const AREA_STRENGTH = 56;
const BAND_STRENGTH = 130;

/** Calls `emit` for each run of equal values; NaN ends a run and makes none. */
export function forRuns(count: number, valueAt: (i: number) => number, emit: (from: number, to: number, value: number) => void): void {
  let from = 0;
  while (from < count) {
    const value = valueAt(from);
    let to = from + 1;
    while (to < count && Object.is(valueAt(to), value)) ++to;
    if (!Number.isNaN(value)) emit(from, to, value);
    from = to;
  }
}

function fromBottom(place: Place, values: ArrayLike<number>, strength: number, count: number, stepPx: number): void {
  const { buffer, y, height, ratio, widthPx } = place;
  const bottom = Math.round((y + height) * ratio);
  const full = Math.round(height * ratio);
  // Something that was busy at all stays one pixel high.
  const tall = (i: number): number => (Number.isNaN(values[i]!) || values[i]! <= 0 ? NaN : Math.max(1, Math.round(values[i]! * full)));
  forRuns(count, tall, (from, to, pixels) => {
    buffer.push(from * stepPx * ratio, Math.min(widthPx, to * stepPx) * ratio, bottom - pixels, pixels, COLOUR_ACCENT, strength, 0);
  });
}

export function pushBusy(place: Place, busy: Busy): void {
  fromBottom(place, busy.max, MOST_STRENGTH, busy.buckets, BUCKET_PX);
  fromBottom(place, busy.mean, MEAN_STRENGTH, busy.buckets, BUCKET_PX);
  fromBottom(place, busy.min, LEAST_STRENGTH, busy.buckets, BUCKET_PX);
}

/** Where nothing is known: true when there was such a place. */
export function pushUnknown(place: Place, count: number, stepPx: number, known: (i: number) => boolean): boolean {
  const { buffer, y, height, ratio, widthPx } = place;
  let any = false;
  forRuns(count, (i) => (known(i) ? NaN : 1), (from, to) => {
    any = true;
    buffer.push(from * stepPx * ratio, Math.min(widthPx, to * stepPx) * ratio, Math.round(y * ratio), Math.round(height * ratio), COLOUR_SUNKEN, 255, STYLE_DIAGONAL);
  });
  return any;
}

export function pushCurve(place: Place, columns: Columns, counter: CounterInfo): void {
  const { buffer, y, height, ratio } = place;
  const full = Math.round(height * ratio);
  const bottom = Math.round(y * ratio) + full;
  const up = (value: number): number => (Number.isNaN(value) ? NaN : Math.round(chartY(value, counter, full)));
  const zero = up(0);
  const { min, mean, max } = columns;
  const count = mean.length;
  forRuns(count, (x) => up(mean[x]!), (from, to, level) => {
    const low = Math.min(level, zero);
    const tall = Math.abs(level - zero);
    if (tall > 0) buffer.push(from * ratio, to * ratio, bottom - low - tall, tall, COLOUR_ACCENT, AREA_STRENGTH, 0);
  });
  // Both ends of a pixel's band in one number: runs are of equal bands.
  const STEP = 65536;
  forRuns(count, (x) => up(max[x]!) * STEP + up(min[x]!), (from, to, both) => {
    const high = Math.floor(both / STEP);
    const low = both - high * STEP;
    if (high > low) buffer.push(from * ratio, to * ratio, bottom - high, high - low, COLOUR_ACCENT, BAND_STRENGTH, 0);
  });
  const line = Math.max(1, Math.round(ratio));
  forRuns(count, (x) => up(mean[x]!), (from, to, level) => buffer.push(from * ratio, to * ratio, bottom - Math.max(line, level), line, COLOUR_ACCENT, 255, 0));
}
