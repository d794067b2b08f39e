// The rows and columns that a table shows, in its order, as they leave the page; and how the server is asked for the same.
import type { ExportTable } from '../export/model';
import type { TableFormat } from '../export/TableExport';
import { exportUrl, type ToolQuery } from './client';
import { headerOf, type ShownColumn } from './columns';
import { ownColumn } from './groupRows';
import { type Filter, formatSort } from './rows';
import type { Row, ToolTable } from './types';
import type { TableState } from './useTableState';

const wholeUnits = new Set(['count', 'bytes', 'ps']); // As on the server: src/api/table_parquet.h.

export function exportTableOf(table: ToolTable, shown: readonly ShownColumn[], rows: readonly Row[]): ExportTable {
  const texts = rows.some((row) => row.texts) ? rows.map((row) => (row.texts ? shown.map((one) => row.texts![one.index] ?? null) : undefined)) : undefined;
  return {
    title: table.title,
    columns: shown.map((one) => ({ id: one.column.id, label: headerOf(one), type: one.column.type, whole: wholeUnits.has(one.column.unit), format: one.format })),
    rows: rows.map((row) => shown.map((one) => row.cells[one.index] ?? null)),
    ...(texts ? { texts } : {}),
    totalRows: rows.length === table.rows.length ? table.totalRows : rows.length,
  };
}

const howOnServer: Readonly<Record<Filter['operator'], string>> = { '~': 'contains', '=': 'eq', '!': 'ne', '>': 'ge', '<': 'le' };

// The address of the file with the rows that the table shows: same filter, same order, same columns but those that the page made. Null
// when the server would choose other rows, because it knows neither filters on columns of the page nor several words.
export function serverFile(sessionId: string, tool: string, query: ToolQuery, table: ToolTable, state: Pick<TableState, 'shown' | 'sort' | 'filters' | 'text'>, format: TableFormat): string | null {
  const known = (id: string) => !ownColumn.test(id) && table.columns.some((column) => column.id === id);
  const words = state.text.trim().split(/\s+/).filter(Boolean);
  const filters = state.filters.filter((one) => table.columns.some((column) => column.id === one.column));
  if (words.length > 1 || filters.some((one) => !known(one.column)) || (state.sort && !known(state.sort.column))) return null;
  const extra: (readonly [string, string])[] = [['table', table.id]];
  if (state.sort) extra.push(['sort', formatSort(state.sort)!]);
  if (words[0]) extra.push(['q', words[0]]);
  for (const one of filters) extra.push(['filter', `${one.column}:${howOnServer[one.operator]}:${one.value}`]);
  const columns = state.shown.map((one) => one.column.id).filter(known);
  if (columns.length > 0) extra.push(['columns', columns.join(',')]);
  return exportUrl(sessionId, tool, query, format, extra);
}
