// A tool's table with everything around it: the comparison when a baseline is chosen, files to take away, the drawer of a row.
import { type ReactNode, useMemo } from 'react';
import { formatCount, formatShare } from '../format/format';
import { pushKeys, replaceKeys, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { ErrorNotice } from '../ui/states';
import type { ToolQuery } from './client';
import { type Comparison, deltaWord, readComparison, waterfallOf } from './compare';
import { presentColumn } from './columns';
import type { ShownColumn } from './columns';
import { DataTable, type DataTableProps } from './DataTable';
import { drawerKeys, parseOpKey, parseRowKey, subjectKey } from './drawerKeys';
import { serverFile } from './exportTable';
import { useComparison, useToolSession } from './session';
import type { Cell, Row, ToolTable } from './types';
import type { TablePreset } from './useTableState';

interface ToolTableViewProps {
  tool: string;
  query: ToolQuery;
  table: ToolTable;
  preset?: TablePreset;
  note?: ReactNode;
  emptyText?: ReactNode;
  keyboard?: boolean;
  renderCell?: DataTableProps['renderCell'];
  pageRows?: boolean; // The page left rows out that the server has.
}

export function ToolTableView({ tool, query, table, preset, note, emptyText, keyboard, renderCell, pageRows = false }: ToolTableViewProps) {
  const { sessionId } = useToolSession();
  const baseline = useUrlKey('b');
  const opened = parseRowKey(useUrlKey('row'));
  const op = useUrlKey('op');
  const comparison = useComparison(baseline, tool, table.rows.length > 0 || baseline ? table.id : null, query);
  const merged = useMemo(() => (comparison.value ? readComparison(comparison.value) : null), [comparison.value]);
  const comparePreset = useMemo(() => (merged ? { columns: merged.preferred, sort: merged.sort } : undefined), [merged]);
  // An op that was opened from another page is marked in this list too, so that the arrows go on from it.
  const openRow = useMemo(() => {
    if (opened) return opened.table === table.id ? opened.row : null;
    const wanted = parseOpKey(op);
    if (!wanted) return null;
    return (table.rows.find((row) => subjectKey(row.subject) === op) ?? table.rows.find((row) => row.subject?.opName === wanted.name))?.index ?? null;
  }, [opened?.table, opened?.row, op, table]);
  const open = (row: Row) => {
    const keys = drawerKeys(table, row);
    if (opened || op) replaceKeys(keys);
    else pushKeys(keys);
  };
  if (baseline && merged) {
    return (
      <>
      <Difference comparison={merged} />
      <DataTable
        table={merged.table}
        preset={comparePreset}
        keyboard={keyboard}
        emptyText={emptyText}
        renderCell={renderDelta}
        note={
          <span className="nowrap">
            {formatCount(merged.matched)} matched, {formatCount(merged.onlyHere)} new, {formatCount(merged.onlyBaseline)} gone
          </span>
        }
      />
      </>
    );
  }
  return (
    <>
      {baseline && comparison.error && !comparison.error.lostConnection && <ErrorNotice what="The comparison could not be made." error={comparison.error} onRetry={comparison.reload} />}
      <DataTable
        table={table}
        preset={preset}
        note={baseline && comparison.loading ? <span>comparing…</span> : note}
        keyboard={keyboard}
        emptyText={emptyText}
        renderCell={renderCell}
        openRow={openRow}
        onOpen={open}
        serverFile={pageRows ? undefined : (format, state) => serverFile(sessionId, tool, query, table, state, format)}
      />
    </>
  );
}

// The difference of the totals and what it is made of.
function Difference({ comparison }: { comparison: Comparison }) {
  const fall = useMemo(() => waterfallOf(comparison), [comparison]);
  if (!fall || fall.before === 0) return null;
  const at = comparison.table.columns.findIndex((column) => column.id === comparison.main);
  const shown = presentColumn(comparison.table, at);
  const delta = fall.after - fall.before;
  const most = Math.max(...fall.steps.map((step) => Math.abs(step.value)), Number.MIN_VALUE);
  const signed = (value: number) => `${value > 0 ? '+' : ''}${shown.format(value)} ${shown.unitName}`;
  return (
    <section className="panel difference" aria-label="Where the difference comes from">
      <p>
        <strong>{shown.label}</strong> {shown.format(fall.after)} {shown.unitName} against {shown.format(fall.before)} {shown.unitName}:{' '}
        <span className={`delta ${delta > 0 ? 'worse' : delta < 0 ? 'better' : ''}`}>
          {delta !== 0 && <Icon name={delta > 0 ? 'up' : 'down'} />}
          {delta === 0 ? 'no difference' : `${signed(delta)} (${formatShare(delta / fall.before)}) ${delta > 0 ? 'worse' : 'better'}`}
        </span>
        {fall.steps.length > 0 && <span className="muted"> made of</span>}
      </p>
      <ul>
        {fall.steps.map((step) => (
          <li key={step.name}>
            <span className="mono truncate" title={step.name}>{step.name}</span>
            <span className="difference-track" aria-hidden="true">
              <span className={step.value > 0 ? 'up' : 'down'} style={{ width: `${(Math.abs(step.value) / most) * 50}%` }} />
            </span>
            <span className={`number ${step.value > 0 ? 'bad' : 'good'}`}>{signed(step.value)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function renderDelta(column: ShownColumn, row: Row): ReactNode | undefined {
  const word = deltaWord(column, row.cells[column.index] ?? (null as Cell));
  if (!word) return undefined;
  if (word.direction === 'same') return <span className="muted">{word.text}</span>;
  return (
    <span className={`delta ${word.direction}`} aria-label={`${word.text} ${word.direction === 'neutral' ? '' : word.direction}`}>
      {word.direction !== 'neutral' && <Icon name={word.up ? 'up' : 'down'} />}
      {word.text}
    </span>
  );
}
