// The events behind a row: how their durations are spread, and the way to them on the timeline.
import { useMemo } from 'react';
import { Histogram } from '../charts/Histogram';
import { exactTime, formatCount, formatTime, plural } from '../format/format';
import { sessionPath } from '../state/router';
import { formatTimePs } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { Skeleton } from '../ui/states';
import { useResource } from '../ui/useResource';
import { rowEvents, timeOfRow, toolSearch, totalOfRow, type RowEvents, type ToolQuery } from './client';
import { once, useToolSession } from './session';

const mostEvents = 2000; // Enough for a spread; the exact count comes with the answer.
const longestShown = 5;

export function useRowEvents(tool: string, query: ToolQuery, table: string, row: number | null) {
  const session = useToolSession();
  const key = row !== null && session.ready ? `events/${session.sessionId}/${session.reloads}/${tool}/${table}/${row}${toolSearch(query)}` : null;
  return useResource<RowEvents>(key, (signal) => once(key!, signal, (inner) => rowEvents(session.sessionId, tool, query, table, row!, 'duration', mostEvents, { signal: inner })));
}

export function RowEventsSection({ tool, query, table, row }: { tool: string; query: ToolQuery; table: string; row: number }) {
  const { sessionId } = useToolSession();
  const found = useRowEvents(tool, query, table, row);
  const value = found.value;
  const durations = useMemo(() => value?.events.map((one) => timeOfRow(value, one)) ?? [], [value]);
  if (found.error) return found.error.lostConnection ? null : <section><h3>Runs</h3><p className="muted">{found.error.body.message}</p></section>;
  if (!value) return <section><h3>Runs</h3><Skeleton width="100%" height={56} /></section>;
  if (value.events.length === 0) return <section><h3>Runs</h3><p className="muted">{value.reason ?? 'No event of this row was found on the timeline.'}</p></section>;
  const first = value.events.reduce((a, b) => (a.start_ps <= b.start_ps ? a : b));
  const longest = value.events[0]!;
  return (
    <section>
      <h3>
        {plural(value.total, 'run')}
        {value.truncated && `, the ${formatCount(value.events.length)} longest read`}
      </h3>
      <p className="muted" title={exactTime(totalOfRow(value))}>
        {formatTime(totalOfRow(value))} in all
        {value.row_time === 'device_duration_ps' && `, by the device's own clock as in the row; the timeline draws ${formatTime(value.total_duration_ps)}`}
      </p>
      <Histogram values={durations} />
      <div className="drawer-links">
        <Link className="button small primary" to={sessionPath(sessionId, 'timeline', `?sel=${longest.event}`)}>
          <Icon name="timeline" />
          Longest on the timeline
        </Link>
        <Link className="button small" to={sessionPath(sessionId, 'timeline', `?sel=${first.event}`)}>
          First
        </Link>
      </div>
      <ul className="neighbour-list run-list">
        {value.events.slice(0, longestShown).map((one) => (
          <li key={one.event}>
            <Link to={sessionPath(sessionId, 'timeline', `?sel=${one.event}`)} title={exactTime(timeOfRow(value, one))}>
              {formatTime(timeOfRow(value, one))} <span className="muted">at {formatTimePs(Math.round(one.start_ps / 1e6) * 1e6).replace('us', ' µs').replace(/(?<=\d)(ms|s)$/, ' $1')}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
