// The operations that cost most. Sorted by any column; the order and the filter are in the address.
import { useMemo, useRef } from 'react';
import type { Overview, TopOp } from '../api/types';
import { exactTime, formatCount, formatShare, inUnit, plural, timeUnit, unknown } from '../format/format';
import { PanelTableExport } from '../export/TableExport';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { navigate, sessionPath, useLocation } from '../state/router';
import { mergeSearch, pushKeys, replaceKeys, useUrlKey } from '../state/url';
import { findTool } from '../tools/catalog';
import { opKey } from '../tools/drawerKeys';
import { useToolSession } from '../tools/session';
import { categoryOf } from '../theme/tokens';
import { Icon } from '../ui/Icon';
import { plainClick } from '../ui/Link';
import { MiddleText } from '../ui/MiddleText';
import { SkeletonRows } from '../ui/states';
import { useRowCursor } from '../ui/useRowCursor';

export type SortKey = 'name' | 'category' | 'source' | 'self' | 'total' | 'share' | 'mean' | 'count';

const sortValue: Readonly<Record<SortKey, (op: TopOp) => number | string | null>> = {
  name: (op) => op.name,
  category: (op) => categoryOf(op.category).label,
  source: (op) => op.source,
  self: (op) => op.self_ps,
  total: (op) => op.total_ps,
  share: (op) => op.share,
  mean: (op) => (op.count > 0 ? op.total_ps / op.count : null),
  count: (op) => op.count,
};
const textKeys: readonly SortKey[] = ['name', 'category', 'source'];

export interface Sort {
  readonly key: SortKey;
  readonly descending: boolean;
}

export const defaultSort: Sort = { key: 'self', descending: true };

// "-self" is descending, "name" ascending.
export function parseSort(text: string | null): Sort {
  const descending = text?.startsWith('-') ?? false;
  const key = (descending ? text!.slice(1) : text) as SortKey | null;
  return key !== null && key in sortValue ? { key, descending } : defaultSort;
}

export function formatSort(sort: Sort): string | null {
  if (sort.key === defaultSort.key && sort.descending === defaultSort.descending) return null;
  return (sort.descending ? '-' : '') + sort.key;
}

// Unknown values come last in both directions.
export function sortOps(ops: readonly TopOp[], sort: Sort): TopOp[] {
  const value = sortValue[sort.key];
  const sign = sort.descending ? -1 : 1;
  return [...ops].sort((a, b) => {
    const x = value(a);
    const y = value(b);
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === 'string' || typeof y === 'string' ? String(x).localeCompare(String(y)) : x - y);
  });
}

export function filterOps(ops: readonly TopOp[], text: string): TopOp[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [...ops];
  return ops.filter((op) => [op.name, op.source ?? '', op.category ?? '', categoryOf(op.category).label].some((field) => field.toLowerCase().includes(wanted)));
}

const columns: readonly { key: SortKey; label: string; number: boolean; timed?: boolean }[] = [
  { key: 'name', label: 'Operation', number: false },
  { key: 'category', label: 'Category', number: false },
  { key: 'source', label: 'Source', number: false },
  { key: 'share', label: 'Share', number: true },
  { key: 'self', label: 'Self', number: true, timed: true },
  { key: 'total', label: 'Total', number: true, timed: true },
  { key: 'mean', label: 'Mean', number: true, timed: true },
  { key: 'count', label: 'Count', number: true },
];

