// Reads tools and their answers from the wire (docs/api/v1.md, Tools) into the types of types.ts. Tolerant of fields that a
// newer server adds; what is missing becomes empty, never undefined.
import type { Cell, Column, ColumnType, HostScope, Json, Notice, OptionType, Row, Severity, Subject, ToolAnswer, ToolInfo, ToolOption, ToolTable } from './types';

export interface WireOption {
  name: string;
  type: OptionType;
  default?: string | null;
  choices?: string[];
  description?: string | null;
}

export interface WireTool {
  id: string;
  aliases?: string[];
  title: string;
  question?: string | null;
  version?: number;
  scope?: HostScope;
  listed?: boolean;
  options?: WireOption[];
  applies?: boolean;
  reason?: string | null;
  hint?: string | null;
}

export interface WireColumn {
  id: string;
  label?: string | null;
  type?: ColumnType;
  unit?: string | null;
  description?: string | null;
}

export type WireCell = Cell | { value: Cell; text: string };

export interface WireSubject {
  hlo_module_id?: string | null;
  op_name?: string | null;
  framework_op?: string | null;
  step?: number | null;
  host?: string | null;
}

export interface WireTable {
  id: string;
  title?: string | null;
  properties?: Record<string, string>;
  columns: WireColumn[];
  total_row_count?: number;
  row_count?: number;
  offset?: number;
  rows: WireCell[][];
  row_ids?: number[];
  subjects?: (WireSubject | null)[];
}

export interface WireAnswer {
  tool: string;
  partial?: boolean;
  notices?: { severity?: string; name?: string; message: string; hint?: string | null }[];
  tables?: WireTable[];
  document?: Json;
  text?: string | null;
  text_type?: string | null;
  text_bytes?: number;
}

export function readTool(wire: WireTool): ToolInfo {
  return {
    id: wire.id,
    aliases: wire.aliases ?? [],
    title: wire.title || wire.id,
    question: wire.question ?? '',
    version: wire.version ?? 1,
    options: (wire.options ?? []).map(readOption),
    scope: wire.scope ?? 'selection',
    listed: wire.listed ?? true,
    applies: wire.applies ?? true,
    reason: wire.reason ?? '',
    hint: wire.hint ?? '',
  };
}

function readOption(wire: WireOption): ToolOption {
  return { name: wire.name, type: wire.type, defaultValue: wire.default ?? '', choices: wire.choices ?? [], description: wire.description ?? '' };
}

// The registry says what a tool is, the session's list whether it has something to say about this session.
export function joinTools(registry: readonly WireTool[], session: readonly WireTool[] | null): ToolInfo[] {
  const ofSession = new Map((session ?? []).map((tool) => [tool.id, tool]));
  return registry.map((tool) => readTool({ ...tool, ...dropUndefined(ofSession.get(tool.id)) }));
}

function dropUndefined(tool: WireTool | undefined): Partial<WireTool> {
  return tool ? { applies: tool.applies, reason: tool.reason, hint: tool.hint } : {};
}

export function readColumn(wire: WireColumn): Column {
  return { id: wire.id, label: wire.label || wire.id, type: wire.type ?? 'string', unit: wire.unit ?? '', description: wire.description ?? '' };
}

function readCell(wire: WireCell): Cell {
  return wire !== null && typeof wire === 'object' ? wire.value : wire;
}

function hasText(wire: WireCell): wire is { value: Cell; text: string } {
  return wire !== null && typeof wire === 'object';
}

export function readSubject(wire: WireSubject | null | undefined): Subject | null {
  if (!wire) return null;
  const subject: Subject = {
    moduleId: wire.hlo_module_id && wire.hlo_module_id !== '0' ? String(wire.hlo_module_id) : '',
    opName: wire.op_name ?? '',
    frameworkOp: wire.framework_op ?? '',
    step: typeof wire.step === 'number' && wire.step >= 0 ? wire.step : null,
    host: wire.host ?? '',
  };
  return subject.moduleId || subject.opName || subject.frameworkOp || subject.step !== null || subject.host ? subject : null;
}

export function readTable(wire: WireTable): ToolTable {
  const offset = wire.offset ?? 0;
  const rows: Row[] = wire.rows.map((cells, i) => ({
    index: wire.row_ids?.[i] ?? offset + i,
    cells: cells.map(readCell),
    ...(cells.some(hasText) ? { texts: cells.map((cell) => (hasText(cell) ? cell.text : null)) } : {}),
    subject: readSubject(wire.subjects?.[i]),
  }));
  return {
    id: wire.id,
    title: wire.title || wire.id,
    columns: wire.columns.map(readColumn),
    rows,
    totalRows: wire.row_count ?? wire.total_row_count ?? rows.length,
    properties: wire.properties ?? {},
  };
}

function readNotice(wire: NonNullable<WireAnswer['notices']>[number]): Notice {
  const severity: Severity = wire.severity === 'error' || wire.severity === 'warning' ? wire.severity : 'info';
  return { severity, name: wire.name ?? '', message: wire.message, hint: wire.hint ?? '' };
}

export function readAnswer(wire: WireAnswer): ToolAnswer {
  return {
    tool: wire.tool,
    tables: (wire.tables ?? []).map(readTable),
    document: wire.document ?? null,
    text: wire.text ?? null,
    contentType: wire.text_type ?? '',
    notices: (wire.notices ?? []).map(readNotice),
    partial: wire.partial ?? false,
  };
}

// A further page of one table, appended to what is there.
export function appendRows(table: ToolTable, page: ToolTable): ToolTable {
  return { ...table, rows: [...table.rows, ...page.rows], totalRows: Math.max(table.totalRows, page.totalRows) };
}
