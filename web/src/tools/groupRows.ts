// A table folded by one of its columns: sums of what adds up, means weighted by time of what does not.
import type { Cell, Column, Row, ToolTable } from './types';

// Columns whose cells add up. Total times do not: an op's total holds that of the ops inside it.
const additive = /^(own\.share|occurrences|count|total_self_time|total_duration_us|total_self_time_percent|selfTimeInMs|selfTimeInPercent|total_time_per_core|total_time_in_percentage|total_stall|net_tx_bytes|vdd_energy|device_total_self_time_percent|host_total_self_time_percent)$/;

export function isAdditive(column: Column): boolean {
  return column.type === 'number' && additive.test(column.id.replace(/\.(absolute|baseline)$/, ''));
}

export function weightColumn(table: ToolTable): number {
  for (const id of ['total_self_time', 'total_duration_us', 'total_time', 'selfTimeInMs']) {
    const at = table.columns.findIndex((column) => column.id === id);
    if (at >= 0) return at;
  }
  return -1;
}

const averaged = /_rate$|_bw$|percent|efficiency|utilization|occupancy|intensity/;

export function groupTable(table: ToolTable, by: string): ToolTable {
  const key = table.columns.findIndex((column) => column.id === by);
  if (key < 0) return table;
  const weight = weightColumn(table);
  const groups = new Map<string, Row[]>();
  for (const row of table.rows) {
    const value = String(row.cells[key] ?? '');
    const group = groups.get(value);
    if (group) group.push(row);
    else groups.set(value, [row]);
  }
  const kept = table.columns.map((column, at) => ({ column, at })).filter(({ column, at }) => at !== key && column.type === 'number' && (isAdditive(column) || (averaged.test(column.id) && !/cumulative|rank/.test(column.id))));
  const columns: Column[] = [table.columns[key]!, { id: 'rows', label: 'Rows', type: 'number', unit: 'count', description: 'How many rows of the whole table the group holds.' }, ...kept.map(({ column }) => (isAdditive(column) ? column : { ...column, description: 'Mean, weighted by self time. ' + column.description }))];
  const rows: Row[] = [...groups].map(([value, members], index) => {
    const cells: Cell[] = [value === '' ? '(none)' : value, members.length];
    for (const { column, at } of kept) cells.push(isAdditive(column) ? sum(members, at) : mean(members, at, weight));
    return { index, cells, subject: members.length === 1 ? members[0]!.subject : null };
  });
  return { id: table.id, title: table.title, columns, rows, totalRows: rows.length, properties: table.properties };
}

function sum(rows: readonly Row[], at: number): number {
  return rows.reduce((total, row) => total + (typeof row.cells[at] === 'number' ? (row.cells[at] as number) : 0), 0);
}

function mean(rows: readonly Row[], at: number, weight: number): number | null {
  let total = 0;
  let weights = 0;
  for (const row of rows) {
    const value = row.cells[at];
    const share = weight < 0 ? 1 : row.cells[weight];
    if (typeof value !== 'number' || typeof share !== 'number') continue;
    total += value * share;
    weights += share;
  }
  return weights > 0 ? total / weights : null;
}

// One row under the table: what the rows in sight add up to.
export function sumRow(table: ToolTable, rows: readonly Row[]): (number | null)[] {
  return table.columns.map((column, at) => (isAdditive(column) ? sum(rows, at) : null));
}

// Columns that the page adds by itself have ids that begin so; the server does not know them.
export const ownColumn = /^own\./;

// Self time as a share of all op time in the table: unlike XProf's share it leaves idle time out, so it sums to 100 %.
export function withOpShare(table: ToolTable): ToolTable {
  const at = table.columns.findIndex((column) => column.id === 'total_self_time');
  const category = table.columns.findIndex((column) => column.id === 'category');
  if (at < 0) return table;
  const isOp = (row: Row) => category < 0 || !/^idle$/i.test(String(row.cells[category] ?? ''));
  const whole = table.rows.reduce((total, row) => total + (isOp(row) && typeof row.cells[at] === 'number' ? (row.cells[at] as number) : 0), 0);
  const column: Column = { id: 'own.share', label: 'Share of op time', short: 'Share', type: 'number', unit: 'fraction', description: 'Self time as a share of the time of all ops; idle time is left out.' };
  return { ...table, columns: [...table.columns, column], rows: table.rows.map((row) => ({ ...row, cells: [...row.cells, isOp(row) && whole > 0 && typeof row.cells[at] === 'number' ? (row.cells[at] as number) / whole : null] })) };
}
