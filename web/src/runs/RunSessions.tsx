// The profiles of a run: a row opens in one action; what the scan of its storage says stands above.
import { PanelTableExport } from '../export/TableExport';
import { exactBytes, formatAge, formatBytes, formatClock, formatCount, sessionLabel } from '../format/format';
import { navigate } from '../state/router';
import { Icon } from '../ui/Icon';
import { Link, plainClick } from '../ui/Link';
import { ErrorNotice, SkeletonRows } from '../ui/states';
import type { Resource } from '../ui/useResource';
import { useRowCursor } from '../ui/useRowCursor';
import { captureState, completeness, hostCount, kindWord, lastPart, sessionAddress, timeOf } from './runs';
import { RunStateChip } from './RunStateChip';
import type { Page, Run, RunSession } from './types';

interface RunSessionsProps {
  sessions: Resource<Page<RunSession>>;
  run: Run | null;
  onScan: () => void;
}

export function RunSessions({ sessions, run, onScan }: RunSessionsProps) {
  const rows = sessions.value?.items ?? [];
  const open = (session: RunSession | undefined) => {
    const to = session && sessionAddress(session);
    if (to) navigate(to);
  };
  const cursor = useRowCursor(rows.length, (index) => open(rows[index]));
  return (
    <>
      <ScanLine run={run} onScan={onScan} />
      {sessions.error && !sessions.error.lostConnection && <ErrorNotice what="The profiles could not be listed." error={sessions.error} onRetry={sessions.reload} />}
      <div className="panel">
        <header>
          <h2>Profiles</h2>
          <span className="aside">{rows.length > 0 && <PanelTableExport title="Profiles" />}</span>
        </header>
        <table className="table" aria-label="Profiles">
          <colgroup>
            <col />
            <col className="c-kind" />
            <col className="c-state" />
            <col className="c-state" />
            <col className="c-hosts" />
            <col className="c-time" />
            <col className="c-age" />
          </colgroup>
          <thead>
            <tr>
              <th>Profile</th>
              <th>Kind</th>
              <th>State</th>
              <th>Completeness</th>
              <th>Hosts</th>
              <th className="number">Size</th>
              <th className="number">Age</th>
            </tr>
          </thead>
          <tbody ref={cursor.bodyRef}>
            {sessions.value === null && !sessions.error && <SkeletonRows rows={4} columns={[180, 90, 80, 80, 160, 60, 40]} />}
            {rows.map((session, index) => (
              <SessionRow key={session.name} session={session} current={index === cursor.index} onPoint={() => cursor.setIndex(index)} onOpen={() => open(session)} />
            ))}
          </tbody>
        </table>
        {sessions.value !== null && rows.length === 0 && <div className="none">No profile was found or announced yet. The list fills by itself.</div>}
        {sessions.value?.nextPageToken && <div className="none">The first {formatCount(rows.length)} are shown.</div>}
      </div>
    </>
  );
}

function SessionRow({ session, current, onPoint, onOpen }: { session: RunSession; current: boolean; onPoint: () => void; onOpen: () => void }) {
  const to = sessionAddress(session);
  const name = lastPart(session.name);
  const began = timeOf(session.startTime) ?? timeOf(session.createTime);
  const hosts = session.hosts ?? [];
  const judged = completeness(session);
  const size = session.sizeBytes === undefined ? null : Number(session.sizeBytes);
  return (
    <tr
      className={`${to ? 'link' : ''} ${current ? 'current' : ''}`}
      aria-selected={current}
      title={to ? undefined : 'This profile is not below a root of this server, so it cannot be opened here.'}
      onClick={(event) => {
        if (event.defaultPrevented) return;
        onPoint();
        if (plainClick(event)) onOpen();
      }}
    >
      <td title={session.storageFolderUri ?? name}>{to ? <Link to={to}>{sessionLabel(name)}</Link> : sessionLabel(name)}</td>
      <td>{kindWord(session.kind)}</td>
      <td>
        <RunStateChip state={captureState(session)} />
      </td>
      <td>{judged ? <RunStateChip state={judged} title={judgedTitle(session)} /> : <span className="muted" title="No file of it was found in the storage of the run yet">Nothing found</span>}</td>
      <td className="text2" title={hosts.join(', ')}>
        {hosts.length > 1 && <span className="host-count">{formatCount(hosts.length)}</span>}
        {hosts.join(', ')}
      </td>
      <td className="number" title={exactBytes(size)}>
        {formatBytes(size)}
      </td>
      <td className="number" title={formatClock(began)}>
        {formatAge(began, Math.max(Date.now(), began ?? 0))}
      </td>
    </tr>
  );
}

function judgedTitle(session: RunSession): string | undefined {
  const { received, expected } = hostCount(session);
  return expected !== null && received < expected ? `${received} of the ${expected} hosts that were to deliver did` : undefined;
}

function ScanLine({ run, onScan }: { run: Run | null; onScan: () => void }) {
  const path = run?.artifacts?.gcsPath;
  const scanned = timeOf(run?.storageScan?.scanTime);
  if (!run) return null;
  return (
    <div className={run.storageScan?.error ? 'notice error' : 'run-scan text2'}>
      {run.storageScan?.error ? <Icon name="damaged" /> : null}
      <div className="grow prose">
        {run.storageScan?.error ? (
          <>
            The storage of this run could not be looked into: {run.storageScan.error}
          </>
        ) : !path ? (
          'This run names no storage path, so nothing is looked for.'
        ) : scanned === null ? (
          <>
            <code>{path}</code> is about to be looked into.
          </>
        ) : (
          <>
            Looked into <code>{path}</code> {formatAge(scanned, Math.max(Date.now(), scanned))} ago.
          </>
        )}
      </div>
      {path && (
        <button type="button" className="button small" onClick={onScan}>
          <Icon name="reload" />
          Look now
        </button>
      )}
    </div>
  );
}
