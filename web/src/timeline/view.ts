// The visible span of time and the maths of moving it.
//
// A view is an integer start, a fraction of a picosecond, and an integer duration. Pixels come from
// (time - start) * scale: the difference of two integers below 2^53 is exact, so a 98 s session does not
// tremble at 1 ns. Every function returns a new, clamped view.
//
//   const closer = zoomAt(view, window, 700, 1400, 0.5);   // the time under pixel 700 stays there

import { formatExactTime, parseTimeParts } from './time';

export interface View {
  readonly startPs: number; // integer
  readonly fractionPs: number; // [0, 1)
  readonly durationPs: number; // integer, >= MIN_DURATION_PS
}

export interface TimeSpan {
  readonly startPs: number;
  readonly endPs: number;
}

/** 1 ns: at 1,000 pixels one pixel is then one picosecond, the finest time there is. */
export const MIN_DURATION_PS = 1000;
/** Room kept beyond both ends of the trace, as a share of the view, so that the ends can be seen as ends. */
const END_ROOM = 0.02;

export function makeView(startPs: number, durationPs: number): View {
  const whole = Math.floor(startPs);
  return { startPs: whole, fractionPs: startPs - whole, durationPs: Math.max(MIN_DURATION_PS, Math.round(durationPs)) };
}

/** The whole session with a little room at both ends. */
export function fullView(window: TimeSpan): View {
  return clampView({ startPs: window.startPs, fractionPs: 0, durationPs: longestDuration(window) }, window);
}

function longestDuration(window: TimeSpan): number {
  return Math.max(MIN_DURATION_PS, Math.ceil((window.endPs - window.startPs) * (1 + 2 * END_ROOM)));
}

/** Keeps a view inside the trace: no wider than all of it, no further than its ends. */
export function clampView(view: View, window: TimeSpan): View {
  const durationPs = Math.min(Math.max(MIN_DURATION_PS, Math.round(view.durationPs)), longestDuration(window));
  const room = Math.floor(durationPs * END_ROOM);
  const first = window.startPs - room;
  const last = Math.max(first, window.endPs + room - durationPs);
  if (view.startPs < first) return { startPs: first, fractionPs: 0, durationPs };
  if (view.startPs >= last) return { startPs: last, fractionPs: 0, durationPs };
  return { startPs: view.startPs, fractionPs: view.fractionPs, durationPs };
}

/** Moves a start by any number of picoseconds and keeps the integer part exact. */
function shifted(view: View, byPs: number, durationPs: number): View {
  const relative = view.fractionPs + byPs;
  const whole = Math.floor(relative);
  return { startPs: view.startPs + whole, fractionPs: relative - whole, durationPs };
}

/** factor < 1 zooms in. The time under `x` stays under `x` unless an end of the trace is in the way. */
export function zoomAt(view: View, window: TimeSpan, x: number, widthPx: number, factor: number): View {
  const wanted = Math.round(view.durationPs * factor);
  const durationPs = Math.min(Math.max(MIN_DURATION_PS, wanted), longestDuration(window));
  const share = x / widthPx;
  return clampView(shifted(view, share * (view.durationPs - durationPs), durationPs), window);
}

/** Moves the view to the right by `dx` pixels of its own. */
export function panBy(view: View, window: TimeSpan, dx: number, widthPx: number): View {
  return clampView(shifted(view, (dx / widthPx) * view.durationPs, view.durationPs), window);
}

export function timeToX(view: View, widthPx: number, ps: number): number {
  return (ps - view.startPs - view.fractionPs) * (widthPx / view.durationPs);
}

/** Whole picosecond at or before a pixel. */
export function xToTime(view: View, widthPx: number, x: number): number {
  return view.startPs + Math.floor(view.fractionPs + (x / widthPx) * view.durationPs);
}

export function viewEndPs(view: View): number {
  return view.startPs + view.durationPs + (view.fractionPs > 0 ? 1 : 0);
}

/** A view that shows [startPs, endPs] with a tenth of room at both sides. */
export function fitSpan(span: TimeSpan, window: TimeSpan): View {
  const durationPs = Math.max(MIN_DURATION_PS, Math.ceil((span.endPs - span.startPs) * 1.2));
  const middle = span.startPs + Math.floor((span.endPs - span.startPs) / 2);
  return clampView({ startPs: middle - Math.floor(durationPs / 2), fractionPs: 0, durationPs }, window);
}

/** Same zoom, moved as little as needed to show the span; centred when it was out of sight. */
export function revealSpan(view: View, span: TimeSpan, window: TimeSpan): View {
  const length = span.endPs - span.startPs;
  if (length > view.durationPs) return fitSpan(span, window);
  if (span.startPs >= view.startPs && span.endPs <= viewEndPs(view)) return view;
  const startPs = span.startPs + Math.floor(length / 2) - Math.floor(view.durationPs / 2);
  return clampView({ startPs, fractionPs: 0, durationPs: view.durationPs }, window);
}

/** Between two views: start and duration move together, so a fixed point of the zoom stays fixed. */
export function mixViews(from: View, to: View, share: number): View {
  if (share >= 1) return to;
  const durationPs = Math.max(MIN_DURATION_PS, Math.round(from.durationPs + (to.durationPs - from.durationPs) * share));
  const change = to.durationPs - from.durationPs;
  // Use the share that the rounded duration really reached, else the fixed point would move by the rounding.
  const reached = change === 0 ? share : (durationPs - from.durationPs) / change;
  const distance = to.startPs - from.startPs + (to.fractionPs - from.fractionPs);
  return shifted(from, distance * reached, durationPs);
}

export function sameView(a: View, b: View): boolean {
  return a.startPs === b.startPs && a.fractionPs === b.fractionPs && a.durationPs === b.durationPs;
}

/** "12.3s,40ms": the `v` key of the URL. */
export function viewToText(view: View): string {
  // Beyond a microsecond of view a picosecond is less than a thousandth of a pixel.
  const fraction = view.durationPs < 1e6 ? view.fractionPs : 0;
  return `${formatExactTime(view.startPs, fraction)},${formatExactTime(view.durationPs)}`;
}

export function viewFromText(text: string): View | null {
  const [start, duration, ...rest] = text.split(',');
  if (start === undefined || duration === undefined || rest.length > 0) return null;
  const from = parseTimeParts(start, 'ps');
  const length = parseTimeParts(duration, 'ps');
  if (from === null || length === null || length.ps <= 0) return null;
  return { startPs: from.ps, fractionPs: from.fractionPs, durationPs: Math.max(MIN_DURATION_PS, length.ps) };
}
