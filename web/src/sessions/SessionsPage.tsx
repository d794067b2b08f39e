// The list of sessions: newest first, searched on the server, fresh within two seconds of a change.
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { api, sessionsPath } from '../api/client';
import type { ServerConfig, SessionList, SessionSummary } from '../api/types';
import { exactBytes, formatAge, formatBytes, formatClock, formatCount, sessionLabel } from '../format/format';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { navigate, parseLegacyLink, sessionPath, useLocation } from '../state/router';
import { replaceKeys, setTitle, useUrlKey, useVisible } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link, plainClick } from '../ui/Link';
import { ErrorNotice, SkeletonRows, StateChip } from '../ui/states';
import { usePolled } from '../ui/useResource';
import { useRowCursor } from '../ui/useRowCursor';
import { DropZone } from './DropZone';
import { FirstProfile } from './FirstProfile';
import './sessions.css';

const pollMs = 1500; // With ETag: an unchanged list costs an empty 304.
const pageStep = 100;
const mostRows = 1000; // What one answer may hold; beyond that the search narrows.

export function SessionsPage({ config, onCount }: { config: ServerConfig | null; onCount: (count: number) => void }) {
  const q = useUrlKey('q') ?? '';
  const asked = useDeferredValue(q);
  const [rows, setRows] = useState(pageStep);
  const visible = useVisible();
  const list = usePolled<SessionList>(sessionsPath({ q: asked, page_size: rows }), visible ? pollMs : null);
  const sessions = list.value?.sessions ?? [];
  const total = list.value?.total ?? null;
  const search = useRef<HTMLInputElement>(null);
  const legacy = useLegacyRedirect();

  const open = (session: SessionSummary | undefined) => session && navigate(sessionPath(session.id, 'overview'));
  const cursor = useRowCursor(sessions.length, (index) => open(sessions[index]));
  useKeys({ 'app.find': () => search.current?.focus() });
  useEffect(() => setTitle('Sessions'), []);
  useEffect(() => {
    if (total !== null && asked === '') onCount(total);
  }, [total, asked, onCount]);

  const onSearchKey = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter') open(sessions[Math.max(0, cursor.index)]);
    else if (event.key === 'ArrowDown') {
      search.current?.blur();
      cursor.setIndex(0);
    } else if (event.key === 'Escape') {
      if (q) replaceKeys({ q: null });
      else search.current?.blur();
    } else return;
    event.preventDefault();
    event.nativeEvent.stopImmediatePropagation();
  };

  const nothing = total === 0 && asked === '' && q === '';
  return (
    <div className="page sessions" id="page" tabIndex={-1}>
      <div className="sessions-head">
        <h1>Sessions</h1>
        {total !== null && !nothing && <span className="muted">{asked ? `${formatCount(total)} found` : formatCount(total)}</span>}
        <label className="filter">
          <Icon name="search" />
          <input ref={search} className="input" type="search" value={q} placeholder="Run, session or host" aria-label="Search sessions" spellCheck={false} onChange={(event) => replaceKeys({ q: event.target.value })} onKeyDown={onSearchKey} />
          <span className="kbd">{keyLabel('app.find')}</span>
        </label>
        {config?.uploads_enabled && <DropZone />}
      </div>
      {legacy}
      {list.error && !list.error.lostConnection && <ErrorNotice what="The sessions could not be listed." error={list.error} onRetry={list.reload} />}
      {nothing ? (
        <FirstProfile config={config} />
      ) : (
        <div className="panel">
          <table className="table" aria-label="Sessions">
            <colgroup>
              <col className="c-run" />
              <col className="c-session" />
              <col className="c-state" />
              <col className="c-hosts" />
              <col className="c-size" />
              <col className="c-age" />
            </colgroup>
            <thead>
              <tr>
                <th>Run</th>
                <th>Session</th>
                <th>State</th>
                <th>Hosts</th>
                <th className="number">Size</th>
                <th className="number">Age</th>
              </tr>
            </thead>
            <tbody ref={cursor.bodyRef}>
              {list.value === null && !list.error && <SkeletonRows rows={12} columns={[180, 150, 80, 120, 60, 40]} />}
              {sessions.map((session, index) => (
                <SessionRow key={session.id} session={session} current={index === cursor.index} onPoint={() => cursor.setIndex(index)} onOpen={() => open(session)} />
              ))}
            </tbody>
          </table>
          {list.value !== null && sessions.length === 0 && (
            <div className="none">
              No session has <strong>{asked}</strong> in its run, name or hosts.{' '}
              <button type="button" className="button small" onClick={() => replaceKeys({ q: null })}>
                Clear the search
              </button>
            </div>
          )}
          {total !== null && sessions.length < total && (
            <div className="none">
              Showing {formatCount(sessions.length)} of {formatCount(total)}.{' '}
              {rows < mostRows ? (
                <button type="button" className="button small" onClick={() => setRows((n) => Math.min(mostRows, n * 3))}>
                  Show more
                </button>
              ) : (
                'Search to narrow the list.'
              )}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

interface RowProps {
  session: SessionSummary;
  current: boolean;
  onPoint: () => void;
  onOpen: () => void;
}

function SessionRow({ session, current, onPoint, onOpen }: RowProps) {
  const hosts = session.hosts.length > 0 ? session.hosts.join(', ') : 'none';
  return (
    <tr
      className={current ? 'link current' : 'link'}
      aria-selected={current}
      onClick={(event) => {
        if (event.defaultPrevented) return;
        onPoint();
        if (plainClick(event)) onOpen();
      }}
    >
      <td title={`${session.root}/${session.path}`}>{session.run || <span className="muted">(log directory)</span>}</td>
      <td title={session.name}>
        <Link to={sessionPath(session.id, 'overview')} className="session-name">
          {sessionLabel(session.name)}
        </Link>
      </td>
      <td>
        <StateChip state={session.state} reason={session.state_reason} />
      </td>
      <td title={hosts} className="text2">
        {session.host_count > 1 && <span className="host-count">{formatCount(session.host_count)}</span>}
        {hosts}
      </td>
      <td className="number" title={exactBytes(session.size_bytes)}>
        {formatBytes(session.size_bytes)}
      </td>
      <td className="number">
        <Age unixMs={session.modified_unix_ms} />
      </td>
    </tr>
  );
}

const ageStepMs = 10_000;

function Age({ unixMs }: { unixMs: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), ageStepMs);
    return () => clearInterval(timer);
  }, []);
  return <span title={formatClock(unixMs)}>{formatAge(unixMs, Math.max(now, unixMs))}</span>;
}

// XProf links name a run ("<run>/<session>"), not our id: look it up, then go to the matching tool.
function useLegacyRedirect() {
  const link = parseLegacyLink(useLocation());
  const run = link?.run ?? null;
  const tool = link?.tool ?? 'overview';
  const search = link?.search ?? '';
  const [missing, setMissing] = useState<string | null>(null);
  useEffect(() => {
    if (run === null) return;
    const abort = new AbortController();
    const name = run.split('/').pop() ?? run;
    api.sessions({ q: name, page_size: 1000 }, { signal: abort.signal }).then(
      (found) => {
        const match = found.sessions.find((one) => (one.run ? `${one.run}/${one.name}` : one.name) === run);
        if (match) navigate(sessionPath(match.id, tool, search), { replace: true });
        else setMissing(run);
      },
      () => undefined,
    );
    return () => abort.abort();
  }, [run, tool, search]);
  if (missing === null || missing !== run) return null;
  return (
    <div className="notice error" role="alert">
      <Icon name="damaged" />
      <div className="grow">
        The link asks for <code>{missing}</code>, which is not among the sessions below.
      </div>
    </div>
  );
}
