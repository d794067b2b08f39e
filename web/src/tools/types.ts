// What the console knows of tools and their answers, after answer.ts has read them from the wire.

export type OptionType = 'string' | 'boolean' | 'integer' | 'number';

export interface ToolOption {
  readonly name: string;
  readonly type: OptionType;
  readonly defaultValue: string;
  readonly choices: readonly string[]; // Empty: any value.
  readonly description: string;
}

// selection: any choice of hosts, combined; all_hosts: always all of them; one_host: exactly one.
export type HostScope = 'selection' | 'all_hosts' | 'one_host';

export interface ToolInfo {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly title: string;
  readonly question: string;
  readonly version: number;
  readonly options: readonly ToolOption[];
  readonly scope: HostScope;
  readonly listed: boolean;
  readonly applies: boolean;
  readonly reason: string; // Why it does not apply.
  readonly hint: string; // What would make it apply.
}

export type ColumnType = 'string' | 'number' | 'boolean';

export interface Column {
  readonly id: string;
  readonly label: string;
  readonly short?: string; // For a header that must fit.
  readonly type: ColumnType;
  readonly unit: string; // "us", "bytes", "percent", ...; empty: none.
  readonly description: string;
}

export type Cell = string | number | boolean | null;

// What a row is about: enough to find its events again.
export interface Subject {
  readonly moduleId: string; // A 64-bit id, so a decimal string; empty when none.
  readonly opName: string;
  readonly frameworkOp: string;
  readonly step: number | null;
  readonly host: string;
}

export interface Row {
  readonly index: number; // In the tool's own order: rows/{index}/events asks by it.
  readonly cells: readonly Cell[];
  readonly texts?: readonly (string | null)[]; // How the tool itself writes a cell, where it has a form of its own (0x1f).
  readonly subject: Subject | null;
}

export interface ToolTable {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly totalRows: number; // May be more than rows.length while pages are still on their way.
  readonly properties: Readonly<Record<string, string>>;
}

export type Severity = 'info' | 'warning' | 'error';

export interface Notice {
  readonly severity: Severity;
  readonly name: string;
  readonly message: string;
  readonly hint: string;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface ToolAnswer {
  readonly tool: string;
  readonly tables: readonly ToolTable[];
  readonly document: Json;
  readonly text: string | null;
  readonly contentType: string;
  readonly notices: readonly Notice[];
  readonly partial: boolean;
}

export function tableById(answer: ToolAnswer | null, ...ids: readonly string[]): ToolTable | null {
  return answer?.tables.find((table) => ids.includes(table.id)) ?? null;
}

export function columnIndex(table: ToolTable, id: string): number {
  return table.columns.findIndex((column) => column.id === id);
}

// Reads one column of a row; null when there is no such column.
export function cellOf(table: ToolTable, row: Row, id: string): Cell {
  const index = columnIndex(table, id);
  return index < 0 ? null : (row.cells[index] ?? null);
}

export function numberOf(table: ToolTable, row: Row, id: string): number | null {
  const value = cellOf(table, row, id);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function textOf(table: ToolTable, row: Row, id: string): string {
  const value = cellOf(table, row, id);
  return value === null ? '' : String(value);
}

// ---- documents: typed trees without a schema on this side ---------------------------------------------------------

export function member(value: Json | undefined, name: string): Json {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) return null;
  return (value as { readonly [key: string]: Json })[name] ?? null;
}

export function items(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

export function asNumber(value: Json | undefined): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value)) return Number(value);
  return null;
}

export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === null || value === undefined || typeof value === 'object' ? '' : String(value);
}
