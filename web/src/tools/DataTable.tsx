// A table of any size: only the rows in sight are in the page. Sort, filter, text, columns and the opened row live in the
// address; j, k, Home, End, Enter work; Ctrl+C copies the current row when no text is selected.
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useExportable } from '../export/registry';
import { TableExport, type TableFormat } from '../export/TableExport';
import { useKeys } from '../keys/useKeys';
import { readKey } from '../state/url';
import { categoryOf } from '../theme/tokens';
import { Icon } from '../ui/Icon';
import { MiddleText } from '../ui/MiddleText';
import { useSize } from '../ui/useSize';
import { headerOf, isBar, naturalWidth, type ShownColumn } from './columns';
import { exportTableOf } from './exportTable';
import { isAdditive, sumRow } from './groupRows';
import { toTsv } from './rows';
import { TableBar } from './TableBar';
import type { Cell, Row, ToolTable } from './types';
import { type TablePreset, type TableState, useTableState } from './useTableState';
import './table.css';

const rowHeightPx = 28;
const spareRows = 10; // Drawn beyond the edges, so that a fast scroll shows no gap.
const narrowestTextPx = 110;
const monoColumn = /name|operation|op$|opName|expression|kernel|shape|source|path|dim$|instruction|Counter|Value/i;

export interface DataTableProps {
  table: ToolTable;
  preset?: TablePreset;
  serverFile?: ((format: TableFormat, state: TableState) => string | null) | undefined; // Address of the same rows as a file; null: the page makes it.
  note?: ReactNode; // Beside the count of rows.
  openRow?: number | null; // Row.index of the one whose drawer is open.
  onOpen?: (row: Row) => void;
  renderCell?: (column: ShownColumn, row: Row) => ReactNode | undefined; // Undefined: as usual.
  emptyText?: ReactNode;
  keyboard?: boolean; // One table a page listens to the keys.
}

export function DataTable(props: DataTableProps) {
  const { table, preset } = props;
  const [sizeRef, size] = useSize<HTMLDivElement>({ width: 960, height: 400 });
  const state = useTableState(table, size.width, preset);
  const whole = () => exportTableOf(table, state.shown, state.rows);
  const exportRef = useExportable<HTMLDivElement>(() => ({ kind: 'table', table: whole() }));
  const frame = useCallback(
    (element: HTMLDivElement | null) => {
      sizeRef(element);
      exportRef(element);
    },
    [sizeRef, exportRef],
  );
  const { serverFile } = props;
  return (
    <section className="panel data-panel" aria-label={table.title}>
      <TableBar table={table} state={state} exports={<TableExport table={whole} server={serverFile && ((format) => serverFile(format, state))} />} note={props.note} />
      <div className="data-view-frame" ref={frame}>
        <Grid {...props} state={state} width={size.width} height={size.height} />
      </div>
    </section>
  );
}

function widthsOf(table: ToolTable, shown: readonly ShownColumn[], available: number): number[] {
  const widths = shown.map((one) => naturalWidth(table, one));
  const total = widths.reduce((a, b) => a + b, 0);
  const texts = shown.map((one, i) => ({ i, text: one.kind === 'text' })).filter((one) => one.text);
  if (total < available) {
    const grow = texts.length > 0 ? texts : shown.map((_, i) => ({ i, text: false }));
    const weight = grow.reduce((sum, one) => sum + widths[one.i]!, 0);
    for (const one of grow) widths[one.i]! += ((available - total) * widths[one.i]!) / weight;
  } else {
    // Names give way first, the widest ones the most.
    let over = total - available;
    const slack = texts.reduce((sum, one) => sum + Math.max(0, widths[one.i]! - narrowestTextPx), 0);
    if (slack > 0) {
      const share = Math.min(1, over / slack);
      for (const one of texts) {
        const cut = Math.max(0, widths[one.i]! - narrowestTextPx) * share;
        widths[one.i]! -= cut;
        over -= cut;
      }
    }
  }
  return widths.map((width) => Math.floor(width));
}

