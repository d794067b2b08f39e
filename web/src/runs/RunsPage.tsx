// The list of runs: searched, filtered and ordered on the server, fresh within two seconds of a change; 10,000 of them scroll, because
// only the rows in sight are in the page.
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useExportable } from '../export/registry';
import { PanelTableExport } from '../export/TableExport';
import { useMay, useMe } from '../access/me';
import { NoRole } from '../access/NoRole';
import { mayDo, projectsWith, signedIn } from '../access/rights';
import { api } from '../api/client';
import { formatCount, plural } from '../format/format';
import { keyHint, keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { DropZone } from '../sessions/DropZone';
import { navigate } from '../state/router';
import { pushKeys, replaceKeys, setTitle, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { usePages } from '../ui/pages';
import { ErrorNotice, LoadingOn, Select, SkeletonRows } from '../ui/states';
import { showToast } from '../ui/toasts';
import { useResource } from '../ui/useResource';
import { useOpenWhenAnswered } from '../ui/useOpenWhenAnswered';
import { useRowCursor } from '../ui/useRowCursor';
import { useVirtualRows } from '../ui/useVirtualRows';
import { defaultProject, runsApi } from './client';
import { runsTable } from './exportRuns';
import { compareAddress } from './compare';
import { useFigures } from './figures';
import { groupRuns, mostCompared, nextSort, orderBy, parseGrouping, parseSort, type SortField, sortText, toggleSelected } from './listModel';
import { CreateRunDialog } from './RunDialogs';
import { GroupRow, RunRow } from './RunRow';
import { SavedFilters } from './SavedFilters';
import { filterText, keyOf, runAddress } from './runs';
import type { Run } from './types';
import './runs.css';

const refreshMs = 1500;
const pageSize = 250;
const nearEnd = 100; // Rows from the last one at which the next page is asked for.
const dayMs = 86_400_000;
const clockStepMs = 5000;

const stateChoices = [
  { value: '', label: 'Every state' },
  { value: 'ACTIVE', label: 'Running' },
  { value: 'COMPLETED', label: 'Completed' },
  { value: 'FAILED', label: 'Failed' },
];
const sinceChoices = [
  { value: '', label: 'All time' },
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
];
const groupChoices = [
  { value: '', label: 'No grouping' },
  { value: 'group', label: 'By group' },
  { value: 'state', label: 'By state' },
];

export function RunsPage({ uploads = false }: { uploads?: boolean }) {
  const me = useMe();
  const asked = useUrlKey('project');
  // Who has no role in the usual project begins in one of their own.
  const usual = me === null || mayDo(me, 'view', defaultProject) ? defaultProject : (projectsWith(me, 'view')[0] ?? defaultProject);
  const project = asked ?? usual;
  const noRole = signedIn(me) && !mayDo(me, 'view');
  const q = useUrlKey('q') ?? '';
  const state = useUrlKey('state') ?? '';
  const group = useUrlKey('group') ?? '';
  const since = useUrlKey('since') ?? '';
  const sort = parseSort(useUrlKey('sort'));
  const grouping = parseGrouping(useUrlKey('by'));
  const sinceMs = useMemo(() => (Number(since) > 0 ? Date.now() - Number(since) * dayMs : null), [since]);
  const wanted = filterText({ text: q, state, group, sinceMs });
  const filter = useDeferredValue(wanted);
  const order = orderBy(sort, grouping);
  const mayEdit = useMay('edit', project);
  const mayUpload = useMay('edit');
  const [creating, setCreating] = useState(false);
  const nowMs = useClock();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<readonly string[]>([]);
  const search = useRef<HTMLInputElement>(null);
  const list = usePages<Run>(
    (me === null && asked === null) || noRole ? null : `runs/${project}/${filter}/${order}`,
    async (pageToken, signal) => {
      const page = await runsApi.list(project, { filter, orderBy: order, pageSize, pageToken }, { signal });
      return { items: page.items, next: page.nextPageToken };
    },
    (run) => run.name,
    { everyMs: refreshMs },
  );
  const runs = list.items;
  const items = useMemo(() => groupRuns(runs, grouping, folded), [runs, grouping, folded]);
  useEffect(() => setTitle('Runs'), []);
  useEffect(() => setSelected([]), [project]);

  const fold = useCallback(
    (key: string, on?: boolean) =>
      setFolded((old) => {
        const next = new Set(old);
        if (on ?? !old.has(key)) next.add(key);
        else next.delete(key);
        return next;
      }),
    [],
  );
  const open = (index: number) => {
    const item = items[index];
    if (item?.kind === 'group') fold(item.key);
    else if (item) navigate(runAddress(keyOf(item.run.name)));
  };
  const body = useRef<HTMLTableSectionElement>(null);
  const exportRef = useExportable<HTMLTableElement>(() => ({ kind: 'table', table: runsTable(runs) }));
  const sight = useVirtualRows(body, items.length);
  const cursor = useRowCursor(items.length, open, !creating, sight.reveal, { hasMore: list.hasMore, loading: list.loading, failed: list.error !== null, more: list.more, perScreen: sight.perScreen });
  const select = useCallback((name: string) => setSelected((old) => toggleSelected(old, name)), []);
  const compare = () => {
    if (selected.length < 2) {
      showToast({ tone: 'plain', icon: 'runs', text: `Select two to ${mostCompared} runs with ${keyLabel('list.select')} to compare them.` });
      return;
    }
    navigate(compareAddress(selected));
  };
  const enter = useOpenWhenAnswered(wanted, wanted === filter && list.known, () => open(Math.max(0, cursor.index)));
  const foldAt = (on: boolean) => {
    const item = items[cursor.index];
    if (item?.kind !== 'group') return false;
    fold(item.key, on);
    return true;
  };
  useKeys(
    {
      'app.find': () => search.current?.focus(),
      'list.select': () => {
        const item = items[cursor.index];
        if (item?.kind !== 'run') return false;
        select(item.run.name);
        return true;
      },
      'list.compare': compare,
      'list.fold': () => foldAt(true),
      'list.unfold': () => foldAt(false),
    },
    { active: !creating },
  );

  const figures = useFigures(items.slice(sight.first, sight.last).flatMap((item) => (item.kind === 'run' ? [item.run.name] : [])));

  // The next page leaves before the last row is reached.
  const { hasMore, loading, more } = list;
  useEffect(() => {
    if (hasMore && !loading && sight.last > items.length - nearEnd) more();
  }, [hasMore, loading, more, sight.last, items.length]);

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

  const filtered = filter !== '';
  const nothing = list.known && runs.length === 0 && !filtered;
  const failed = list.error && !list.error.lostConnection ? list.error : null;
  if (noRole) {
    return (
      <div className="page" id="page" tabIndex={-1}>
        <NoRole />
      </div>
    );
  }
  const head = (field: SortField, label: string, className = '') => (
    <th className={className} aria-sort={sort.field === field ? (sort.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => pushKeys({ sort: sortText(nextSort(sort, field)) })}>
        {label}
        {sort.field === field && <Icon name={sort.descending ? 'down' : 'up'} />}
      </button>
    </th>
  );
  return (
    <div className="page runs" id="page" tabIndex={-1}>
      <div className="runs-head">
        <h1>Runs</h1>
        {list.known && !nothing && (
          <span className="muted">
            {formatCount(runs.length)}
            {list.hasMore ? ' shown, there are more' : filtered ? ' found' : ''}
          </span>
        )}
        <LoadingOn cursor={cursor} loaded={runs.length} what="run" />
        <ProjectSwitch project={project} />
        <Select value={state} choices={stateChoices} label="State" onChange={(value) => replaceKeys({ state: value || null })} />
        <Select value={since} choices={sinceChoices} label="Begun" onChange={(value) => replaceKeys({ since: value || null })} />
        <Select value={grouping} choices={groupChoices} label="Grouping" onChange={(value) => replaceKeys({ by: value || null })} />
        <SavedFilters />
        <label className="filter">
          <Icon name="search" />
          <input ref={search} className="input" type="search" value={q} placeholder="Name, group or storage path" aria-label="Search runs" spellCheck={false} onChange={(event) => onWords(event.target.value)} onKeyDown={onSearchKey} />
          <span className="kbd">{keyLabel('app.find')}</span>
        </label>
        {runs.length > 0 && <PanelTableExport title="Runs" />}
        {uploads && mayUpload && <DropZone />}
        {mayEdit && (
          <button type="button" className="button" onClick={() => setCreating(true)}>
            Register a run
          </button>
        )}
      </div>
      {(group || selected.length > 0) && (
        <div className="runs-chips">
          {group && (
            <button type="button" className="chip removable" title="Show runs of every group" onClick={() => replaceKeys({ group: null })}>
              Group {group}
              <Icon name="close" />
            </button>
          )}
          {selected.length > 0 && (
            <>
              <span className="text2" role="status">
                {plural(selected.length, 'run')} selected{selected.length >= mostCompared ? ', the most that can be compared' : ''}
              </span>
              <button type="button" className="button small primary" disabled={selected.length < 2} onClick={compare} title={keyHint('list.compare')}>
                Compare
              </button>
              <button type="button" className="button small" onClick={() => setSelected([])}>
                Clear the selection
              </button>
            </>
          )}
        </div>
      )}
      {failed && <ErrorNotice what="The runs could not be listed." error={failed} onRetry={list.reload} />}
      {nothing ? (
        <FirstRun project={project} mayEdit={mayEdit} onCreate={() => setCreating(true)} />
      ) : (
        !(failed && runs.length === 0) && (
          <div className="panel">
            <table ref={exportRef} className="table" aria-label="Runs" aria-rowcount={items.length + 1}>
              <colgroup>
                <col className="c-select" />
                <col />
                <col className="c-group" />
                <col className="c-state" />
                <col className="c-step" />
                <col className="c-peak" />
                <col className="c-labels" />
                <col className="c-path" />
                <col className="c-time" />
                <col className="c-age" />
              </colgroup>
              <thead>
                <tr>
                  <th>
                    <span className="visually-hidden">Selected</span>
                  </th>
                  {head('name', 'Run')}
                  {head('group', 'Group')}
                  {head('state', 'State')}
                  <th className="number">Step</th>
                  <th className="number">Of peak</th>
                  <th className="labels">Labels</th>
                  <th>Storage</th>
                  <th className="number">Duration</th>
                  {head('age', 'Age', 'number')}
                </tr>
              </thead>
              <tbody ref={body}>
                {!list.known && !failed && <SkeletonRows rows={10} columns={[14, 180, 90, 80, 80, 40, 90, 160, 60, 40]} />}
                {sight.above > 0 && (
                  <tr className="blank" aria-hidden="true">
                    <td colSpan={10} style={{ height: sight.above }} />
                  </tr>
                )}
                {items.slice(sight.first, sight.last).map((item, i) => {
                  const index = sight.first + i;
                  const current = index === cursor.index;
                  if (item.kind === 'group') return <GroupRow key={`group/${item.key}`} item={item} current={current} onToggle={() => fold(item.key)} />;
                  return (
                    <RunRow
                      key={item.run.name}
                      run={item.run}
                      rowIndex={index + 2}
                      nowMs={nowMs}
                      figures={figures.get(item.run.name)}
                      current={current}
                      selected={selected.includes(item.run.name)}
                      onSelect={select}
                      onPoint={() => cursor.setIndex(index)}
                      onOpen={() => open(index)}
                    />
                  );
                })}
                {sight.below > 0 && (
                  <tr className="blank" aria-hidden="true">
                    <td colSpan={10} style={{ height: sight.below }} />
                  </tr>
                )}
              </tbody>
            </table>
            {list.known && runs.length === 0 && (
              <div className="none">
                No run of this project fits.{' '}
                <button type="button" className="button small" onClick={() => replaceKeys({ q: null, state: null, group: null, since: null })}>
                  Clear the filters
                </button>
              </div>
            )}
            {list.hasMore && <div className="none muted">{list.loading ? 'More runs come…' : `${formatCount(runs.length)} shown; scroll for more.`}</div>}
          </div>
        )
      )}
      {creating && <CreateRunDialog project={project} onClose={() => setCreating(false)} />}
    </div>
  );
}

// The time in steps: rows that show it are drawn anew with each.
function useClock(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), clockStepMs);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

function ProjectSwitch({ project }: { project: string }) {
  const projects = useResource('projects', (signal) => api.projects({ signal })).value?.projects ?? [];
  const all = projects.includes(project) ? projects : [project, ...projects];
  if (all.length < 2) return null;
  return <Select value={project} choices={all.map((one) => ({ value: one, label: one }))} label="Project" onChange={(value) => replaceKeys({ project: value })} />;
}

function FirstRun({ project, mayEdit, onCreate }: { project: string; mayEdit: boolean; onCreate: () => void }) {
  return (
    <div className="first-run">
      <h2>No run here yet</h2>
      <p className="text2">
        A run keeps a job&apos;s configuration, its profiles and what happened to it in one place. Project <code>{project}</code> has none.
      </p>
      <ul>
        <li>
          Start a job that uses the ML Diagnostics SDK with <code>DIAGON_BASE_URL={window.location.origin}</code>: its run appears here.
        </li>
        {mayEdit && (
          <li>
            <button type="button" className="button small" onClick={onCreate}>
              Register a run
            </button>{' '}
            for a directory that has profiles already.
          </li>
        )}
      </ul>
    </div>
  );
}
