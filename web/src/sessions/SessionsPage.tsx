// The list of sessions: newest first, searched on the server, fresh within two seconds of a change.
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useMay, useMe } from '../access/me';
import { NoRole } from '../access/NoRole';
import { accessIsOn, mayDo, signedIn } from '../access/rights';
import { api, sessionsPath } from '../api/client';
import type { ServerConfig, SessionList, SessionSummary } from '../api/types';
import { PanelTableExport } from '../export/TableExport';
import { exactBytes, formatAge, formatBytes, formatClock, formatCount, plural, sessionLabel } from '../format/format';
import { keyHint, keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { navigate, parseLegacyLink, sessionPath, useLocation } from '../state/router';
import { pushKeys, replaceKeys, setTitle, useUrlKey, useVisible } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link, plainClick } from '../ui/Link';
import { ErrorNotice, Select, SkeletonRows, StateChip } from '../ui/states';
import { showToast } from '../ui/toasts';
import { usePolled } from '../ui/useResource';
import { useRowCursor } from '../ui/useRowCursor';
import { DropZone } from './DropZone';
import { FirstProfile } from './FirstProfile';
import { arrange, nextSort, parseSort, type SortField, sortText, stateChoices } from './sessionOrder';
import './sessions.css';

const pollMs = 1500; // With ETag: an unchanged list costs an empty 304.
const pageStep = 100;
const mostRows = 1000; // What one answer may hold; beyond that the search narrows.

