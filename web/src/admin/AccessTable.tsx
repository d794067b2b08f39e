// One list of the administration: head with count, search and the way to make one; rows; and every state the list can be in.
import { type ReactNode, useRef } from 'react';
import { PanelTableExport } from '../export/TableExport';
import { formatAge, formatClock, formatCount } from '../format/format';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { timeOf } from '../runs/runs';
import { replaceKeys, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import type { Pages } from '../ui/pages';
import { ErrorNotice, SkeletonRows } from '../ui/states';

export interface AccessColumn<T> {
  readonly label: string;
  readonly width?: number | string;
  readonly number?: boolean;
  readonly cell: (item: T) => ReactNode;
  readonly title?: (item: T) => string | undefined;
}

interface AccessTableProps<T> {
  label: string; // Of the table: "Users"
  list: Pages<T>;
  columns: readonly AccessColumn<T>[];
  keyOf: (item: T) => string;
  dimmed?: (item: T) => boolean; // What has ended.
  empty: ReactNode; // Reason and next step.
}

export function AccessTable<T>({ label, list, columns, keyOf, dimmed, empty }: AccessTableProps<T>) {
  const failed = list.error && !list.error.lostConnection ? list.error : null;
  const refused = failed?.status === 403;
  return (
    <>
      {failed && !refused && <ErrorNotice what={`${label} could not be listed.`} error={failed} onRetry={list.reload} />}
      {refused && (
        <div className="notice" role="status">
          <Icon name="empty" />
          <div className="grow prose">
            <strong>This list is not for you.</strong> {failed.body.message}
            {failed.body.hint && <div className="text2">{failed.body.hint}</div>}
          </div>
        </div>
      )}
      {!(failed && list.items.length === 0) && (
        <div className="panel">
          {list.items.length > 0 && (
            <header>
              <span className="aside">
                <PanelTableExport title={label} />
              </span>
            </header>
          )}
          <table className="table" aria-label={label}>
            <colgroup>
              {columns.map((column) => (
                <col key={column.label} style={column.width === undefined ? undefined : { width: column.width }} />
              ))}
            </colgroup>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.label} className={column.number ? 'number' : undefined}>
                    {column.label || <span className="visually-hidden">Actions</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {!list.known && !failed && <SkeletonRows rows={6} columns={columns.map((_, i) => 90 + ((i * 37) % 80))} />}
              {list.items.map((item) => (
                <tr key={keyOf(item)} className={dimmed?.(item) ? 'ended' : undefined}>
                  {columns.map((column) => (
                    <td key={column.label} className={column.number ? 'number' : undefined} title={column.title?.(item)}>
                      {column.cell(item)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {list.known && list.items.length === 0 && <div className="none">{empty}</div>}
          {list.hasMore && (
            <div className="none">
              {formatCount(list.items.length)} shown.{' '}
              <button type="button" className="button small" disabled={list.loading} onClick={list.more}>
                Show more
              </button>
            </div>
          )}
        </div>
      )}
    </>
  );
}

interface AccessHeadProps {
  title: string;
  about: ReactNode;
  count: number | null;
  more?: boolean;
  find?: string; // Placeholder of the search; absent: none.
  children?: ReactNode; // Filters and the button that makes one.
}

export function AccessHead({ title, about, count, more = false, find, children }: AccessHeadProps) {
  return (
    <div className="admin-head">
      <div className="admin-line">
        <h2>{title}</h2>
        {count !== null && (
          <span className="muted">
            {formatCount(count)}
            {more ? ' shown' : ''}
          </span>
        )}
        <span className="grow" />
        {find && <FindBox placeholder={find} />}
        {children}
      </div>
      <p className="text2 prose">{about}</p>
    </div>
  );
}

function FindBox({ placeholder }: { placeholder: string }) {
  const q = useUrlKey('q') ?? '';
  const input = useRef<HTMLInputElement>(null);
  useKeys({ 'app.find': () => input.current?.focus() });
  return (
    <label className="filter">
      <Icon name="search" />
      <input
        ref={input}
        className="input"
        type="search"
        value={q}
        placeholder={placeholder}
        aria-label={placeholder}
        spellCheck={false}
        onChange={(event) => replaceKeys({ q: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          if (q) replaceKeys({ q: null });
          else input.current?.blur();
          event.nativeEvent.stopImmediatePropagation();
        }}
      />
      <span className="kbd">{keyLabel('app.find')}</span>
    </label>
  );
}

// "12 min ago", with the exact time behind it; a dash word for what never was.
export function When({ time, never = 'never' }: { time: string | null; never?: string }) {
  const at = timeOf(time ?? undefined);
  if (at === null) return <span className="muted">{never}</span>;
  const now = Date.now();
  const text = at > now ? formatAge(now, at) : formatAge(at, now);
  return <span title={formatClock(at)}>{text === 'now' ? 'now' : at > now ? `in ${text}` : `${text} ago`}</span>;
}

export function ended(item: { expire_time: string | null; revoke_time: string | null }, nowMs: number): 'revoked' | 'expired' | null {
  if (timeOf(item.revoke_time ?? undefined) !== null) return 'revoked';
  const end = timeOf(item.expire_time ?? undefined);
  return end !== null && end <= nowMs ? 'expired' : null;
}
