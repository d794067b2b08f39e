// The one menu by which a table leaves the page: as CSV, JSON and Parquet with exact values, as Markdown for a chat with values as people
// read them. Files of a tool's own table come from the server, which holds every row; what only the page has is made here.
//
//   <TableExport table={() => exportTable} />                     a table whose rows the page holds
//   <TableExport table={...} server={(format) => address} />       the same rows by an address of the server
//   <PanelTableExport title="Hosts" />                            the <table> of the panel that the menu stands in
import { useRef } from 'react';
import { plural } from '../format/format';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { saveFile } from '../ui/saveFile';
import { copyLong, showToast } from '../ui/toasts';
import { tableOfElement } from './domTable';
import { exportableOf } from './registry';
import { csvOf, type ExportTable, fileName, jsonLinesOf, leftOut, markdownOf, mostRowsOfMarkdown } from './model';

export type TableFormat = 'csv' | 'jsonl' | 'parquet';

const formats: readonly (readonly [TableFormat, string])[] = [
  ['csv', 'CSV'],
  ['jsonl', 'JSON, one row a line'],
  ['parquet', 'Parquet'],
];

export async function saveTable(table: ExportTable, format: TableFormat): Promise<void> {
  const name = fileName(table.title, format);
  if (format === 'csv') saveFile(name, csvOf(table), 'text/csv');
  else if (format === 'jsonl') saveFile(name, jsonLinesOf(table), 'application/jsonl');
  else saveFile(name, (await import('./parquet')).parquetOf(table), 'application/vnd.apache.parquet');
}

export async function copyTable(table: ExportTable): Promise<void> {
  const shown = Math.min(mostRowsOfMarkdown, table.rows.length);
  await copyLong(`**${table.title}**\n\n${markdownOf(table)}\n\n${window.location.href}\n`, `${table.title}, ${plural(shown, 'row')} as Markdown`, fileName(table.title, 'md'));
}

interface TableExportProps {
  table: () => ExportTable;
  server?: ((format: TableFormat) => string | null) | undefined; // Null: the page makes it.
}

export function TableExport({ table, server }: TableExportProps) {
  const failed = (error: unknown) => showToast({ tone: 'bad', icon: 'damaged', text: `The file was not made: ${error instanceof Error ? error.message : String(error)}` });
  return (
    <Menu label="Export this table" className="button plain small" align="right" button={<>Export<Icon name="chevron" /></>}>
      {(close) => (
        <>
          {formats.map(([format, label]) => {
            const address = server?.(format) ?? null;
            return address !== null ? (
              <a key={format} className="menu-item" role="menuitem" href={address} download onClick={close}>
                {label}
              </a>
            ) : (
              <button
                key={format}
                type="button"
                className="menu-item"
                role="menuitem"
                onClick={() => {
                  close();
                  const whole = table();
                  const rest = leftOut(whole, whole.rows.length);
                  if (rest) showToast({ tone: 'plain', icon: 'partial', text: rest });
                  saveTable(whole, format).catch(failed);
                }}
              >
                {label}
              </button>
            );
          })}
          <button
            type="button"
            className="menu-item"
            role="menuitem"
            onClick={() => {
              close();
              void copyTable(table());
            }}
          >
            <Icon name="copy" />
            Copy as Markdown
          </button>
        </>
      )}
    </Menu>
  );
}

export function PanelTableExport({ title }: { title: string }) {
  const box = useRef<HTMLSpanElement>(null);
  const read = (): ExportTable => {
    const table = box.current?.closest('.panel, section, .page')?.querySelector('table');
    const whole = table ? exportableOf(table) : null;
    if (whole?.kind === 'table') return whole.table;
    return table ? tableOfElement(table, title) : { title, columns: [], rows: [] };
  };
  return (
    <span ref={box} className="export-menu" data-export="leave">
      <TableExport table={read} />
    </span>
  );
}
