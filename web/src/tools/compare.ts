// Two sessions' tables as one: for each number the value here, the baseline's, the difference and the relative difference.
// The result is a table like any other, so it sorts, filters and exports like any other.
import type { ShownColumn } from './columns';
import { readColumn, type WireCell } from './answer';
import type { WireComparison } from './client';
import type { Cell, Column, Row, ToolTable } from './types';

export const statusColumn = 'in_sessions';
export const baselineSuffix = '.baseline';
export const deltaSuffix = '.absolute';
export const relativeSuffix = '.relative';

export interface Comparison {
  readonly table: ToolTable;
  readonly matched: number;
  readonly onlyHere: number;
  readonly onlyBaseline: number;
  readonly preferred: readonly string[];
  readonly sort: string;
}

const plain = (cell: WireCell): Cell => (cell !== null && typeof cell === 'object' ? cell.value : cell);

// Of several number columns the one a reader compares first: time, then bytes, then whatever comes first.
export function mainColumn(columns: readonly Column[]): Column | null {
  const timed = columns.filter((one) => ['us', 'ms', 'ps', 'ns', 's'].includes(one.unit));
  return timed.find((one) => /total.*self|self.*total/i.test(one.id)) ?? timed.find((one) => /total/i.test(one.id)) ?? timed[0] ?? columns.find((one) => one.unit === 'bytes') ?? columns.find((one) => one.unit !== 'count' && one.id !== 'rank') ?? columns[0] ?? null;
}

export function readComparison(wire: WireComparison): Comparison {
  const keys = wire.key_columns.map(readColumn);
  const numbers = wire.columns.map(readColumn);
  const columns: Column[] = [...keys, { id: statusColumn, label: 'In', type: 'string', unit: '', description: 'Whether both sessions have the row.' }];
  for (const one of numbers) {
    columns.push(
      one,
      { ...one, id: one.id + baselineSuffix, label: `${one.label}, baseline` },
      { ...one, id: one.id + deltaSuffix, label: `${one.label}, difference`, description: 'This session minus the baseline.' },
      { ...one, id: one.id + relativeSuffix, label: `${one.label}, relative`, unit: 'fraction', description: 'The difference as a share of the baseline.' },
    );
  }
  let matched = 0;
  let onlyHere = 0;
  let onlyBaseline = 0;
  const rows: Row[] = wire.rows.map((row, index) => {
    const before = row.row_ids[0] !== null && row.row_ids[0] !== undefined;
    const now = row.row_ids[1] !== null && row.row_ids[1] !== undefined;
    if (before && now) matched++;
    else if (now) onlyHere++;
    else onlyBaseline++;
    const cells: Cell[] = [...row.key.map(plain), before && now ? 'both' : now ? 'only here' : 'only baseline'];
    numbers.forEach((_, c) => cells.push(row.values[c]?.[1] ?? null, row.values[c]?.[0] ?? null, row.absolute[c]?.[1] ?? null, row.relative[c]?.[1] ?? null));
    return { index, cells, subject: null };
  });
  const main = mainColumn(numbers);
  return {
    table: { id: wire.table.id, title: wire.table.title || wire.table.id, columns, rows, totalRows: wire.row_count, properties: {} },
    matched, onlyHere, onlyBaseline,
    preferred: [...keys.map((one) => one.id), ...(main ? [main.id, main.id + baselineSuffix, main.id + deltaSuffix, main.id + relativeSuffix] : []), statusColumn],
    sort: main ? '-' + main.id + deltaSuffix : '',
  };
}

const higherIsBetter = /flop|bandwidth|_bw|efficien|occupancy|throughput|utili[sz]|duty/i;
const neutral = /^rank$|count$|occurrences|registers|intensity|^step|_id$/i;

// 1: more is worse, -1: more is better, 0: neither.
export function worseSign(columnId: string): -1 | 0 | 1 {
  const id = columnId.replace(/\.(absolute|relative|baseline)$/, '');
  if (neutral.test(id)) return 0;
  return higherIsBetter.test(id) ? -1 : 1;
}

export interface DeltaWord {
  readonly text: string;
  readonly direction: 'better' | 'worse' | 'same' | 'neutral';
  readonly up: boolean;
}

export function deltaWord(shown: ShownColumn, value: Cell): DeltaWord | null {
  const id = shown.column.id;
  if (!id.endsWith(deltaSuffix) && !id.endsWith(relativeSuffix)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  if (value === 0) return { text: shown.format(0), direction: 'same', up: false };
  const text = (value > 0 ? '+' : '') + shown.format(value);
  const sign = worseSign(id);
  return { text, direction: sign === 0 ? 'neutral' : value * sign > 0 ? 'worse' : 'better', up: value > 0 };
}
