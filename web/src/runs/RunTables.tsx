// The smaller parts of a run: configuration, workers, events.
import { useDeferredValue } from 'react';
import { formatClock, formatDuration } from '../format/format';
import { replaceKeys, useUrlKey } from '../state/url';
import { Link } from '../ui/Link';
import { ErrorNotice } from '../ui/states';
import type { Resource } from '../ui/useResource';
import { configRows, lastPart, sessionAddress, timeOf, wordsOf } from './runs';
import type { Page, Run, RunEvent, RunSession, RunTarget } from './types';

export function RunConfigs({ run }: { run: Run }) {
  const q = useUrlKey('q') ?? '';
  const text = useDeferredValue(q).trim().toLowerCase();
  const all = configRows(run);
  const rows = text ? all.filter((row) => `${row.section} ${row.key} ${row.value}`.toLowerCase().includes(text)) : all;
  if (all.length === 0) return <div className="none">The job announced no configuration. The SDK sends it with the run; labels can be added by Edit.</div>;
  return (
    <div className="panel">
      <div className="run-find">
        <input className="input" type="search" value={q} placeholder="Find a setting" aria-label="Find a setting" spellCheck={false} onChange={(event) => replaceKeys({ q: event.target.value })} />
      </div>
      <table className="table" aria-label="Configuration">
        <colgroup>
          <col className="c-kind" />
          <col className="c-key" />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th>Part</th>
            <th>Setting</th>
            <th>Value</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.section}/${row.key}`}>
              <td className="text2">{row.section}</td>
              <td title={row.key}>{row.key}</td>
              <td className="mono" title={row.value}>
                {row.value}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <div className="none">No setting has {text} in it.</div>}
    </div>
  );
}

export function RunTargets({ targets }: { targets: Resource<Page<RunTarget>> }) {
  const rows = targets.value?.items ?? [];
  if (targets.error && !targets.error.lostConnection) return <ErrorNotice what="The workers could not be listed." error={targets.error} onRetry={targets.reload} />;
  if (targets.value && rows.length === 0) return <div className="none">No worker announced itself. The SDK does so when its on-demand profiler server starts.</div>;
  return (
    <div className="panel">
      <table className="table" aria-label="Workers">
        <thead>
          <tr>
            <th>Worker</th>
            <th>Host</th>
            <th className="number">Node</th>
            <th>Role</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((target) => (
            <tr key={target.name}>
              <td title={target.name}>{lastPart(target.name)}</td>
              <td className="mono">{target.hostname}</td>
              <td className="number">{target.nodeIndex ?? 0}</td>
              <td>{target.isMaster ? 'Master' : 'Worker'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function RunEvents({ events, sessions }: { events: Resource<Page<RunEvent>>; sessions: readonly RunSession[] }) {
  const rows = events.value?.items ?? [];
  if (events.error && !events.error.lostConnection) return <ErrorNotice what="The events could not be listed." error={events.error} onRetry={events.reload} />;
  if (events.value && rows.length === 0) return <div className="none">Nothing unusual was recorded for this run.</div>;
  return (
    <div className="panel">
      <table className="table" aria-label="Events">
        <thead>
          <tr>
            <th>Event</th>
            <th>Type</th>
            <th>Began</th>
            <th className="number">Lasted</th>
            <th>Analysis</th>
            <th>Profile</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((event) => (
            <EventRow key={event.name} event={event} sessions={sessions} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EventRow({ event, sessions }: { event: RunEvent; sessions: readonly RunSession[] }) {
  const began = timeOf(event.startTime);
  const ended = timeOf(event.endTime);
  const session = sessions.find((one) => one.name === event.profilerSession);
  const to = session ? sessionAddress(session) : null;
  const found = event.analyzerReports?.filter((report) => report.detectionState === 'DETECTED') ?? [];
  return (
    <tr>
      <td title={event.name}>{event.displayName || lastPart(event.name)}</td>
      <td>{wordsOf(event.type ?? '')}</td>
      <td>{formatClock(began)}</td>
      <td className="number">{began !== null && ended !== null ? formatDuration(ended - began) : 'goes on'}</td>
      <td className="text2" title={found.map((report) => report.details ?? '').join('\n')}>
        {found.length > 0 ? found.map((report) => report.analyzer ?? 'found').join(', ') : event.analyzerInsightFound ? 'found' : ''}
      </td>
      <td>{to ? <Link to={to}>{lastPart(event.profilerSession!)}</Link> : event.profilerSession ? lastPart(event.profilerSession) : ''}</td>
    </tr>
  );
}
