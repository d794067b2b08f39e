// The step-time table of overview and input pipeline as bars: which columns are parts of a step and in which colour.
import type { Bar, Part } from './StackedBars';
import type { ToolTable } from '../tools/types';

const colours: readonly (readonly [RegExp, string])[] = [
  [/collective/i, 'collective'],
  [/devicetodevice/i, 'movement'],
  [/scv0infeed/i, 'reduce'],
  [/infeed|input/i, 'transfer'],
  [/outfeed|output/i, 'movement'],
  [/scv0compute|sparse/i, 'kernel'],
  [/kernellaunch/i, 'kernel'],
  [/hostcompute|hosttransfer/i, 'host'],
  [/compile/i, 'reduce'],
  [/compute/i, 'matmul'],
];
const noParts = /^(stepnum|tooltip|stepTimeMs|infeedPercent.*)$/;

export interface StepBars {
  readonly parts: readonly Part[];
  readonly bars: readonly Bar[];
}

const factors: Readonly<Record<string, number>> = { ps: 1, us: 1e6, ms: 1e9, s: 1e12 };

export function stepBars(table: ToolTable): StepBars {
  const columns = table.columns
    .map((column, at) => ({ column, at }))
    .filter(({ column }) => column.type === 'number' && !noParts.test(column.id))
    .sort((a, b) => order(a.column.id) - order(b.column.id));
  const name = table.columns.findIndex((column) => column.id === 'stepnum');
  return {
    parts: columns.map(({ column }) => ({ id: column.id, label: partLabel(column.label), category: colours.find(([pattern]) => pattern.test(column.id))?.[1] ?? 'other' })),
    bars: table.rows.map((row) => ({ label: String(row.cells[name] ?? row.index), values: columns.map(({ column, at }) => (typeof row.cells[at] === 'number' ? (row.cells[at] as number) * (factors[column.unit] ?? 1e9) : 0)) })),
  };
}

// Waiting and idling lie on top, so that the work stands on one base.
function order(id: string): number {
  if (/compute/i.test(id) && !/host/i.test(id)) return 0;
  return /idle|other/i.test(id) ? 2 : 1;
}

export function partLabel(label: string): string {
  return label.replace(/\s*\(in ms\)$/, '').replace('TensorCore ', 'TensorCore ').replace('SparseCoreV0', 'SparseCore');
}

export interface PartTotal extends Part {
  readonly meanPs: number;
  readonly share: number;
}

// Mean of each part over the steps, heaviest first.
export function partTotals({ parts, bars }: StepBars): PartTotal[] {
  if (bars.length === 0) return [];
  const means = parts.map((_, i) => bars.reduce((sum, bar) => sum + (bar.values[i] ?? 0), 0) / bars.length);
  const whole = means.reduce((a, b) => a + b, 0);
  return parts.map((part, i) => ({ ...part, meanPs: means[i]!, share: whole > 0 ? means[i]! / whole : 0 })).filter((part) => part.meanPs > 0).sort((a, b) => b.meanPs - a.meanPs);
}
