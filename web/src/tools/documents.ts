// Documents are trees without a schema on this side. For a page that knows nothing of the tool, lists of flat objects in them
// are shown as tables and single values as facts.
import { cleanLabel } from './columns';
import type { Cell, Column, Json, Row, ToolTable } from './types';

const deepest = 4;
const mostTables = 24; // A document with more lists is better read as JSON.
const mostColumns = 40;

function isScalar(value: Json): value is Cell {
  return value === null || typeof value !== 'object';
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

// "totalBufferAllocationMib" -> "Total buffer allocation MiB"
export function wordsOf(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase().trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// The unit that a member's name ends with, as the rest of the console spells units.
export function unitOf(name: string): string {
  if (/(_|T|t)ime(Ps|_ps)$|_ps$|Ps$/.test(name)) return 'ps';
  if (/_us$|Us$/.test(name)) return 'us';
  if (/_ms$|Ms$/.test(name)) return 'ms';
  if (/mib$/i.test(name)) return 'MiB';
  if (/bytes$/i.test(name)) return 'bytes';
  if (/percent$|Pct$|_pct$/i.test(name)) return 'percent';
  return '';
}

function flatten(value: { readonly [key: string]: Json }, prefix: string, into: Map<string, Cell>): void {
  for (const [key, inner] of Object.entries(value)) {
    const name = prefix ? `${prefix}.${key}` : key;
    if (isScalar(inner)) into.set(name, inner);
    else if (isObject(inner) && prefix.split('.').length < 2) flatten(inner, name, into);
    else if (Array.isArray(inner) && inner.length <= 8 && inner.every(isScalar)) into.set(name, inner.map(String).join(', '));
  }
}

function tableOf(id: string, title: string, list: readonly Json[]): ToolTable | null {
  const flat = list.filter(isObject).map((one) => {
    const cells = new Map<string, Cell>();
    flatten(one, '', cells);
    return cells;
  });
  if (flat.length === 0) return null;
  const names = [...new Set(flat.flatMap((one) => [...one.keys()]))].slice(0, mostColumns);
  const columns: Column[] = names.map((name) => {
    const values = flat.map((one) => one.get(name) ?? null).filter((value) => value !== null);
    const numbers = values.length > 0 && values.every((value) => typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,18}$/.test(value)));
    const truths = values.length > 0 && values.every((value) => typeof value === 'boolean');
    return { id: name, label: cleanLabel(wordsOf(name.split('.').pop()!)), type: truths ? 'boolean' : numbers ? 'number' : 'string', unit: numbers ? unitOf(name) : '', description: '' };
  });
  const rows: Row[] = flat.map((one, index) => ({
    index, subject: null,
    cells: names.map((name, c) => {
      const value = one.get(name) ?? null;
      return columns[c]!.type === 'number' && typeof value === 'string' ? Number(value) : value;
    }),
  }));
  return { id, title, columns, rows, totalRows: rows.length, properties: {} };
}

export interface DocumentView {
  readonly facts: readonly (readonly [string, Cell, string])[]; // Name, value, unit.
  readonly tables: readonly ToolTable[];
}

export function viewDocument(document: Json): DocumentView {
  const facts: [string, Cell, string][] = [];
  const tables: ToolTable[] = [];
  const walk = (value: Json, path: readonly string[]) => {
    if (Array.isArray(value)) {
      if (tables.length >= mostTables || value.length === 0) return;
      const table = tableOf(path.join('.'), path.map(wordsOf).join(' / ') || 'Items', value as readonly Json[]);
      if (table) tables.push(table);
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (isScalar(inner)) facts.push([[...path, key].map(wordsOf).join(' / '), inner, unitOf(key)]);
        else if (path.length < deepest) walk(inner, [...path, key]);
      }
    }
  };
  walk(document, []);
  return { facts, tables };
}
