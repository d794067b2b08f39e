// Where the ruler's texts stand: each wholly inside, clear of what lies over the ruler and of each other, or not at all.
//
//   placeLabels(ruler.ticks, widthPx - spanWidth, covered, (text) => context.measureText(text).width)

import type { Tick } from './ticks';

export interface PlacedLabel {
  readonly text: string;
  readonly x: number; // CSS pixels of the ruler: where the text begins
}

export interface Covered {
  readonly x0: number;
  readonly x1: number;
}

/** Between a tick and its text. */
const LABEL_GAP_PX = 5;
/** Between a text and whatever follows it. */
const AIR_PX = 4;

/** The names of ticks that can be read from 0 to `rightPx`. A tick left of the border has no name: half of it would be cut. */
export function placeLabels(ticks: readonly Tick[], rightPx: number, covered: readonly Covered[], widthOf: (text: string) => number): PlacedLabel[] {
  const placed: PlacedLabel[] = [];
  let freeFrom = 0;
  for (const tick of ticks) {
    if (tick.label === '' || tick.x < 0) continue;
    const x = Math.round(tick.x) + LABEL_GAP_PX;
    const end = x + widthOf(tick.label);
    if (end > rightPx) break;
    if (x < freeFrom || covered.some((one) => x - LABEL_GAP_PX < one.x1 && end > one.x0)) continue;
    placed.push({ text: tick.label, x });
    freeFrom = end + AIR_PX;
  }
  return placed;
}

/** A text of `width` around the middle of [x0, x1], moved so that it stays inside; null when it does not fit at all. */
export function placeOver(x0: number, x1: number, width: number, widthPx: number): Covered | null {
  if (x1 <= 0 || x0 >= widthPx || width > widthPx) return null;
  const middle = (Math.max(0, x0) + Math.min(widthPx, x1)) / 2;
  const from = Math.min(Math.max(0, middle - width / 2), widthPx - width);
  return { x0: from, x1: from + width };
}
