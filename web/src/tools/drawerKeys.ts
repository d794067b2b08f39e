// How the drawer's subject stands in the address: row=<table>/<row id> is a row of this page's tool, op=<module id>/<name> an
// op of the session, which any page can show.
import type { Row, Subject, ToolTable } from './types';

export interface RowKey {
  readonly table: string;
  readonly row: number;
}

export function rowKey(table: string, row: number): string {
  return `${table}/${row}`;
}

export function parseRowKey(text: string | null): RowKey | null {
  const match = text === null ? null : /^(.*)\/(\d+)$/.exec(text);
  return match ? { table: match[1]!, row: Number(match[2]) } : null;
}

export interface OpKey {
  readonly moduleId: string; // Empty: any module.
  readonly name: string;
}

export function opKey(moduleId: string, name: string): string {
  return `${moduleId}/${name}`;
}

export function parseOpKey(text: string | null): OpKey | null {
  if (text === null) return null;
  const slash = text.indexOf('/');
  return slash < 0 ? { moduleId: '', name: text } : { moduleId: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function subjectKey(subject: Subject | null): string | null {
  return subject && subject.opName ? opKey(subject.moduleId, subject.opName) : null;
}

export function drawerKeys(table: ToolTable, row: Row): { row: string; op: string | null } {
  return { row: rowKey(table.id, row.index), op: subjectKey(row.subject) };
}