export function SessionsPage({ config, onCount }: { config: ServerConfig | null; onCount: (count: number) => void }) {
  const q = useUrlKey('q') ?? '';
  const asked = useDeferredValue(q);
  const [wanted, setWanted] = useState(pageStep);
  const state = useUrlKey('state') ?? '';
  const sort = parseSort(useUrlKey('sort'));
  // The server lists newest first; another order or a filter needs all that one answer may hold.
  const arranged = state !== '' || sort !== null;
  const rows = arranged ? mostRows : wanted;
  const [selected, setSelected] = useState<readonly string[]>([]);
  const mayUpload = useMay('edit');
  const me = useMe();
  const withProject = accessIsOn(me);
  const noRole = signedIn(me) && !mayDo(me, 'view');
  const visible = useVisible();
  const list = usePolled<SessionList>(sessionsPath({ q: asked, page_size: rows }), visible ? pollMs : null);
  const listed = list.value?.sessions;
  const sessions = useMemo(() => arrange(listed ?? [], sort, state), [listed, sort?.field, sort?.descending, state]);
  const total = list.value?.total ?? null;
  const search = useRef<HTMLInputElement>(null);
  const legacy = useLegacyRedirect();

  const open = (session: SessionSummary | undefined) => session && navigate(sessionPath(session.id, 'overview'));
  const cursor = useRowCursor(sessions.length, (index) => open(sessions[index]));
  const select = (id: string) => setSelected((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old.slice(-1), id]));
  // The older one is what the newer one is measured by.
  const compare = () => {
    const two = sessions.filter((one) => selected.includes(one.id)).sort((a, b) => b.modified_unix_ms - a.modified_unix_ms);
    if (two.length === 2) navigate(sessionPath(two[0]!.id, 'overview', `?b=${encodeURIComponent(two[1]!.id)}`));
    else showToast({ tone: 'plain', icon: 'sessions', text: `Select two sessions with ${keyLabel('list.select')} to compare them.` });
  };
  useKeys({
    'app.find': () => search.current?.focus(),
    'list.select': () => {
      const session = sessions[cursor.index];
      if (!session) return false;
      select(session.id);
      return true;
    },
    'list.compare': compare,
  });
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

  const nothing = total === 0 && asked === '' && q === '' && !state;
  const now = sort ?? { field: 'age' as const, descending: false };
  const head = (field: SortField, label: string, className = '') => (
    <th className={className} aria-sort={now.field === field ? (now.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => pushKeys({ sort: sortText(nextSort(now, field)) })}>
        {label}
        {now.field === field && <Icon name={now.descending ? 'down' : 'up'} />}
      </button>
    </th>
  );
  return (
    <div className="page sessions" id="page" tabIndex={-1}>
      <div className="sessions-head">
        <h1>Sessions</h1>
        {total !== null && !nothing && <span className="muted">{asked ? `${formatCount(total)} found` : formatCount(total)}</span>}
        {!nothing && <Select value={state} choices={stateChoices} label="State" onChange={(value) => pushKeys({ state: value || null })} />}
        <label className="filter">
          <Icon name="search" />
          <input ref={search} className="input" type="search" value={q} placeholder="Run, session or host" aria-label="Search sessions" spellCheck={false} onChange={(event) => replaceKeys({ q: event.target.value })} onKeyDown={onSearchKey} />
          <span className="kbd">{keyLabel('app.find')}</span>
        </label>
        {sessions.length > 0 && <PanelTableExport title="Sessions" />}
        {config?.uploads_enabled && mayUpload && <DropZone />}
      </div>
      {selected.length > 0 && (
        <div className="selected-line">
          <span className="text2" role="status">
            {plural(selected.length, 'session')} selected
          </span>
          <button type="button" className="button small primary" disabled={selected.length !== 2} onClick={compare} title={keyHint('list.compare')}>
            Compare
          </button>
          <button type="button" className="button small" onClick={() => setSelected([])}>
            Clear the selection
          </button>
        </div>
      )}
      {legacy}
      {list.error && !list.error.lostConnection && <ErrorNotice what="The sessions could not be listed." error={list.error} onRetry={list.reload} />}
      {nothing && noRole ? (
        <NoRole />
      ) : nothing ? (
        <FirstProfile config={config} />
      ) : (
        <div className="panel">
          <table className="table" aria-label="Sessions">
            <colgroup>
              <col className="c-select" />
              <col className="c-run" />
              <col className="c-session" />
              <col className="c-state" />
              {withProject && <col className="c-project" />}
              <col className="c-hosts" />
              <col className="c-size" />
              <col className="c-age" />
            </colgroup>
            <thead>
              <tr>
                <th>
                  <span className="visually-hidden">Selected</span>
                </th>
                {head('run', 'Run')}
                {head('name', 'Session')}
                {head('state', 'Completeness')}
                {withProject && <th>Project</th>}
                {head('hosts', 'Hosts')}
                {head('size', 'Size', 'number')}
                {head('age', 'Age', 'number')}
              </tr>
            </thead>
            <tbody ref={cursor.bodyRef}>
              {list.value === null && !list.error && <SkeletonRows rows={12} columns={[14, 180, 150, 80, ...(withProject ? [80] : []), 120, 60, 40]} />}
              {sessions.map((session, index) => (
                <SessionRow key={session.id} session={session} withProject={withProject} selected={selected.includes(session.id)} onSelect={() => select(session.id)} current={index === cursor.index} onPoint={() => cursor.setIndex(index)} onOpen={() => open(session)} />
              ))}
            </tbody>
          </table>
          {list.value !== null && sessions.length === 0 && (
            <div className="none">
              {asked && !state ? (
                <>
                  No session has <strong>{asked}</strong> in its run, name or hosts.
                </>
              ) : (
                'No session fits.'
              )}{' '}
              <button type="button" className="button small" onClick={() => replaceKeys({ q: null, state: null })}>
                {state ? 'Clear the filters' : 'Clear the search'}
              </button>
            </div>
          )}
          {total !== null && listed && listed.length < total && (
            <div className="none">
              {arranged ? `Of the newest ${formatCount(listed.length)} of ${formatCount(total)}.` : `Showing ${formatCount(sessions.length)} of ${formatCount(total)}.`}{' '}
              {rows < mostRows ? (
                <button type="button" className="button small" onClick={() => setWanted((n) => Math.min(mostRows, n * 3))}>
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
  withProject: boolean;
  selected: boolean;
  onSelect: () => void;
  current: boolean;
  onPoint: () => void;
  onOpen: () => void;
}

function SessionRow({ session, withProject, selected, onSelect, current, onPoint, onOpen }: RowProps) {
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
      <td className="pick" onClick={(event) => event.stopPropagation()}>
        <input type="checkbox" checked={selected} aria-label={`Select ${sessionLabel(session.name)} of ${session.run}`} title={keyHint('list.select')} onChange={onSelect} />
      </td>
      <td title={`${session.root}/${session.path}`}>{session.run || <span className="muted">(log directory)</span>}</td>
      <td title={session.name}>
        <Link to={sessionPath(session.id, 'overview')} className="session-name">
          {sessionLabel(session.name)}
        </Link>
      </td>
      <td>
        <StateChip state={session.state} reason={session.state_reason} />
      </td>
      {withProject && <td className="text2">{session.project}</td>}
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
