// The list of sessions: newest first, searched on the server, fresh within two seconds of a change.
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useMay, useMe } from '../access/me';
import { NoRole } from '../access/NoRole';
import { accessIsOn, mayDo, signedIn } from '../access/rights';
import { api } from '../api/client';
import type { ServerConfig, SessionSummary } from '../api/types';
import { useExportable } from '../export/registry';
import { PanelTableExport } from '../export/TableExport';
import { exactBytes, formatAge, formatBytes, formatClock, formatCount, plural, sessionLabel } from '../format/format';
import { keyHint, keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { navigate, parseLegacyLink, sessionPath, useLocation } from '../state/router';
import { pushKeys, replaceKeys, setTitle, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link, plainClick } from '../ui/Link';
import { ErrorNotice, LoadingOn, Select, SkeletonRows, StateChip } from '../ui/states';
import { showToast } from '../ui/toasts';
import { useOpenWhenAnswered } from '../ui/useOpenWhenAnswered';
import { useRowCursor } from '../ui/useRowCursor';
import { useVirtualRows } from '../ui/useVirtualRows';
import { DropZone } from './DropZone';
import { FirstProfile } from './FirstProfile';
import { sessionsTable } from './exportSessions';
import { arrange, nextSort, parseSort, type SortField, sortText, stateChoices } from './sessionOrder';
import { mostArranged, useSessionPages } from './sessionPages';
import './sessions.css';

const nearEnd = 60; // Rows from the last one at which the next page is asked for.

export function SessionsPage({ config, onCount }: { config: ServerConfig | null; onCount: (count: number) => void }) {
  const q = useUrlKey('q') ?? '';
  const asked = useDeferredValue(q);
  const state = useUrlKey('state') ?? '';
  const sort = parseSort(useUrlKey('sort'));
  // The server lists newest first; another order or a filter needs all that there are.
  const arranged = state !== '' || sort !== null;
  const [selected, setSelected] = useState<readonly string[]>([]);
  const mayUpload = useMay('edit');
  const me = useMe();
  const withProject = accessIsOn(me);
  const noRole = signedIn(me) && !mayDo(me, 'view');
  const list = useSessionPages(asked, arranged);
  const listed = list.items;
  const sessions = useMemo(() => arrange(listed, sort, state), [listed, sort?.field, sort?.descending, state]);
  const { total } = list;
  const search = useRef<HTMLInputElement>(null);
  const legacy = useLegacyRedirect();

  const open = (session: SessionSummary | undefined) => session && navigate(sessionPath(session.id, 'overview'));
  const body = useRef<HTMLTableSectionElement>(null);
  const exportRef = useExportable<HTMLTableElement>(() => ({ kind: 'table', table: sessionsTable(sessions, total ?? sessions.length) }));
  const sight = useVirtualRows(body, sessions.length);
  const { hasMore, loading, more } = list;
  const failed = list.error !== null;
  const cursor = useRowCursor(sessions.length, (index) => open(sessions[index]), true, sight.reveal, { hasMore, loading, failed, more, perScreen: sight.perScreen });
  // The next page leaves before the last row is reached; where an order needs all of them, at once.
  useEffect(() => {
    if (hasMore && !loading && !failed && (arranged ? listed.length < mostArranged : sight.last > sessions.length - nearEnd)) more();
  }, [hasMore, loading, failed, more, arranged, listed.length, sessions.length, sight.last]);
  const select = (id: string) => setSelected((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old.slice(-1), id]));
  // The older one is what the newer one is measured by.
  const compare = () => {
    const two = sessions.filter((one) => selected.includes(one.id)).sort((a, b) => b.modified_unix_ms - a.modified_unix_ms);
    if (two.length === 2) navigate(sessionPath(two[0]!.id, 'overview', `?b=${encodeURIComponent(two[1]!.id)}`));
    else showToast({ tone: 'plain', icon: 'sessions', text: `Select two sessions with ${keyLabel('list.select')} to compare them.` });
  };
  // What is shown while an answer is on its way belongs to other words.
  const enter = useOpenWhenAnswered(q, q === asked && list.answered, () => open(sessions[Math.max(0, cursor.index)]));
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
    if (total !== null && asked === '' && list.answered) onCount(total);
  }, [total, asked, list.answered, onCount]);

  // The row that was current is another one among other rows.
  const onWords = (words: string) => {
    cursor.setIndex(-1);
    replaceKeys({ q: words });
  };
  const onSearchKey = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter') enter.press();
    else if (event.key === 'ArrowDown') {
      search.current?.blur();
      cursor.setIndex(0);
    } else if (event.key === 'Escape') {
      enter.forget();
      if (q) replaceKeys({ q: null });
      else search.current?.blur();
    } else return;
    event.preventDefault();
    event.nativeEvent.stopImmediatePropagation();
  };

  const nothing = total === 0 && asked === '' && q === '' && list.answered && !state;
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
        <LoadingOn cursor={cursor} loaded={listed.length} what="session" />
        {!nothing && <Select value={state} choices={stateChoices} label="State" onChange={(value) => pushKeys({ state: value || null })} />}
        <label className="filter">
          <Icon name="search" />
          <input ref={search} className="input" type="search" value={q} placeholder="Run, session or host" aria-label="Search sessions" spellCheck={false} onChange={(event) => onWords(event.target.value)} onKeyDown={onSearchKey} />
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
          <table ref={exportRef} className="table" aria-label="Sessions" aria-rowcount={sessions.length + 1}>
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
            <tbody ref={body}>
              {!list.known && !list.error && <SkeletonRows rows={12} columns={[14, 180, 150, 80, ...(withProject ? [80] : []), 120, 60, 40]} />}
              <Blank height={sight.above} />
              {sessions.slice(sight.first, sight.last).map((session, i) => {
                const index = sight.first + i;
                return <SessionRow key={session.id} session={session} rowIndex={index + 2} withProject={withProject} selected={selected.includes(session.id)} onSelect={() => select(session.id)} current={index === cursor.index} onPoint={() => cursor.setIndex(index)} onOpen={() => open(session)} />;
              })}
              <Blank height={sight.below} />
            </tbody>
          </table>
          {list.known && sessions.length === 0 && !(arranged && hasMore) && (
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
          {hasMore && (
            <div className="none muted">
              {arranged ? `Of the newest ${formatCount(listed.length)} of ${formatCount(total)}.` : `Showing ${formatCount(sessions.length)} of ${formatCount(total)}.`}{' '}
              {arranged && listed.length >= mostArranged ? 'Search to narrow the list.' : loading ? 'More come…' : 'Scroll for more.'}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Blank({ height }: { height: number }) {
  if (height === 0) return null;
  return (
    <tr className="blank" aria-hidden="true">
      <td colSpan={8} style={{ height }} />
    </tr>
  );
}

interface RowProps {
  session: SessionSummary;
  rowIndex: number;
  withProject: boolean;
  selected: boolean;
  onSelect: () => void;
  current: boolean;
  onPoint: () => void;
  onOpen: () => void;
}

function SessionRow({ session, rowIndex, withProject, selected, onSelect, current, onPoint, onOpen }: RowProps) {
  const hosts = session.hosts.length > 0 ? session.hosts.join(', ') : 'none';
  return (
    <tr
      className={current ? 'link current' : 'link'}
      aria-selected={current}
      aria-rowindex={rowIndex}
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
