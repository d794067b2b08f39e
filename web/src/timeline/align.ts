// How far one session is shifted against another so that the same work stands below itself. Pure.
//
//   const choices = alignChoices(upper, lower);       // start, first device event, the steps that both have
//   shiftOf(choices, 'step:7')                        // lower time = upper time + shift

import type { StepMark } from './marks';
import type { LinesAnswer } from './model';

export interface AlignSide {
  readonly window: { readonly startPs: number; readonly endPs: number };
  readonly firstDevicePs: number | null;
  readonly steps: readonly StepMark[];
}

export interface AlignChoice {
  readonly id: string; // in the address
  readonly label: string;
  readonly shiftPs: number;
}

/** Steps offered; the ones between are reached by panning. */
const MOST_STEPS = 200;

export function sideOf(lines: LinesAnswer, steps: readonly StepMark[]): AlignSide {
  let first: number | null = null;
  for (const host of lines.hosts) {
    for (const plane of host.planes) {
      if (plane.kind !== 'device') continue;
      for (const line of plane.lines) {
        if (line.derived || line.start_ps === null || line.event_count === 0 || !['ops', 'stream', 'modules'].includes(line.kind)) continue;
        if (first === null || line.start_ps < first) first = line.start_ps;
      }
    }
  }
  return { window: { startPs: lines.window.start_ps, endPs: lines.window.end_ps }, firstDevicePs: first, steps };
}

/** The best first: steps of one name, then steps of one number in order, then what the devices began with, then the starts. */
export function alignChoices(upper: AlignSide, lower: AlignSide): AlignChoice[] {
  const choices: AlignChoice[] = [];
  const byName = new Map<string, StepMark>();
  for (const step of lower.steps) if (!byName.has(step.name)) byName.set(step.name, step);
  for (const step of upper.steps) {
    const other = byName.get(step.name);
    if (other === undefined || choices.length >= MOST_STEPS || choices.some((one) => one.id === `step:${step.name}`)) continue;
    choices.push({ id: `step:${step.name}`, label: /^\d+$/.test(step.name) ? `Step ${step.name}` : step.name, shiftPs: other.startPs - step.startPs });
  }
  if (choices.length === 0) {
    for (let i = 0; i < Math.min(upper.steps.length, lower.steps.length, MOST_STEPS); ++i) {
      const [one, other] = [upper.steps[i]!, lower.steps[i]!];
      choices.push({ id: `nth:${i + 1}`, label: `Steps ${one.name} and ${other.name}`, shiftPs: other.startPs - one.startPs });
    }
  }
  if (upper.firstDevicePs !== null && lower.firstDevicePs !== null) {
    choices.push({ id: 'device', label: 'First work of a device', shiftPs: lower.firstDevicePs - upper.firstDevicePs });
  }
  choices.push({ id: 'start', label: 'Start of the profiles', shiftPs: lower.window.startPs - upper.window.startPs });
  return choices;
}

/** "shift:<ps>" is a shift chosen by hand; what is not understood is the first choice. */
export function shiftOf(choices: readonly AlignChoice[], id: string): { id: string; shiftPs: number } {
  const byHand = /^shift:(-?\d{1,16})$/.exec(id);
  if (byHand !== null && Number.isSafeInteger(Number(byHand[1]))) return { id, shiftPs: Number(byHand[1]) };
  const found = choices.find((one) => one.id === id) ?? choices[0];
  return found === undefined ? { id: 'shift:0', shiftPs: 0 } : { id: found.id, shiftPs: found.shiftPs };
}

/** Of the steps in view, the one that both have and that begins nearest to the middle: to align by what one looks at. */
export function nearestStep(choices: readonly AlignChoice[], upper: AlignSide, middlePs: number): AlignChoice | null {
  let best: AlignChoice | null = null;
  let bestPs = Infinity;
  for (const step of upper.steps) {
    const choice = choices.find((one) => one.id === `step:${step.name}`);
    const away = Math.abs((step.startPs + step.endPs) / 2 - middlePs);
    if (choice !== undefined && away < bestPs) [best, bestPs] = [choice, away];
  }
  return best;
}
