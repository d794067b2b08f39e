// One run: what it is, its profiles, configuration, workers and events.
import { lazy, Suspense, useEffect, useState } from 'react';
import { useContact, useMay, useMe } from '../access/me';
import { accessIsOn, quoted } from '../access/rights';
import { formatAge, formatClock, formatCount } from '../format/format';
import { setTitle, pushKeys, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { ErrorNotice, Skeleton } from '../ui/states';
import { useResource } from '../ui/useResource';
import { runsApi, type RunKey } from './client';
import { CompareBar, type OtherRun } from './CompareBar';
import { mostCompared } from './listModel';
import { RunCaptureDialog } from './RunCaptureDialog';
import { DeleteRunDialog, EditRunDialog } from './RunDialogs';
import { RunConfigs, RunEvents, RunOperations, RunTargets } from './RunTables';
import { RunSessions } from './RunSessions';
import { RunStateChip } from './RunStateChip';
import { configRows, keyOf, nameOfKey, parseRunKeys, runDuration, runState, runTitle, timeOf } from './runs';
import type { Run } from './types';
import { useRefreshed } from './useRefreshed';
import './runs.css';

const RunMetrics = lazy(() => import('./RunMetrics'));

const refreshMs = 1500;
const tabs = ['profiles', 'metrics', 'configs', 'workers', 'events', 'operations'] as const;
type Tab = (typeof tabs)[number];

// Runs that stand beside this one; those that are not there, or not for us, keep their place.
function useOthers(text: string | null, runKey: RunKey): readonly OtherRun[] {
  const keys = parseRunKeys(text, runKey.project)
    .filter((key) => key.location !== runKey.location || key.id !== runKey.id)
    .slice(0, mostCompared - 1);
  const asked = keys.map(nameOfKey).join(',');
  const found = useResource(asked ? `others/${asked}` : null, async (signal) => {
    const answers = await Promise.allSettled(keys.map((key) => runsApi.get(key, { signal })));
    return answers.map((answer, i) => ({ key: keys[i]!, run: answer.status === 'fulfilled' ? answer.value : null }));
  }).value;
  return found ?? [];
}

export function RunPage({ runKey }: { runKey: RunKey }) {
  const name = `${runKey.project}/${runKey.location}/${runKey.id}`;
  const [scan, setScan] = useState(0); // Counts the requests to look into storage at once.
  const run = useRefreshed(`run/${name}`, (signal) => runsApi.get(runKey, { signal }), refreshMs);
  const sessions = useRefreshed(`run/${name}/sessions/${scan}`, (signal) => runsApi.sessions(runKey, scan > 0, { signal }), refreshMs);
  const targets = useRefreshed(`run/${name}/targets`, (signal) => runsApi.targets(runKey, { signal }), refreshMs * 4);
  const events = useRefreshed(`run/${name}/events`, (signal) => runsApi.events(runKey, { signal }), refreshMs * 4);
  // Who came by a link sees the run and nothing of the project around it.
  const mayView = useMay('view', runKey.project);
  const operations = useRefreshed(mayView ? `run/${name}/operations` : null, (signal) => runsApi.operations(runKey, `target:${quoted(nameOfKey(runKey))}`, { signal }), refreshMs * 4);
  const others = useOthers(useUrlKey('with'), runKey);
  const mayEdit = useMay('edit', runKey.project);
  const mayCapture = useMay('capture', runKey.project);
  const asked = useUrlKey('tab') as Tab | null;
  const tab = asked && tabs.includes(asked) ? asked : 'profiles';
  const [layer, setLayer] = useState<'capture' | 'edit' | 'delete' | null>(null);
  const value = run.value;
  useEffect(() => setTitle(value ? runTitle(value) : 'Run'), [value]);

  if (run.error && !run.error.lostConnection && !value) {
    return (
      <div className="page runs" id="page" tabIndex={-1}>
        <ErrorNotice what={`The run ${runKey.id} could not be shown.`} error={run.error} onRetry={run.reload} />
        {run.error.status === 404 && <NotForYou />}
        <p>
          <Link to="/runs">All runs</Link>
        </p>
      </div>
    );
  }
  const counts: Readonly<Record<Tab, number | null>> = {
    profiles: sessions.value?.items.length ?? null,
    metrics: null,
    configs: value ? configRows(value).length : null,
    workers: targets.value?.items.length ?? null,
    events: events.value?.items.length ?? null,
    operations: operations.value?.items.length ?? null,
  };
  return (
    <div className="page runs" id="page" tabIndex={-1}>
      {value ? <RunHead run={value} mayEdit={mayEdit} onCapture={mayCapture && value.artifacts?.gcsPath && (targets.value?.items.length ?? 0) > 0 && timeOf(value.endTime) === null ? () => setLayer('capture') : null} onEdit={() => setLayer('edit')} onDelete={() => setLayer('delete')} /> : <Skeleton width={320} height={24} />}
      {value && <CompareBar run={value} runKey={runKey} others={others} mayList={mayView} sessions={sessions.value?.items ?? []} />}
      <div className="tabs" role="tablist" aria-label="Parts of the run">
        {tabs.filter((one) => one !== 'operations' || mayView).map((one) => (
          <button key={one} type="button" role="tab" id={`tab-${one}`} aria-selected={one === tab} aria-controls="run-part" className={one === tab ? 'tab current' : 'tab'} onClick={() => pushKeys({ tab: one === 'profiles' ? null : one })}>
            {one[0]!.toUpperCase() + one.slice(1)} <span className="muted">{counts[one] === null ? '' : formatCount(counts[one])}</span>
          </button>
        ))}
      </div>
      <div id="run-part" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'profiles' && <RunSessions sessions={sessions} run={value} onScan={() => setScan((n) => n + 1)} />}
        {tab === 'metrics' && (
          <Suspense fallback={<Skeleton width="100%" height={220} />}>
            <RunMetrics runKey={runKey} others={others.filter((one) => one.run).map((one) => one.key)} sessions={sessions.value?.items ?? []} running={value !== null && timeOf(value.endTime) === null} />
          </Suspense>
        )}
        {tab === 'configs' && value && <RunConfigs run={value} others={others.flatMap((one) => (one.run ? [one.run] : []))} />}
        {tab === 'workers' && <RunTargets targets={targets} />}
        {tab === 'events' && <RunEvents events={events} sessions={sessions.value?.items ?? []} />}
        {tab === 'operations' && <RunOperations operations={operations} mayCancel={mayCapture} />}
      </div>
      {layer === 'capture' && value && targets.value && <RunCaptureDialog run={value} runKey={keyOf(value.name)} targets={targets.value.items} onClose={() => setLayer(null)} onStarted={sessions.reload} />}
      {layer === 'edit' && value && <EditRunDialog run={value} runKey={keyOf(value.name)} onClose={() => setLayer(null)} onChanged={run.reload} />}
      {layer === 'delete' && value && (
        <DeleteRunDialog run={value} runKey={keyOf(value.name)} counts={{ sessions: counts.profiles ?? 0, targets: counts.workers ?? 0, events: counts.events ?? 0 }} onClose={() => setLayer(null)} />
      )}
    </div>
  );
}

