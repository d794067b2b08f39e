// The tool routes of /api/v1. Large tables arrive in pages; readWhole fetches them all, so that the page sorts and filters
// by itself, and stops at mostRows (the server then still sorts and filters the rest).
import { apiUrl, type CallOptions, getJson, request } from '../api/client';
import { appendRows, joinTools, readAnswer, type WireAnswer, type WireCell, type WireColumn, type WireSubject, type WireTool } from './answer';
import type { ToolAnswer, ToolInfo } from './types';

export const rowsPerPage = 10_000; // The most the server gives at once.
export const mostRows = 200_000; // More than anyone reads; beyond it memory of the tab would grow without use.

export interface ToolQuery {
  readonly hosts?: string; // Comma separated; empty: all.
  readonly options?: Readonly<Record<string, string>>;
}

const reserved = new Set(['hosts', 'table', 'columns', 'sort', 'filter', 'q', 'offset', 'limit', 'format', 'as_xprof', 'keys', 'sessions', 'tool', 'order']);

export function toolSearch(query: ToolQuery, extra: readonly (readonly [string, string | number])[] = []): string {
  const parts: string[] = [];
  const add = (name: string, value: string | number) => parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  if (query.hosts) add('hosts', query.hosts);
  for (const [name, value] of Object.entries(query.options ?? {})) add(reserved.has(name) ? `option.${name}` : name, value);
  for (const [name, value] of extra) add(name, value);
  return parts.length > 0 ? '?' + parts.join('&') : '';
}

const base = (session: string, tool: string) => `/sessions/${encodeURIComponent(session)}/tools/${encodeURIComponent(tool)}`;

export async function listTools(session: string, options?: CallOptions): Promise<{ tools: ToolInfo[]; hosts: string[]; version: string }> {
  const [registry, own] = await Promise.all([
    getJson<{ tools: WireTool[] }>('/tools', options),
    getJson<{ version?: string; hosts?: string[]; tools: WireTool[] }>(`/sessions/${encodeURIComponent(session)}/tools`, options),
  ]);
  return { tools: joinTools(registry.tools, own.tools), hosts: own.hosts ?? [], version: own.version ?? '' };
}

export async function askTool(session: string, tool: string, query: ToolQuery, options?: CallOptions): Promise<ToolAnswer> {
  const first = readAnswer(await getJson<WireAnswer>(base(session, tool) + toolSearch(query, [['limit', rowsPerPage]]), options));
  const tables = [...first.tables];
  for (const [at, table] of first.tables.entries()) {
    let whole = table;
    while (whole.rows.length < Math.min(whole.totalRows, mostRows)) {
      const page = readAnswer(await getJson<WireAnswer>(base(session, tool) + toolSearch(query, [['table', table.id], ['offset', whole.rows.length], ['limit', rowsPerPage]]), options)).tables[0];
      if (!page || page.rows.length === 0) break;
      whole = appendRows(whole, page);
    }
    tables[at] = whole;
  }
  return { ...first, tables };
}

// A text by itself, however long.
export async function askText(session: string, tool: string, query: ToolQuery, options: CallOptions = {}): Promise<string> {
  const response = await request(base(session, tool) + toolSearch(query, [['format', 'raw']]), { signal: options.signal, cache: 'no-cache' });
  return response.text();
}

export function exportUrl(session: string, tool: string, query: ToolQuery, format: 'csv' | 'jsonl' | 'parquet' | 'json' | 'raw', extra: readonly (readonly [string, string | number])[]): string {
  return apiUrl(base(session, tool) + toolSearch(query, [...extra, ['format', format]]));
}

// ---- from a row to its events ------------------------------------------------------------------------------------------

export interface RowEvent {
  readonly event: string;
  readonly name: string;
  readonly start_ps: number;
  readonly duration_ps: number;
  readonly device_duration_ps?: number | null; // By the device's own account.
  readonly line: string;
}

export interface RowEvents {
  readonly total: number;
  readonly total_duration_ps: number;
  readonly total_device_duration_ps?: number | null;
  readonly row_time?: 'duration_ps' | 'device_duration_ps'; // Which of the two the row is summed from.
  readonly truncated: boolean;
  readonly reason: string | null;
  readonly events: readonly RowEvent[];
}

export function rowEvents(session: string, tool: string, query: ToolQuery, table: string, row: number, order: 'time' | 'duration', limit: number, options?: CallOptions): Promise<RowEvents> {
  return getJson<RowEvents>(`${base(session, tool)}/rows/${row}/events${toolSearch(query, [['table', table], ['order', order], ['limit', limit]])}`, options);
}

// How long an event ran, in the time that the row is summed from.
export function timeOfRow(found: RowEvents, one: RowEvent): number {
  return found.row_time === 'device_duration_ps' ? (one.device_duration_ps ?? one.duration_ps) : one.duration_ps;
}

export function totalOfRow(found: RowEvents): number {
  return found.row_time === 'device_duration_ps' ? (found.total_device_duration_ps ?? found.total_duration_ps) : found.total_duration_ps;
}

// ---- two sessions side by side -----------------------------------------------------------------------------------------

export interface WireComparison {
  tool: string;
  table: { id: string; title?: string };
  keys: string[];
  sessions: { session: string; run: string; name: string; partial?: boolean; notices?: { message: string }[] }[];
  key_columns: WireColumn[];
  columns: WireColumn[];
  total_row_count: number;
  row_count: number;
  rows: { key: WireCell[]; row_ids: (number | null)[]; subjects?: (WireSubject | null)[]; values: (number | null)[][]; absolute: (number | null)[][]; relative: (number | null)[][] }[];
}

// The first session is the one that the other is compared with.
export async function compareSessions(baseline: string, session: string, tool: string, table: string, query: ToolQuery, options?: CallOptions): Promise<WireComparison> {
  const ask = (offset: number) => getJson<WireComparison>('/compare' + toolSearch(query, [['sessions', `${baseline},${session}`], ['tool', tool], ['table', table], ['offset', offset], ['limit', rowsPerPage]]), options);
  const first = await ask(0);
  while (first.rows.length < Math.min(first.row_count, mostRows)) {
    const page = await ask(first.rows.length);
    if (page.rows.length === 0) break;
    first.rows.push(...page.rows);
  }
  return first;
}
