// Points and roofs of the roofline chart from the tool's table.
import { categoryOf } from '../theme/tokens';
import { numberOf, type Row, textOf, type ToolTable } from '../tools/types';

export interface Memory {
  readonly id: string;
  readonly label: string;
  readonly intensity: string; // Column of the ops' intensity towards this memory.
  readonly bandwidth: string; // Column of the ops' bandwidth.
  readonly peak: number; // GiB/s
}

const memories: readonly (readonly [string, string, string, string, string])[] = [
  ['hbm', 'HBM', 'hbm_operational_intensity', 'hbm_bw', 'peak_hbm_bw'],
  ['cmem_read', 'CMEM read', 'cmem_read_operational_intensity', 'cmem_read_bw', 'peak_cmem_read_bw'],
  ['cmem_write', 'CMEM write', 'cmem_write_operational_intensity', 'cmem_write_bw', 'peak_cmem_write_bw'],
  ['vmem_read', 'VMEM read', 'vmem_read_operational_intensity', 'vmem_read_bw', 'peak_vmem_read_bw'],
  ['vmem_write', 'VMEM write', 'vmem_write_operational_intensity', 'vmem_write_bw', 'peak_vmem_write_bw'],
];

export interface Device {
  readonly name: string;
  readonly peakGflops: number;
  readonly memories: readonly Memory[];
}

export function deviceOf(table: ToolTable): Device {
  const gpu = /gpu|nvidia|amd/i.test(table.properties.device_type ?? '');
  const number = (name: string) => Number(table.properties[name] ?? 0) || 0;
  return {
    name: table.properties.device_type ?? '',
    peakGflops: number('peak_flop_rate'),
    memories: memories
      .map(([id, label, intensity, bandwidth, peak]) => ({ id, label: gpu ? label.replace('VMEM', 'L1, shared') : label, intensity, bandwidth, peak: number(peak) }))
      .filter((one) => one.peak > 0),
  };
}

const gibibyte = 2 ** 30;

// What a memory lets through at an intensity, GFLOP/s.
export function roofAt(intensity: number, memory: Memory, peakGflops: number): number {
  const byMemory = (intensity * memory.peak * gibibyte) / 1e9;
  return peakGflops > 0 ? Math.min(peakGflops, byMemory) : byMemory;
}

export function ridgeOf(memory: Memory, peakGflops: number): number {
  return (peakGflops * 1e9) / (memory.peak * gibibyte);
}

export interface Point {
  readonly row: Row;
  readonly name: string;
  readonly category: string; // As the tool says it.
  readonly colour: string;
  readonly x: number;
  readonly y: number; // GFLOP/s
  readonly share: number; // Of the program's time.
  readonly bound: string;
}

export const wholeSteps = new Set(['Total', '']);

export function isProgram(table: ToolTable, row: Row): boolean {
  return textOf(table, row, 'operation') === 'Program' || textOf(table, row, 'category') === 'Program';
}

// Ops of the whole profile; with or without infeed and outfeed counted in.
export function opRows(table: ToolTable, includeFeeds: boolean): Row[] {
  const column = table.columns.findIndex((one) => one.id === 'include_infeed_outfeed');
  return table.rows.filter((row) => wholeSteps.has(textOf(table, row, 'step')) && !isProgram(table, row) && (column < 0 || row.cells[column] === includeFeeds || row.cells[column] === null));
}

export function programRows(table: ToolTable, includeFeeds: boolean): Row[] {
  const column = table.columns.findIndex((one) => one.id === 'include_infeed_outfeed');
  return table.rows.filter((row) => isProgram(table, row) && (column < 0 || row.cells[column] === includeFeeds || row.cells[column] === null));
}

export function pointsOf(table: ToolTable, rows: readonly Row[], memory: Memory | null): { points: Point[]; without: Row[] } {
  const points: Point[] = [];
  const without: Row[] = [];
  const shareColumn = table.columns.find((one) => one.id === 'total_self_time_percent');
  const programShare = table.columns.find((one) => one.id === 'total_time_in_percentage');
  for (const row of rows) {
    const x = numberOf(table, row, memory?.intensity ?? 'operational_intensity') || numberOf(table, row, 'operational_intensity') || 0;
    const y = numberOf(table, row, 'measured_flop_rate') ?? numberOf(table, row, 'model_flop_rate') ?? 0;
    if (!(x > 0) || !(y > 0)) {
      without.push(row);
      continue;
    }
    const category = textOf(table, row, 'category');
    const program = isProgram(table, row);
    const share = numberOf(table, row, program ? 'total_time_in_percentage' : 'total_self_time_percent') ?? 0;
    const fraction = (program ? programShare : shareColumn)?.unit === 'percent' ? share / 100 : share;
    points.push({ row, name: program ? stepName(textOf(table, row, 'step')) : textOf(table, row, 'operation'), category, colour: program ? 'marker' : categoryOf(category).key, x, y, share: fraction, bound: textOf(table, row, 'bound_by') });
  }
  points.sort((a, b) => b.share - a.share);
  return { points, without };
}

function stepName(step: string): string {
  return /^\d+$/.test(step) ? `step ${step}` : `whole program, ${step.toLowerCase()}`;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

// One decade of air around everything that is drawn.
export function rangesOf(points: readonly Point[], device: Device): { x: Range; y: Range } {
  const ridges = device.memories.slice(0, 1).map((memory) => ridgeOf(memory, device.peakGflops)).filter((one) => one > 0);
  const xs = [...points.map((one) => one.x), ...ridges];
  const ys = [...points.map((one) => one.y), ...(device.peakGflops > 0 ? [device.peakGflops] : [])];
  if (xs.length === 0 || ys.length === 0) return { x: { min: 0.1, max: 1000 }, y: { min: 1, max: 1e6 } };
  const around = (values: readonly number[], room: number): Range => ({ min: 10 ** Math.floor(Math.log10(Math.min(...values)) - 0.15), max: Math.max(...values) * room });
  return { x: around(xs, 8), y: around(ys, 2.2) };
}

export interface Label {
  readonly index: number;
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'end';
}

const letterPx = 6.6;
const labelHeightPx = 14;

// Names beside the heaviest points, none over another.
export function placeLabels(places: readonly { x: number; y: number; radius: number; text: string }[], width: number, most: number): Label[] {
  const taken: { x0: number; x1: number; y0: number; y1: number }[] = [];
  const labels: Label[] = [];
  for (const [index, place] of places.entries()) {
    if (labels.length >= most) break;
    const wide = place.text.length * letterPx;
    for (const anchor of ['start', 'end'] as const) {
      const x = anchor === 'start' ? place.x + place.radius + 5 : place.x - place.radius - 5;
      const box = { x0: anchor === 'start' ? x : x - wide, x1: anchor === 'start' ? x + wide : x, y0: place.y - labelHeightPx / 2, y1: place.y + labelHeightPx / 2 };
      if (box.x0 < 0 || box.x1 > width || taken.some((other) => box.x0 < other.x1 && box.x1 > other.x0 && box.y0 < other.y1 && box.y1 > other.y0)) continue;
      taken.push(box);
      labels.push({ index, x, y: place.y + 4, anchor });
      break;
    }
  }
  return labels;
}
