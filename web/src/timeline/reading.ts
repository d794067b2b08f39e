// What a curve or a strip says under the pointer, in words.

import { formatShare, formatTime, plural } from '../format/format';
import { counterColumns, type PieceCache } from './counterChart';
import { BUCKET_PX, type Busy } from './deviceStrip';
import { counterValue } from './labelColumn';
import type { Track } from './layout';
import { formatTimeAt } from './time';
import { xToTime, type TimeSpan, type View } from './view';

export interface Reading {
  readonly title: string;
  readonly facts: string;
}

export function readCurve(track: Track, pieces: PieceCache, view: View, window: TimeSpan, widthPx: number, x: number): Reading | null {
  const counter = track.counter;
  if (counter === null) return null;
  const columns = counterColumns(pieces, counter, view, window, widthPx);
  const at = Math.floor(x);
  const mean = columns.mean[at] ?? NaN;
  const when = formatTimeAt(xToTime(view, widthPx, x), view.durationPs / widthPx);
  if (Number.isNaN(mean)) return { title: track.label, facts: columns.loaded[at] === 1 ? `no sample yet at ${when}` : 'not loaded yet' };
  const [min, max] = [columns.min[at]!, columns.max[at]!];
  const value = counterValue(mean, counter.unit);
  return { title: track.label, facts: min === max ? `${value} at ${when}` : `mean ${value}, from ${counterValue(min, counter.unit)} to ${counterValue(max, counter.unit)} at ${when}` };
}

export function readStrip(track: Track, busy: Busy, view: View, widthPx: number, x: number): Reading | null {
  const i = Math.floor(x / BUCKET_PX);
  const mean = busy.mean[i] ?? NaN;
  if (Number.isNaN(mean)) return null;
  const span = formatTime((BUCKET_PX * view.durationPs) / widthPx);
  const range = `${formatShare(busy.min[i])} to ${formatShare(busy.max[i])}`;
  return { title: track.label, facts: `busy ${formatShare(mean)} of ${span}, ${range}${busy.devices > 1 ? `, over ${plural(busy.devices, 'device')}` : ''}` };
}