function NotForYou() {
  const me = useMe();
  const contact = useContact(accessIsOn(me));
  if (!accessIsOn(me)) return null;
  return (
    <p className="text2 prose">
      It is not there, or not open to {me?.subject ? <code>{me.subject}</code> : 'you'}. Ask whoever sent you the address for a share link, or an administrator of the project for a role in it. {contact}
    </p>
  );
}

interface RunHeadProps {
  run: Run;
  mayEdit: boolean;
  onCapture: (() => void) | null; // Null: nothing to capture, or not for us.
  onEdit: () => void;
  onDelete: () => void;
}

function RunHead({ run, mayEdit, onCapture, onEdit, onDelete }: RunHeadProps) {
  const created = timeOf(run.createTime);
  const fixed = run.labels?.list_existing_sessions_only === 'true';
  return (
    <header className="run-head">
      <div className="run-title">
        <h1 title={run.name}>{runTitle(run)}</h1>
        <RunStateChip state={runState(run.state)} title={run.errorDetails} />
        {run.runSet && (
          <Link to={`/runs?group=${encodeURIComponent(run.runSet)}`} className="chip" title="Runs of this group">
            {run.runSet}
          </Link>
        )}
        <span className="grow" />
        {onCapture && (
          <button type="button" className="button" onClick={onCapture}>
            <Icon name="capture" />
            Capture its workers
          </button>
        )}
        {mayEdit && (
          <>
            <button type="button" className="button" onClick={onEdit} disabled={fixed} title={fixed ? 'A run that only lists existing profiles cannot be changed' : undefined}>
              Edit
            </button>
            <button type="button" className="button" onClick={onDelete}>
              Delete
            </button>
          </>
        )}
      </div>
      <dl className="run-facts">
        <Fact name="Started" value={formatClock(created)} detail={`${formatAge(created, Math.max(Date.now(), created ?? 0))} ago`} />
        <Fact name={timeOf(run.endTime) === null ? 'Running for' : 'Ran for'} value={runDuration(run, Date.now())} />
        {run.orchestrator && run.orchestrator !== 'ORCHESTRATOR_UNSPECIFIED' && <Fact name="Orchestrator" value={run.orchestrator} />}
        <Fact name="Storage" value={run.artifacts?.gcsPath ?? 'none'} mono />
        <Fact name="Name" value={run.name} mono />
      </dl>
      {run.errorDetails && (
        <div className="notice error" role="alert">
          <Icon name="damaged" />
          <div className="grow prose">{run.errorDetails}</div>
        </div>
      )}
    </header>
  );
}

function Fact({ name, value, detail, mono = false }: { name: string; value: string; detail?: string; mono?: boolean }) {
  return (
    <div>
      <dt className="label">{name}</dt>
      <dd className={mono ? 'mono' : undefined} title={value}>
        {value} {detail && <span className="muted">{detail}</span>}
      </dd>
    </div>
  );
}
