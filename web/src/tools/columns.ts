// How a column is shown: its kind, its header without XProf's units in brackets, one unit for all its cells.
//
//   const shown = presentColumn(table, index);
//   header: shown.unitName ? `${shown.label}, ${shown.unitName}` : shown.label      cell: shown.format(value)
import { byteUnit, exactCount, formatCount, formatShare, inUnit, significant, timeUnit, type Unit, unknown } from '../format/format';
import type { Cell, Column, ToolTable } from './types';

export type ColumnKind = 'text' | 'truth' | 'time' | 'bytes' | 'share' | 'count' | 'number';

export interface ShownColumn {
  readonly column: Column;
  readonly index: number;
  readonly kind: ColumnKind;
  readonly label: string;
  readonly unitName: string; // Written once, in the header.
  readonly max: number; // Of the absolute values.
  readonly empty: boolean; // No cell says anything: null, empty text, zero or false.
  readonly format: (value: Cell) => string;
  readonly exact: (value: Cell) => string; // For tooltips and the clipboard.
}

const timeUnitsPs: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, 'µs': 1e6, ms: 1e9, s: 1e12 };
const byteUnits: Readonly<Record<string, number>> = { bytes: 1, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const unitNames: Readonly<Record<string, string>> = { 'flop/byte': 'FLOP/B', joules: 'J', 'GiB/s': 'GiB/s', 'GB/s': 'GB/s', 'Gbit/s': 'Gbit/s', watts: 'W' };
// "Total time (us)" says in the header what the unit says already.
const bracketedUnit = /\s*\((?:in\s+)?(?:%|ps|ns|us|μs|µs|ms|s|J|bytes|[KMG]i?B(?:ytes)?\/s(?:ec)?|Gbps|[GT]?FLOPS?\/s|FLOPS?\/Byte|[GT]?FLOPs\/S(?:ec)?)\)/i;

export function cleanLabel(label: string): string {
  return label.replace(bracketedUnit, '').replace(/\bG?FLOPs?\/s(?:ec)?\b/i, 'FLOP rate').replace(/^#\s*/, '').replace(/\s{2,}/g, ' ').trim();
}

// Headers of columns that many tools share, short enough for a table that fits; the tool's own label is in the tooltip.
const shortLabels: Readonly<Record<string, string>> = {
  hlo_op_name: 'Op',
  category: 'Category',
  total_self_time_percent: 'Of all time',
  total_self_time: 'Self time',
  total_time: 'Total',
  avg_time: 'Mean',
  avg_self_time: 'Mean self',
  occurrences: 'Runs',
  normalized_flop_rate: 'FLOP rate',
  measured_flop_rate: 'FLOP rate',
  model_flop_rate: 'Model FLOP rate',
  hbm_bw: 'HBM',
  measured_memory_bw: 'Memory',
  operational_intensity: 'Intensity',
  hbm_operational_intensity: 'Intensity',
  source_info: 'Source',
  tf_op_name: 'Framework op',
  program_id: 'Program',
  hlo_module_id: 'Program',
  cumulative_total_self_time_percent: 'Cumulative',
  dma_stall_percent: 'DMA stall',
  roofline_efficiency: 'Of roof',
  compute_efficiency: 'Of peak',
  max_mem_bw_utilization: 'Memory used',
  total_time_in_percentage: 'Of program',
  hlo_op_expression: 'HLO text',
  kernel_name: 'Kernel',
  total_duration_us: 'Total',
  avg_duration_us: 'Mean',
  min_duration_us: 'Least',
  max_duration_us: 'Most',
  occupancy_pct: 'Occupancy',
  is_kernel_using_tensor_core: 'On tensor cores',
  is_op_tensor_core_eligible: 'Eligible',
  registers_per_thread: 'Registers',
  shmem_bytes: 'Shared memory',
  device_total_self_time_percent: 'Share, device',
  host_total_self_time_percent: 'Share, host',
  host_or_device: 'On',
  timeInMs: 'Total',
  selfTimeInMs: 'Self time',
  timeInPercent: 'Share, total',
  selfTimeInPercent: 'Share',
};

function kindOf(column: Column): ColumnKind {
  if (column.type === 'boolean') return 'truth';
  if (column.type === 'string') return 'text';
  if (column.unit in timeUnitsPs) return 'time';
  if (column.unit in byteUnits) return 'bytes';
  if (column.unit === 'percent' || column.unit === 'fraction') return 'share';
  return column.unit === 'count' ? 'count' : 'number';
}

function says(value: Cell): boolean {
  return value !== null && value !== '' && value !== 0 && value !== false && value !== 'No' && !(typeof value === 'number' && Number.isNaN(value));
}

const rateUnits: readonly Unit[] = [
  { name: 'kFLOP/s', size: 1e-6 },
  { name: 'MFLOP/s', size: 1e-3 },
  { name: 'GFLOP/s', size: 1 },
  { name: 'TFLOP/s', size: 1e3 },
  { name: 'PFLOP/s', size: 1e6 },
];

function rateUnit(maxGflops: number): Unit {
  let picked = rateUnits[2]!;
  if (maxGflops > 0) {
    picked = rateUnits[0]!;
    for (const unit of rateUnits) if (maxGflops >= unit.size) picked = unit;
  }
  return picked;
}

interface Scaled {
  readonly unit: Unit;
  readonly factor: number;
  readonly base: string;
}

function scaleOf(kind: ColumnKind, unit: string, max: number): Scaled | null {
  if (kind === 'time') {
    const factor = timeUnitsPs[unit]!;
    return { unit: timeUnit(max * factor), factor, base: 'ps' };
  }
  if (kind === 'bytes') {
    const factor = byteUnits[unit]!;
    return { unit: byteUnit(max * factor), factor, base: 'B' };
  }
  if (unit === 'GFLOP/s') return { unit: rateUnit(max), factor: 1, base: 'GFLOP/s' };
  return null;
}

const programColumn = /^(program_id|hlo_module_id|programId)$/;

// Programs are told apart by four hex digits of their id; the whole id is in the tooltip.
export function programText(id: string): string {
  if (!/^\d{5,20}$/.test(id)) return id;
  return BigInt(id).toString(16).slice(-4);
}

function finite(value: Cell): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function presentColumn(table: ToolTable, index: number): ShownColumn {
  const column = table.columns[index]!;
  const kind = kindOf(column);
  let max = 0;
  let empty = true;
  let whole = true;
  for (const row of table.rows) {
    const value = row.cells[index] ?? null;
    if (says(value)) empty = false;
    if (!finite(value)) continue;
    if (Math.abs(value) > max) max = Math.abs(value);
    if (!Number.isInteger(value)) whole = false;
  }
  const label = column.short ?? shortLabels[column.id] ?? (cleanLabel(column.label) || column.id);
  const base = { column, index, label, max, empty };
  if (kind === 'text') {
    const write = programColumn.test(column.id) ? programText : String;
    return { ...base, kind, unitName: '', format: (value) => (value === null || value === '' ? unknown : write(String(value))), exact: (value) => (value === null ? '' : String(value)) };
  }
  if (kind === 'truth') {
    const word = (value: Cell) => (value === null ? unknown : value === true ? 'yes' : value === false ? 'no' : String(value));
    return { ...base, kind, unitName: '', format: word, exact: word };
  }
  if (kind === 'share') {
    const factor = column.unit === 'percent' ? 0.01 : 1;
    return {
      ...base, kind, unitName: '',
      format: (value) => (finite(value) ? formatShare(value * factor) : unknown),
      exact: (value) => (finite(value) ? `${value * factor * 100} %` : 'not known'),
    };
  }
  const scaled = scaleOf(kind, column.unit, max);
  if (scaled) {
    return {
      ...base, kind, unitName: scaled.unit.name,
      format: (value) => inUnit(finite(value) ? value * scaled.factor : null, scaled.unit),
      exact: (value) => (finite(value) ? `${exactCount(scaled.base === 'GFLOP/s' ? value : Math.round(value * scaled.factor))} ${scaled.base}` : 'not known'),
    };
  }
  const counted = kind === 'count' || whole;
  return {
    ...base, kind: counted ? 'count' : 'number', unitName: column.unit === 'count' ? '' : (unitNames[column.unit] ?? column.unit),
    format: (value) => (finite(value) ? (counted ? formatCount(value) : smallNumber(value)) : unknown),
    exact: (value) => (finite(value) ? exactCount(value) : 'not known'),
  };
}

function smallNumber(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value < 0 ? '>\u22120.001' : '<0.001';
  return Math.abs(value) < 0.01 ? value.toFixed(3).replace('-', '\u2212') : significant(value);
}

export function headerOf(shown: ShownColumn): string {
  return shown.unitName ? `${shown.label}, ${shown.unitName}` : shown.label;
}

export function presentColumns(table: ToolTable): ShownColumn[] {
  return table.columns.map((_, index) => presentColumn(table, index));
}

// ---- widths and which columns are shown first ----------------------------------------------------------------------

const numberWidthPx = 80;
const truthWidthPx = 76;
const barWidthPx = 124;

// Shares are drawn as bars where they say how a whole is divided.
export function isBar(shown: ShownColumn): boolean {
  return shown.kind === 'share' && /percent|share|Percent/.test(shown.column.id) && !/cumul|stall|\.(absolute|relative|baseline)$/i.test(shown.column.id);
}

const narrowestTextPx = 72;
const widestTextPx = 360;
const letterPx = 7.2;
const sampledRows = 400; // Enough to know how wide a column of names is.

export function naturalWidth(table: ToolTable, shown: ShownColumn): number {
  const header = headerOf(shown).length * 6.4 + 34;
  if (shown.kind === 'share') return Math.min(160, Math.max(isBar(shown) ? barWidthPx : numberWidthPx, header));
  if (shown.kind === 'truth') return Math.min(150, Math.max(truthWidthPx, header));
  if (shown.kind !== 'text') return Math.min(160, Math.max(numberWidthPx, header));
  let letters = 0;
  for (const row of table.rows.slice(0, sampledRows)) {
    const value = row.cells[shown.index];
    if (typeof value === 'string' && value.length > letters) letters = programColumn.test(shown.column.id) ? 4 : value.length;
  }
  return Math.min(widestTextPx, Math.max(narrowestTextPx, header, letters * letterPx + (shown.column.id === 'category' ? 44 : 24)));
}

// Columns of the first sight: those that say something, as many as fit; the rest is one click away.
export function defaultColumns(table: ToolTable, shown: readonly ShownColumn[], widthPx: number, preferred: readonly string[] = []): string[] {
  const useful = shown.filter((one) => !one.empty || table.rows.length === 0);
  const order = preferred.length > 0 ? preferred.flatMap((id) => useful.filter((one) => one.column.id === id)) : useful;
  const picked: string[] = [];
  let used = 0;
  for (const one of order.length > 0 ? order : useful) {
    const width = one.kind === 'text' ? Math.min(naturalWidth(table, one), 200) : naturalWidth(table, one);
    if (picked.length > 1 && used + width > widthPx) continue;
    picked.push(one.column.id);
    used += width;
  }
  return picked.length > 0 ? picked : shown.slice(0, 6).map((one) => one.column.id);
}
