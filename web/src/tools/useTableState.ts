// What a table shows right now, from the address: sort, filters, text, columns. Writing goes back into the address.
import { useMemo } from 'react';
import { pushKeys, replaceKeys, useUrlKey } from '../state/url';
import { defaultColumns, presentColumns, type ShownColumn } from './columns';
import { type Filter, filterRows, formatFilters, formatSort, parseFilters, parseSort, type Sort, sortRows } from './rows';
import type { Row, ToolTable } from './types';

export interface TablePreset {
  readonly columns?: readonly string[]; // First sight, in this order, as far as they fit.
  readonly sort?: string; // As in the address.
}

export interface TableState {
  readonly shown: readonly ShownColumn[];
  readonly all: readonly ShownColumn[];
  readonly rows: readonly Row[];
  readonly sort: Sort | null;
  readonly filters: readonly Filter[];
  readonly text: string;
  readonly setSort: (column: ShownColumn) => void;
  readonly setFilters: (filters: readonly Filter[]) => void;
  readonly setText: (text: string) => void;
  readonly setColumns: (ids: readonly string[] | null) => void;
  readonly chosenColumns: boolean; // By the reader.
}

export function useTableState(table: ToolTable, widthPx: number, preset: TablePreset = {}): TableState {
  const sortKey = useUrlKey('sort') ?? preset.sort ?? null;
  const filterKey = useUrlKey('f');
  const text = useUrlKey('q') ?? '';
  const columnKey = useUrlKey('cols');
  const all = useMemo(() => presentColumns(table), [table]);
  const sort = useMemo(() => parseSort(sortKey), [sortKey]);
  const filters = useMemo(() => parseFilters(filterKey), [filterKey]);
  const preferred = preset.columns;
  const shown = useMemo(() => {
    const ids = columnKey ? columnKey.split(',') : defaultColumns(table, all, widthPx, preferred);
    const found = ids.flatMap((id) => all.filter((one) => one.column.id === id));
    return found.length > 0 ? found : all.slice(0, 6);
  }, [table, all, columnKey, widthPx, preferred]);
  const filtered = useMemo(() => filterRows(table, filters, text), [table, filters, text]);
  const rows = useMemo(() => {
    const column = sort ? table.columns.findIndex((one) => one.id === sort.column) : -1;
    // Differences are read by their size, whichever way they go.
    return sortRows(filtered, column, sort?.descending ?? false, /\.(absolute|relative)$/.test(sort?.column ?? ''));
  }, [filtered, sort, table]);

  return {
    shown, all, rows, sort, filters, text,
    chosenColumns: columnKey !== null,
    setSort: (column) => {
      const same = sort?.column === column.column.id;
      const descending = same ? !sort!.descending : column.kind !== 'text';
      const next = formatSort({ column: column.column.id, descending });
      pushKeys({ sort: next === (preset.sort ?? null) ? null : next });
    },
    setFilters: (next) => pushKeys({ f: formatFilters(next) }),
    setText: (next) => replaceKeys({ q: next }),
    setColumns: (ids) => pushKeys({ cols: ids ? ids.join(',') : null }),
  };
}
