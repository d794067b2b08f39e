// The list of runs: newest first, searched and filtered on the server, fresh within two seconds of a change.
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { api } from '../api/client';
import { formatAge, formatClock, formatCount } from '../format/format';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { navigate } from '../state/router';
import { replaceKeys, setTitle, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link, plainClick } from '../ui/Link';
import { ErrorNotice, Select, SkeletonRows } from '../ui/states';
import { useResource } from '../ui/useResource';
import { useRowCursor } from '../ui/useRowCursor';
import { defaultProject, runsApi } from './client';
import { CreateRunDialog } from './RunDialogs';
import { filterText, keyOf, runAddress, runDuration, runState, runTitle, timeOf } from './runs';
import { RunStateChip } from './RunStateChip';
import type { Run } from './types';
import { useRefreshed } from './useRefreshed';
import './runs.css';

const refreshMs = 1500;
const pageStep = 100;
const mostRows = 1000; // What one answer may hold; beyond that the search narrows.

const stateChoices = [
  { value: '', label: 'Every state' },
  { value: 'ACTIVE', label: 'Running' },
  { value: 'COMPLETED', label: 'Completed' },
  { value: 'FAILED', label: 'Failed' },
];

export function RunsPage() {
  const project = useUrlKey('project') ?? defaultProject;
  const q = useUrlKey('q') ?? '';
  const state = useUrlKey('state') ?? '';
  const group = useUrlKey('group') ?? '';
  const filter = useDeferredValue(filterText({ text: q, state, group }));
  const [rows, setRows] = useState(pageStep);
  const [creating, setCreating] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const list = useRefreshed(
    `runs/${project}/${filter}/${rows}`,
    (signal) => runsApi.list(project, { filter, orderBy: 'create_time desc', pageSize: rows }, { signal }),
    refreshMs,
  );
  const runs = list.value?.items ?? [];
  const open = (run: Run | undefined) => run && navigate(runAddress(keyOf(run.name)));
  const cursor = useRowCursor(runs.length, (index) => open(runs[index]), !creating);
  useKeys({ 'app.find': () => search.current?.focus() });
  useEffect(() => setTitle('Runs'), []);

  const onSearchKey = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter') open(runs[Math.max(0, cursor.index)]);
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

  const filtered = filter !== '';
  const nothing = list.value !== null && runs.length === 0 && !filtered;
  return (
    <div className="page runs" id="page" tabIndex={-1}>
      <div className="runs-head">
        <h1>Runs</h1>
        {list.value !== null && !nothing && (
          <span className="muted">
            {formatCount(runs.length)}
            {list.value.nextPageToken ? ' shown, there are more' : filtered ? ' found' : ''}
          </span>
        )}
        <ProjectSwitch project={project} />
        <Select value={state} choices={stateChoices} label="State" onChange={(value) => replaceKeys({ state: value || null })} />
        {group && (
          <button type="button" className="chip removable" title="Show runs of every group" onClick={() => replaceKeys({ group: null })}>
            Group {group}
            <Icon name="close" />
          </button>
        )}
        <label className="filter">
          <Icon name="search" />
          <input ref={search} className="input" type="search" value={q} placeholder="Name, group or storage path" aria-label="Search runs" spellCheck={false} onChange={(event) => replaceKeys({ q: event.target.value })} onKeyDown={onSearchKey} />
          <span className="kbd">{keyLabel('app.find')}</span>
        </label>
        <button type="button" className="button" onClick={() => setCreating(true)}>
          Register a run
        </button>
      </div>
      {list.error && !list.error.lostConnection && <ErrorNotice what="The runs could not be listed." error={list.error} onRetry={list.reload} />}
      {nothing ? (
        <FirstRun project={project} onCreate={() => setCreating(true)} />
      ) : (
        <div className="panel">
          <table className="table" aria-label="Runs">
            <colgroup>
              <col />
              <col className="c-group" />
              <col className="c-state" />
              <col className="c-path" />
              <col className="c-time" />
              <col className="c-age" />
            </colgroup>
            <thead>
              <tr>
                <th>Run</th>
                <th>Group</th>
                <th>State</th>
                <th>Storage</th>
                <th className="number">Duration</th>
                <th className="number">Age</th>
              </tr>
            </thead>
            <tbody ref={cursor.bodyRef}>
              {list.value === null && !list.error && <SkeletonRows rows={10} columns={[180, 90, 80, 200, 60, 40]} />}
              {runs.map((run, index) => (
                <RunRow key={run.name} run={run} current={index === cursor.index} onPoint={() => cursor.setIndex(index)} onOpen={() => open(run)} />
              ))}
            </tbody>
          </table>
          {list.value !== null && runs.length === 0 && (
            <div className="none">
              No run of this project fits.{' '}
              <button type="button" className="button small" onClick={() => replaceKeys({ q: null, state: null, group: null })}>
                Clear the filters
              </button>
            </div>
          )}
          {list.value?.nextPageToken && (
            <div className="none">
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
      {creating && <CreateRunDialog project={project} onClose={() => setCreating(false)} />}
    </div>
  );
}

interface RowProps {
  run: Run;
  current: boolean;
  onPoint: () => void;
  onOpen: () => void;
}

function RunRow({ run, current, onPoint, onOpen }: RowProps) {
  const created = timeOf(run.createTime);
  const path = run.artifacts?.gcsPath ?? '';
  const group = run.runSet;
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
      <td title={run.name}>
        <Link to={runAddress(keyOf(run.name))} className="run-name">
          {runTitle(run)}
        </Link>
      </td>
      <td title={group}>
        {group && (
          <button
            type="button"
            className="button plain small group"
            title={`Only runs of ${group}`}
            onClick={(event) => {
              event.preventDefault();
              replaceKeys({ group });
            }}
          >
            {group}
          </button>
        )}
      </td>
      <td>
        <RunStateChip state={runState(run.state)} title={run.errorDetails} />
      </td>
      <td title={run.storageScan?.error ? `${path}: ${run.storageScan.error}` : path} className="text2">
        {run.storageScan?.error && <Icon name="damaged" className="bad" />}
        {path}
      </td>
      <td className="number">{runDuration(run, Date.now())}</td>
      <td className="number" title={formatClock(created)}>
        {formatAge(created, Math.max(Date.now(), created ?? 0))}
      </td>
    </tr>
  );
}

function ProjectSwitch({ project }: { project: string }) {
  const projects = useResource('projects', (signal) => api.projects({ signal })).value?.projects ?? [];
  const all = projects.includes(project) ? projects : [project, ...projects];
  if (all.length < 2) return null;
  return <Select value={project} choices={all.map((one) => ({ value: one, label: one }))} label="Project" onChange={(value) => replaceKeys({ project: value === defaultProject ? null : value })} />;
}

function FirstRun({ project, onCreate }: { project: string; onCreate: () => void }) {
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
        <li>
          <button type="button" className="button small" onClick={onCreate}>
            Register a run
          </button>{' '}
          for a directory that has profiles already.
        </li>
      </ul>
    </div>
  );
}