export function TopOps({ sessionId, overview }: { sessionId: string; overview: Overview | null }) {
  const sort = parseSort(useUrlKey('sort'));
  const filter = useUrlKey('q') ?? '';
  const find = useRef<HTMLInputElement>(null);
  const all = overview?.top_ops ?? [];
  const { key: sortKey, descending } = sort;
  const ops = useMemo(() => sortOps(filterOps(all, filter), { key: sortKey, descending }), [all, filter, sortKey, descending]);
  const units = useMemo(
    () => {
      const self = timeUnit(Math.max(0, ...all.map((op) => op.self_ps ?? 0)));
      const mostTotal = Math.max(0, ...all.map((op) => op.total_ps));
      // The two columns are read against each other, so they share a unit as long as the figures stay short.
      const total = mostTotal < self.size * 10_000 && mostTotal >= self.size ? self : timeUnit(mostTotal);
      return { self, total, mean: timeUnit(Math.max(0, ...all.map((op) => (op.count > 0 ? op.total_ps / op.count : 0)))) };
    },
    [all],
  );
  const mostShare = Math.max(0, ...all.map((op) => op.share ?? 0));
  const { tools } = useToolSession();
  // Device ops have a drawer; of what the op stats do not know the longest event is shown on the timeline.
  const hasDrawer = overview?.top_ops_by === 'device' && tools !== null && (findTool(tools, 'hlo_stats')?.applies ?? false);
  const { search } = useLocation();
  const target = (op: TopOp) => (hasDrawer ? sessionPath(sessionId, 'overview', mergeSearch(search, { op: opKey('', op.name) })) : op.event ? sessionPath(sessionId, 'timeline', `?sel=${op.event}`) : null);
  const open = (op: TopOp | undefined) => {
    const to = op && target(op);
    if (to) navigate(to);
  };
  const cursor = useRowCursor(ops.length, (index) => open(ops[index]));
  useKeys({ 'app.find': () => find.current?.focus() });

  const toggle = (key: SortKey) => {
    const first = !textKeys.includes(key);
    pushKeys({ sort: formatSort({ key, descending: sortKey === key ? !descending : first }) });
  };

  return (
    <section className="panel topops">
      <header>
        <h2>Top operations</h2>
        <span className="muted">{overview?.top_ops_by === 'host' ? 'on the host, by self time' : overview?.top_ops_by === 'device' ? 'on devices' : ''}</span>
        <span className="aside">
          {overview && all.length > 0 && (filter ? `${formatCount(ops.length)} of ${formatCount(all.length)}` : all.length >= 100 ? 'the 100 heaviest' : plural(all.length, 'operation'))}
          <label className="filter">
            <input
              ref={find}
              className="input small"
              type="search"
              value={filter}
              placeholder={`Filter (${keyLabel('app.find')})`}
              aria-label="Filter operations"
              spellCheck={false}
              onChange={(event) => replaceKeys({ q: event.target.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' || event.key === 'ArrowDown') {
                  find.current?.blur();
                  cursor.setIndex(0);
                  event.preventDefault();
                  event.nativeEvent.stopImmediatePropagation();
                } else if (event.key === 'Escape') {
                  if (filter) replaceKeys({ q: null });
                  else find.current?.blur();
                  event.nativeEvent.stopImmediatePropagation();
                }
              }}
            />
          </label>
          {all.length > 0 && <PanelTableExport title="Top operations" />}
        </span>
      </header>
      {overview && all.length === 0 ? (
        <p className="panel-note">{overview.top_ops_reason ?? 'The profile holds no operation with a duration.'}</p>
      ) : (
        <table className={overview !== null && all.every((op) => op.source === null) ? 'table no-source' : 'table'} aria-label="Top operations">
          <colgroup>
            {columns.map((column) => (
              <col key={column.key} className={`c-${column.key}`} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {columns.map((column) => {
                const sorted = sortKey === column.key;
                const unit = column.timed ? `, ${units[column.key as 'self' | 'total' | 'mean'].name}` : '';
                return (
                  <th key={column.key} className={`c-${column.key}${column.number ? ' number' : ''}`} aria-sort={sorted ? (descending ? 'descending' : 'ascending') : 'none'}>
                    <button type="button" onClick={() => toggle(column.key)}>
                      {column.label}
                      {unit}
                      {sorted && <Icon name={descending ? 'down' : 'up'} />}
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody ref={cursor.bodyRef}>
            {!overview && <SkeletonRows rows={10} columns={[180, 90, 100, 60, 50, 50, 50, 40]} />}
            {ops.map((op, index) => (
              <OpRow key={op.name + index} op={op} units={units} mostShare={mostShare} current={index === cursor.index} to={target(op)} onPoint={() => cursor.setIndex(index)} />
            ))}
            {overview && ops.length === 0 && (
              <tr>
                <td colSpan={8} className="muted">
                  No operation has &quot;{filter}&quot; in its name, category or source line.
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface OpRowProps {
  op: TopOp;
  units: Record<'self' | 'total' | 'mean', ReturnType<typeof timeUnit>>;
  mostShare: number;
  current: boolean;
  to: string | null;
  onPoint: () => void;
}

function OpRow({ op, units, mostShare, current, to, onPoint }: OpRowProps) {
  const category = categoryOf(op.category);
  const mean = op.count > 0 ? op.total_ps / op.count : null;
  return (
    <tr
      className={`${to ? 'link' : ''}${current ? ' current' : ''}`}
      aria-selected={current}
      onClick={(event) => {
        if (event.defaultPrevented) return;
        onPoint();
        if (to && plainClick(event)) navigate(to);
      }}
    >
      <td className="c-name" title={op.name}>
        <span className="op-name">
          <span className={`swatch cat-${category.key}`} style={{ backgroundColor: `var(--cat-${category.key})`, borderColor: `var(--cat-${category.key}-edge)` }} aria-hidden="true" />
          <MiddleText text={op.name} to={to} />
        </span>
      </td>
      <td className="c-category text2" title={op.category ?? 'not known'}>
        {category.label}
      </td>
      <td className="c-source mono text2" title={op.source ?? 'The profile names no source line.'}>
        {op.source === null ? unknown : op.source.slice(op.source.lastIndexOf('/') + 1)}
      </td>
      <td className="number c-share">
        <span className="share-cell">
          <span className="share-bar" aria-hidden="true">
            {op.share !== null && mostShare > 0 && <span style={{ width: `${(op.share / mostShare) * 100}%` }} />}
          </span>
          {formatShare(op.share)}
        </span>
      </td>
      <td className="number c-self" title={exactTime(op.self_ps)}>
        {inUnit(op.self_ps, units.self)}
      </td>
      <td className="number c-total" title={exactTime(op.total_ps)}>
        {inUnit(op.total_ps, units.total)}
      </td>
      <td className="number c-mean" title={mean === null ? undefined : exactTime(Math.round(mean))}>
        {inUnit(mean, units.mean)}
      </td>
      <td className="number c-count">{formatCount(op.count)}</td>
    </tr>
  );
}
