// Ticks of the time ruler: an absolute anchor at the left, ticks named by their distance from it.
//
// Near zero the ticks are absolute. Further on ("12.304 512 s") they are named by their distance from an anchor, a round
// time at or before the left edge, which moves by ten ticks at a time so that labels stay while panning a little.

import { formatTime } from '../format/format';
import { trimDecimals, unitFor } from './time';
import { timeToX, type View } from './view';

export interface Tick {
  readonly ps: number;
  readonly x: number;
  readonly label: string; // empty on minor ticks
}

export interface Ruler {
  readonly anchorPs: number;
  readonly stepPs: number;
  readonly ticks: readonly Tick[];
}

/** Narrowest distance of two named ticks: "+999.5 ms" at 12 px plus air. */
const MIN_LABEL_GAP_PX = 92;
/** No ruler has more: 8k pixels / 92 px x 5 minor ticks, and some room. */
const MAX_TICKS = 600;
const MINUTE_PS = 60e12;
const MINUTE_STEPS = [1, 2, 5, 10, 20, 30, 60] as const;

/** The smallest round step (1, 2, 5 x 10^n; minutes from 60 s on) that is at least `atLeastPs`. */
export function roundStep(atLeastPs: number): number {
  if (atLeastPs > 50e12) {
    for (const minutes of MINUTE_STEPS) if (minutes * MINUTE_PS >= atLeastPs) return minutes * MINUTE_PS;
    return Math.ceil(atLeastPs / (60 * MINUTE_PS)) * 60 * MINUTE_PS;
  }
  let decade = 1;
  while (decade * 10 <= atLeastPs) decade *= 10;
  for (const digit of [1, 2, 5, 10]) if (digit * decade >= atLeastPs) return digit * decade;
  return decade * 10;
}

function minorCount(stepPs: number): number {
  for (const parts of [5, 4, 2]) if (stepPs % parts === 0 && stepPs / parts >= 1) return parts;
  return 1;
}

/** Up to this many steps from zero an absolute label is as short as a relative one. */
const MAX_ABSOLUTE_STEPS = 1000;
/** The anchor moves by whole blocks of so many steps, so labels stay while panning within one. */
const STEPS_PER_BLOCK = 10;

function anchorFor(view: View, stepPs: number): number {
  if (view.startPs < MAX_ABSOLUTE_STEPS * stepPs) return 0;
  const block = STEPS_PER_BLOCK * stepPs;
  return Math.floor(view.startPs / block) * block;
}

function labelFor(offsetPs: number, stepPs: number, relative: boolean): string {
  if (offsetPs === 0) return relative ? '+0' : '0 s';
  const unit = unitFor(Math.abs(offsetPs) < stepPs ? stepPs : offsetPs);
  const value = offsetPs / 10 ** unit.exponent;
  const decimals = Math.max(0, Math.min(12, unit.exponent - Math.floor(Math.log10(stepPs) + 1e-9)));
  const text = trimDecimals(value.toFixed(decimals));
  return `${relative && offsetPs > 0 ? '+' : ''}${text} ${unit.name}`;
}

export function makeRuler(view: View, widthPx: number): Ruler {
  const stepPs = roundStep(Math.max(1, (view.durationPs / widthPx) * MIN_LABEL_GAP_PX));
  const anchorPs = anchorFor(view, stepPs);
  const parts = minorCount(stepPs);
  const minorPs = stepPs / parts;
  const ticks: Tick[] = [];
  // Start one named step early: its label may reach into the view.
  let index = (Math.floor((view.startPs - anchorPs) / stepPs) - 1) * parts;
  for (; ticks.length < MAX_TICKS; ++index) {
    const offsetPs = index * minorPs;
    const ps = anchorPs + offsetPs;
    const x = timeToX(view, widthPx, ps);
    if (x > widthPx) break;
    const named = index % parts === 0;
    ticks.push({ ps, x, label: named ? labelFor(offsetPs, stepPs, anchorPs !== 0) : '' });
  }
  return { anchorPs, stepPs, ticks };
}

/** What the arrow at the right end of the ruler says: the span of the whole view. */
export function spanLabel(view: View): string {
  return formatTime(view.durationPs);
}
