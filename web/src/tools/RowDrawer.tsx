// The drawer on the right: everything about one op, whatever page it was opened from, or else the whole row of a table. Arrows walk
// the list behind it; Escape closes it.
import { useEffect, useRef } from 'react';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { pushKeys, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { copyText } from '../ui/toasts';
import type { ToolQuery } from './client';
import { presentColumns } from './columns';
import { parseOpKey, parseRowKey } from './drawerKeys';
import { FactList } from './Facts';
import { OpSections } from './OpSections';
import { RowEventsSection } from './RowEventsSection';
import type { Row, ToolAnswer, ToolInfo, ToolTable } from './types';

interface RowDrawerProps {
  tool: ToolInfo;
  query: ToolQuery;
  answer: ToolAnswer | null;
}

const opTools = new Set(['hlo_stats', 'roofline_model']);

export function closeDrawer(): void {
  pushKeys({ op: null, row: null });
}

export function RowDrawer({ tool, query, answer }: RowDrawerProps) {
  const op = parseOpKey(useUrlKey('op'));
  const rowAt = parseRowKey(useUrlKey('row'));
  const table = rowAt ? (answer?.tables.find((one) => one.id === rowAt.table) ?? null) : null;
  const row = table && rowAt ? (table.rows.find((one) => one.index === rowAt.row) ?? null) : null;
  const name = op?.name ?? (table && row ? rowName(table, row) : (rowAt ? `row ${rowAt.row}` : ''));
  // A row of another tool comes first with its own events; of ops the op comes first.
  const rowFirst = row !== null && !opTools.has(tool.id);
  const body = useRef<HTMLDivElement>(null);
  useKeys({ 'app.close': closeDrawer });
  useEffect(() => {
    body.current?.scrollTo({ top: 0 });
  }, [name]);
  return (
    <aside className="drawer" aria-label={`Details of ${name}`} data-testid="drawer">
      <header>
        <h2 className="mono truncate" title={name}>
          {name}
        </h2>
        <button type="button" className="button plain small square" aria-label="Copy the name" title="Copy the name" onClick={() => void copyText(name, 'Name')}>
          <Icon name="copy" />
        </button>
        <button type="button" className="button plain small square" aria-label="Copy a link to this view" title="Copy a link to this view" onClick={() => void copyText(window.location.href, 'Link')}>
          <Icon name="link" />
        </button>
        <button type="button" className="button plain small square" aria-label={`Close (${keyLabel('app.close')})`} title={`Close (${keyLabel('app.close')})`} onClick={closeDrawer}>
          <Icon name="close" />
        </button>
      </header>
      <div className="drawer-body" ref={body} tabIndex={0} role="region" aria-label={`Everything about ${name}`}>
        {rowFirst && table && row && <WholeRow tool={tool} query={query} table={table} row={row} withEvents />}
        {op && <OpSections key={`${op.moduleId}/${op.name}`} op={op} hosts={query.hosts ?? ''} fromTool={tool.id} beside={rowFirst} />}
        {!rowFirst && table && row && tool.id !== 'hlo_stats' && <WholeRow tool={tool} query={query} table={table} row={row} withEvents={!op} />}
        {!op && rowAt && answer && !row && <p className="muted">This answer has no row {rowAt.row}.</p>}
      </div>
    </aside>
  );
}

const nameColumns = /^(hlo_op_name|kernel_name|operation|op_name|opName|name|counter|rendezvous_name|request_id)$/i;

function rowName(table: ToolTable, row: Row): string {
  const named = table.columns.findIndex((column) => nameColumns.test(column.id));
  const index = named >= 0 ? named : table.columns.findIndex((column) => column.type === 'string');
  return index >= 0 ? String(row.cells[index] ?? '') : `row ${row.index}`;
}

function WholeRow({ tool, query, table, row, withEvents }: { tool: ToolInfo; query: ToolQuery; table: ToolTable; row: Row; withEvents: boolean }) {
  const shown = presentColumns(table);
  const long = shown.filter((one) => one.kind === 'text' && String(row.cells[one.index] ?? '').length > 44);
  const facts = shown.filter((one) => !long.includes(one)).map((one) => [one.unitName ? `${one.label}, ${one.unitName}` : one.label, one.format(row.cells[one.index] ?? null), ''] as const);
  return (
    <>
      <section>
        <h3>In {table.title}</h3>
        <FactList facts={facts} />
      </section>
      {long.map((one) => (
        <section key={one.column.id}>
          <h3>{one.label}</h3>
          <pre>{String(row.cells[one.index])}</pre>
        </section>
      ))}
      {withEvents && <RowEventsSection tool={tool.id} query={query} table={table.id} row={row.index} />}
    </>
  );
}
