// The smaller parts of a run: configuration, workers, events.
import { useDeferredValue } from 'react';
import { PanelTableExport } from '../export/TableExport';
import { formatClock, formatCount, formatDuration, plural } from '../format/format';
import { pushKeys, replaceKeys, useUrlKey } from '../state/url';
import { Link } from '../ui/Link';
import { ErrorNotice } from '../ui/states';
import type { Resource } from '../ui/useResource';
import { Icon } from '../ui/Icon';
import { showToast } from '../ui/toasts';
import { runsApi } from './client';
import { compareConfigs } from './compare';
import { configRows, lastPart, runTitle, sessionAddress, timeOf, wordsOf } from './runs';
import type { Page, Run, RunEvent, RunOperation, RunSession, RunTarget } from './types';

interface RunConfigsProps {
  run: Run;
  others: readonly Run[];
}

export function RunConfigs({ run, others }: RunConfigsProps) {
  const q = useUrlKey('q') ?? '';
  const text = useDeferredValue(q).trim().toLowerCase();
  const compared = others.length > 0;
  const diff = useUrlKey('diff');
  const onlyDifferences = compared && diff === '1';
  const all = compareConfigs([run, ...others].map(configRows));
  const different = all.filter((row) => row.differs).length;
  const rows = all.filter((row) => (!onlyDifferences || row.differs) && (!text || `${row.section} ${row.key} ${row.values.join(' ')}`.toLowerCase().includes(text)));
  if (all.length === 0) return <div className="none">The job announced no configuration. The SDK sends it with the run; labels can be added by Edit.</div>;
  return (
    <div className="panel">
      <div className="run-find">
        <input className="input" type="search" value={q} placeholder="Find a setting" aria-label="Find a setting" spellCheck={false} onChange={(event) => replaceKeys({ q: event.target.value })} />
        {compared && (
          <>
            <label className="check">
              <input type="checkbox" checked={onlyDifferences} onChange={(event) => pushKeys({ diff: event.target.checked ? '1' : null })} />
              <span>Only differences</span>
            </label>
            <span className="muted" role="status">
              {different === 0 ? 'The same in all runs' : `${plural(different, 'setting')} of ${formatCount(all.length)} ${different === 1 ? 'differs' : 'differ'}`}
            </span>
          </>
        )}
        <PanelTableExport title="Configuration" />
      </div>
      <div className="configs-view">
        <table className="table configs" aria-label="Configuration">
          <colgroup>
            <col className="c-part" />
            <col className="c-key" />
            {[run, ...others].map((one) => (
              <col key={one.name} />
            ))}
          </colgroup>
          <thead>
            <tr>
              <th>Part</th>
              <th>Setting</th>
              {compared ? (
                [run, ...others].map((one) => (
                  <th key={one.name} title={one.name}>
                    {runTitle(one)}
                  </th>
                ))
              ) : (
                <th>Value</th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.section}/${row.key}`} className={row.differs ? 'differs' : undefined}>
                <td className="text2">{row.section}</td>
                <td title={row.key}>{row.key}</td>
                {row.values.map((value, i) => (
                  <td key={i} className={i > 0 && value !== row.values[0] ? 'mono other' : 'mono'} title={value ?? 'not set'}>
                    {value ?? <span className="muted">{'\u2013'}</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <div className="none">{text ? `No setting has ${text} in it.` : 'No setting differs.'}</div>}
    </div>
  );
}

export function RunTargets({ targets }: { targets: Resource<Page<RunTarget>> }) {
  const rows = targets.value?.items ?? [];
  if (targets.error && !targets.error.lostConnection) return <ErrorNotice what="The workers could not be listed." error={targets.error} onRetry={targets.reload} />;
  if (targets.value && rows.length === 0) return <div className="none">No worker announced itself. The SDK does so when its on-demand profiler server starts.</div>;
  return (
    <div className="panel">
      <header>
        <h2>Workers</h2>
        <span className="aside">
          <PanelTableExport title="Workers" />
        </span>
      </header>
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
      <header>
        <h2>Events</h2>
        <span className="aside">
          <PanelTableExport title="Events" />
        </span>
      </header>
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

export function RunOperations({ operations, mayCancel }: { operations: Resource<Page<RunOperation>>; mayCancel: boolean }) {
  const rows = operations.value?.items ?? [];
  if (operations.error && !operations.error.lostConnection) return <ErrorNotice what="The operations could not be listed." error={operations.error} onRetry={operations.reload} />;
  if (operations.value && rows.length === 0) return <div className="none">Nothing was changed in this run lately. Operations are kept for 30 days.</div>;
  return (
    <div className="panel">
      <header>
        <h2>Operations</h2>
        <span className="aside">
          <PanelTableExport title="Operations" />
        </span>
      </header>
      <table className="table" aria-label="Operations">
        <colgroup>
          <col className="c-kind" />
          <col />
          <col className="c-state" />
          <col className="c-clock" />
          <col className="c-clock" />
        </colgroup>
        <thead>
          <tr>
            <th>What</th>
            <th>Of</th>
            <th>State</th>
            <th>Began</th>
            <th>Ended</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((operation) => (
            <OperationRow key={operation.name} operation={operation} onCancel={mayCancel ? operations.reload : null} />
          ))}
        </tbody>
      </table>
      {operations.value?.nextPageToken && <div className="none">The newest {formatCount(rows.length)} are shown.</div>}
    </div>
  );
}

function OperationRow({ operation, onCancel }: { operation: RunOperation; onCancel: (() => void) | null }) {
  const { verb, target, createTime, endTime, progress } = operation.metadata ?? {};
  const tone = !operation.done ? 'writing' : operation.error ? 'damaged' : 'complete';
  const cancel = () =>
    runsApi.cancel(operation.name).then(
      () => onCancel?.(),
      (error: Error) => showToast({ tone: 'bad', icon: 'damaged', text: `It was not cancelled. ${error.message}` }),
    );
  return (
    <tr>
      <td>{wordsOf(verb ?? '')}</td>
      <td className="mono" title={target}>
        {(target ?? '').split('/').slice(-2).join('/')}
      </td>
      <td title={operation.error?.message}>
        <span className={`chip ${tone}`}>
          <Icon name={tone} />
          {!operation.done ? (progress?.stage ? wordsOf(progress.stage) : 'Under way') : operation.error ? 'Failed' : 'Done'}
        </span>
      </td>
      <td>{formatClock(timeOf(createTime))}</td>
      <td>
        {operation.done ? (
          formatClock(timeOf(endTime))
        ) : onCancel ? (
          <button type="button" className="button small" onClick={() => void cancel()}>
            Cancel
          </button>
        ) : null}
      </td>
    </tr>
  );
}
