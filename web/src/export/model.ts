// A table as it leaves the page, whatever drew it, and the texts it becomes.
//
//   const table = { title: 'Top operations', columns: [{ id: 'self_ps', label: 'Self, ms', type: 'number', format }], rows: [[1200]] };
//   csvOf(table)        ids of the columns, exact values       jsonLinesOf(table)  one object a row
//   markdownOf(table)   labels and values as people read them, at most mostRowsOfMarkdown rows and a sentence about the rest
import { formatCount, plural } from '../format/format';

export type Value = string | number | boolean | null;

export interface ExportColumn {
  readonly id: string;
  readonly label: string; // With its unit, as a header.
  readonly type: 'string' | 'number' | 'boolean';
  readonly whole?: boolean; // Counts, bytes and picoseconds: integers where every row is one.
  readonly format?: (value: Value) => string;
}

export interface ExportTable {
  readonly title: string;
  readonly columns: readonly ExportColumn[];
  readonly rows: readonly (readonly Value[])[];
  readonly texts?: readonly (readonly (string | null)[] | undefined)[]; // Cells that have a form of their own for people (0x1f).
  readonly totalRows?: number; // When the page does not hold all of them.
}

export const mostRowsOfMarkdown = 50; // More than a chat shows at once.
const longestCellOfMarkdown = 200; // Letters. HLO expressions have kilobytes.

export function csvOf(table: ExportTable): string {
  const lines = [table.columns.map((column) => csvField(column.id)).join(',')];
  for (const row of table.rows) lines.push(table.columns.map((_, i) => csvField(plain(row[i] ?? null))).join(','));
  return lines.join('\n') + '\n';
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function plain(value: Value): string {
  if (value === null || (typeof value === 'number' && Number.isNaN(value))) return '';
  if (value === Infinity) return 'inf';
  return value === -Infinity ? '-inf' : String(value);
}

export function jsonLinesOf(table: ExportTable): string {
  return table.rows.map((row) => JSON.stringify(Object.fromEntries(table.columns.map((column, i) => [column.id, row[i] ?? null]))) + '\n').join('');
}

// What a reader sees in the cell.
export function shownCell(table: ExportTable, row: number, column: number): string {
  const own = table.texts?.[row]?.[column];
  if (own !== undefined && own !== null) return own;
  const value = table.rows[row]![column] ?? null;
  const format = table.columns[column]!.format;
  return format ? format(value) : value === null ? '\u2013' : String(value);
}

export function markdownText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(/\\/g, '\\\\').replace(/\|/g, '\\|').replace(/</g, '\\<').replace(/`/g, '\\`');
}

export function markdownOf(table: ExportTable, most = mostRowsOfMarkdown): string {
  if (table.columns.length === 0) return '';
  const shown = Math.min(most, table.rows.length);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const lines = [line(table.columns.map((column) => markdownText(column.label) || ' ')), line(table.columns.map((column) => (column.type === 'number' ? '---:' : '---')))];
  for (let r = 0; r < shown; r++) {
    lines.push(line(table.columns.map((_, c) => markdownText(cut(shownCell(table, r, c))))));
  }
  const rest = leftOut(table, shown);
  return lines.join('\n') + (rest ? `\n\n${rest}` : '');
}

function cut(text: string): string {
  return text.length > longestCellOfMarkdown ? text.slice(0, longestCellOfMarkdown) + '\u2026' : text;
}

// "1,250 further rows are left out: the first 50 of 1,300 are here." Empty when none is.
export function leftOut(table: ExportTable, shown: number): string {
  const all = Math.max(table.totalRows ?? 0, table.rows.length);
  if (shown >= all) return '';
  return `${plural(all - shown, 'further row')} ${all - shown === 1 ? 'is' : 'are'} left out: the first ${formatCount(shown)} of ${formatCount(all)} are here.`;
}

// ---- names of files ------------------------------------------------------------------------------------------------------

// Letters that every file system and every shell takes.
function slug(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60);
}

export interface PageName {
  readonly page: string;
  readonly session: string; // Or whatever the page is about; empty for lists.
}

// The tab's title says where one is: "Overview - 2026-11-29 14:31:00 - llama/run1 - Strobe".
export function pageNameOf(title: string): PageName {
  const parts = title.split(' - ').slice(0, -1);
  return { page: parts[0] ?? '', session: parts[1] ?? '' };
}

export function fileNameOf(name: PageName, what: string, ending: string): string {
  const parts = [name.session, name.page, what === name.page ? '' : what].map(slug).filter(Boolean);
  return `${parts.join('_') || 'strobe'}.${ending}`;
}

export function fileName(what: string, ending: string): string {
  return fileNameOf(pageNameOf(document.title), what, ending);
}
