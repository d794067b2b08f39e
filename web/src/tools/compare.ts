// Two sessions' tables as one: for each number the value here, the baseline's, the difference and the relative difference.
// The result is a table like any other, so it sorts, filters and exports like any other.
import type { ShownColumn } from './columns';
import { readColumn, type WireCell } from './answer';
import { isAdditive } from './groupRows';
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
  readonly main: string; // Column that is compared first; empty: none.
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
  const main = mainColumn(numbers);
  const columns: Column[] = [...keys, { id: statusColumn, label: 'In', type: 'string', unit: '', description: 'Whether both sessions have the row.' }];
  for (const one of numbers) {
    const short = (word: string) => (one === main ? { short: word } : {});
    columns.push(
      one,
      { ...one, id: one.id + baselineSuffix, label: `${one.label}, baseline`, ...short('Baseline') },
      { ...one, id: one.id + deltaSuffix, label: `${one.label}, difference`, ...short('Difference'), description: 'This session minus the baseline. A row that only one of the two has counts in full.' },
      { ...one, id: one.id + relativeSuffix, label: `${one.label}, relative`, ...short('Relative'), unit: 'fraction', description: 'The difference as a share of the baseline.' },
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
    numbers.forEach((column, c) => {
      const here = row.values[c]?.[1] ?? null;
      const there = row.values[c]?.[0] ?? null;
      // What adds up counts in full where the other session lacks the row, so that the differences sum to that of the totals.
      const alone = isAdditive(column) ? (now && !before ? here : before && !now && there !== null ? -there : null) : null;
      cells.push(here, there, row.absolute[c]?.[1] ?? alone, row.relative[c]?.[1] ?? null);
    });
    return { index, cells, subject: null };
  });
  return {
    table: { id: wire.table.id, title: wire.table.title || wire.table.id, columns, rows, totalRows: wire.row_count, properties: {} },
    matched, onlyHere, onlyBaseline, main: main?.id ?? '',
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

export interface Step {
  readonly name: string;
  readonly value: number; // In the column's unit.
}

export interface Waterfall {
  readonly before: number;
  readonly after: number;
  readonly steps: readonly Step[]; // The largest first, the rest as one; they sum to after - before.
}

const mostSteps = 6;

// Where the difference of the totals comes from.
export function waterfallOf(comparison: Comparison): Waterfall | null {
  const { table, main } = comparison;
  const at = table.columns.findIndex((column) => column.id === main);
  if (at < 0 || !isAdditive(table.columns[at]!)) return null;
  const names = table.columns.map((column, i) => ({ column, i })).filter(({ column }) => column.type === 'string' && column.id !== statusColumn);
  const name = names.find(({ column }) => /name|operation|opName/i.test(column.id)) ?? names[0];
  if (!name) return null;
  const byName = new Map<string, number>();
  let before = 0;
  let after = 0;
  for (const row of table.rows) {
    const here = typeof row.cells[at] === 'number' ? (row.cells[at] as number) : 0;
    const there = typeof row.cells[at + 1] === 'number' ? (row.cells[at + 1] as number) : 0;
    before += there;
    after += here;
    const key = String(row.cells[name.i] ?? '');
    byName.set(key, (byName.get(key) ?? 0) + here - there);
  }
  const sorted = [...byName].map(([key, value]) => ({ name: key, value })).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const steps = sorted.slice(0, mostSteps).filter((one) => one.value !== 0);
  const rest = sorted.slice(mostSteps).reduce((sum, one) => sum + one.value, 0);
  if (sorted.length > mostSteps && rest !== 0) steps.push({ name: `${sorted.length - mostSteps} others`, value: rest });
  return { before, after, steps };
}