type GridProps = DataTableProps & { state: TableState; width: number; height: number };

function Grid({ table, state, width, height, openRow, onOpen, renderCell, emptyText, keyboard = true }: GridProps) {
  const { shown, rows } = state;
  const viewport = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [cursor, setCursor] = useState(-1);
  const [focused, setFocused] = useState(false);
  const widths = useMemo(() => widthsOf(table, shown, width - 2), [table, shown, width]);
  const total = widths.reduce((a, b) => a + b, 0);
  const template = widths.map((one) => `${one}px`).join(' ');
  const bodyHeight = Math.max(height - 2 * rowHeightPx, rowHeightPx); // Less header and sums.
  const first = Math.max(0, Math.floor(top / rowHeightPx) - spareRows);
  const last = Math.min(rows.length, Math.ceil((top + bodyHeight) / rowHeightPx) + spareRows);

  // Another order or filter: the cursor stays with its row when that is still there, and the view goes back to the top.
  useEffect(() => {
    viewport.current?.scrollTo({ top: 0 });
    setTop(0);
    setCursor(-1);
  }, [rows]);
  const opened = openRow ?? null;
  useEffect(() => {
    if (opened === null) return;
    const at = rows.findIndex((row) => row.index === opened);
    if (at >= 0) {
      setCursor(at);
      reveal(at);
    }
  }, [opened, rows]);

  const reveal = (at: number) => {
    const view = viewport.current;
    if (!view) return;
    const from = at * rowHeightPx;
    if (from < view.scrollTop) view.scrollTop = from;
    else if (from + rowHeightPx > view.scrollTop + bodyHeight) view.scrollTop = from + rowHeightPx - bodyHeight;
  };
  const move = (to: number) => {
    if (rows.length === 0) return;
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setCursor(next);
    reveal(next);
    // With the drawer open the arrows walk the list behind it.
    if (opened !== null && onOpen) onOpen(rows[next]!);
  };
  useKeys(
    {
      'list.next': () => move(cursor + 1),
      'list.previous': () => move(cursor < 0 ? 0 : cursor - 1),
      'list.first': () => move(0),
      'list.last': () => move(rows.length - 1),
      'list.open': () => {
        const row = rows[cursor];
        if (!row || !onOpen) return false;
        onOpen(row);
        return true;
      },
    },
    { active: keyboard || focused }, // The table that has the focus comes first.
  );
  const onCopy = (event: React.ClipboardEvent) => {
    if (cursor < 0 || !window.getSelection()?.isCollapsed) return;
    event.clipboardData.setData('text/plain', toTsv(shown.map((one) => one.column.label), [shown.map((one) => rows[cursor]!.cells[one.index] ?? null)]));
    event.preventDefault();
  };
  const barMax = useMemo(() => {
    const bar = shown.find(isBar);
    return bar && bar.max > 0 ? bar : null;
  }, [shown]);

  const sums = useMemo(() => (rows.length > 1 && shown.some((one) => isAdditive(one.column)) ? sumRow(table, rows) : null), [table, rows, shown]);
  return (
    <div
      ref={viewport}
      className="data-view"
      role="table"
      aria-label={table.title}
      aria-rowcount={rows.length + 1}
      aria-colcount={shown.length}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onCopy={onCopy}
      onFocus={(event) => setFocused(event.target === event.currentTarget)}
      onBlur={() => setFocused(false)}
    >
      <div role="rowgroup" className="data-head" style={{ minWidth: total }}>
        <div role="row" aria-rowindex={1} className="data-row" style={{ gridTemplateColumns: template }}>
          {shown.map((one) => (
            <HeadCell key={one.column.id} shown={one} state={state} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className="data-body" style={{ height: rows.length * rowHeightPx, minWidth: total }}>
        {rows.slice(first, last).map((row, i) => {
          const at = first + i;
          return (
            <div
              key={row.index}
              role="row"
              aria-rowindex={at + 2}
              aria-selected={at === cursor}
              className={`data-row${at === cursor ? ' current' : ''}${onOpen ? ' link' : ''}`}
              style={{ gridTemplateColumns: template, transform: `translateY(${at * rowHeightPx}px)` }}
              onClick={() => {
                setCursor(at);
                if (window.getSelection()?.isCollapsed !== false) onOpen?.(row);
              }}
            >
              {shown.map((one) => (
                <div key={one.column.id} role="cell" className={`data-cell ${one.kind === 'text' ? 'text' : 'number'}`} title={cellTitle(one, row.cells[one.index] ?? null)}>
                  {renderCell?.(one, row) ?? (row.texts?.[one.index] ?? <CellContent shown={one} value={row.cells[one.index] ?? null} bar={one === barMax} />)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {sums && (
        <div role="rowgroup" className="data-foot" style={{ minWidth: total }}>
          <div role="row" aria-rowindex={rows.length + 2} className="data-row" style={{ gridTemplateColumns: template }}>
            {shown.map((one, i) => (
              <div key={one.column.id} role="cell" className={`data-cell ${one.kind === 'text' ? 'text' : 'number'}`} title={sums[one.index] === null ? undefined : `Sum of the rows above: ${one.exact(sums[one.index]!)}`}>
                {i === 0 ? <span className="muted">Sum</span> : sums[one.index] === null ? '' : one.format(sums[one.index]!)}
              </div>
            ))}
          </div>
        </div>
      )}
      {rows.length === 0 && (
        <p className="data-none muted">
          {table.rows.length === 0 ? (emptyText ?? 'This table has no rows.') : 'No row passes the filter.'}
          {table.rows.length > 0 && (
            <button type="button" className="button small" onClick={() => { state.setFilters([]); if (readKey('q')) state.setText(''); }}>
              Clear the filter
            </button>
          )}
        </p>
      )}
    </div>
  );
}

function HeadCell({ shown, state }: { shown: ShownColumn; state: TableState }) {
  const sorted = state.sort?.column === shown.column.id;
  const descending = sorted && state.sort!.descending;
  const header = headerOf(shown);
  return (
    <div role="columnheader" className={`data-cell ${shown.kind === 'text' ? 'text' : 'number'}`} aria-sort={sorted ? (descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" title={[shown.column.label, shown.column.description].filter(Boolean).join(': ')} onClick={() => state.setSort(shown)}>
        <span className="truncate">{header}</span>
        {sorted && <Icon name={descending ? 'down' : 'up'} />}
      </button>
    </div>
  );
}

function cellTitle(shown: ShownColumn, value: Cell): string | undefined {
  if (value === null || value === '') return 'not known';
  return shown.exact(value);
}

const categoryColumn = /^(category|hlo_category|type)$/;

export function CellContent({ shown, value, bar }: { shown: ShownColumn; value: Cell; bar: boolean }) {
  const text = shown.format(value);
  if (shown.kind === 'text') {
    if (typeof value === 'string' && value !== '' && categoryColumn.test(shown.column.id)) {
      const category = categoryOf(value);
      return (
        <span className="cell-category">
          <span className={`swatch cat-${category.key}`} style={{ backgroundColor: `var(--cat-${category.key})`, borderColor: `var(--cat-${category.key}-edge)` }} aria-hidden="true" />
          <span className="truncate">{value}</span>
        </span>
      );
    }
    if (value === null || value === '') return <span className="muted">{text}</span>;
    return monoColumn.test(shown.column.id) ? <MiddleText text={text.replace(/\s+/g, ' ')} /> : <span className="truncate">{text}</span>;
  }
  if (bar && typeof value === 'number') {
    return (
      <span className="cell-bar">
        <span className="track" aria-hidden="true">
          <span style={{ width: `${Math.max(0, Math.min(1, Math.abs(value) / shown.max)) * 100}%` }} />
        </span>
        <span>{text}</span>
      </span>
    );
  }
  return <>{text}</>;
}
