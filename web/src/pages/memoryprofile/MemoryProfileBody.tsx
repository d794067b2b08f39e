// Memory of a device over time: how close to its capacity, when, and who held it. A click on the curve lists what was alive then.
import { useMemo } from 'react';
import { AreaChart } from '../../charts/AreaChart';
import { lastAtOrBefore } from '../../charts/scale';
import { exactBytes, exactTime, formatBytes, formatShare, formatTime } from '../../format/format';
import { contextSearch, sessionPath, useLocation } from '../../state/router';
import { formatTimePs, parseTimePs, pushKeys, replaceKeys, useUrlKey } from '../../state/url';
import { DataTable } from '../../tools/DataTable';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { Icon } from '../../ui/Icon';
import { Link } from '../../ui/Link';
import { Select, Skeleton } from '../../ui/states';
import { type AllocatorProfile, buffersTable, liveAt, readAllocators, readModuleRuns } from './profile';

const preset = { columns: ['op', 'bytes', 'requested', 'allocations', 'region', 'dtype', 'shape', 'step'], sort: '-bytes' };
const sampleLimit = 1000; // The tool thins the curve to this many points.

export default function MemoryProfileBody({ sessionId, tool, answer }: ToolBodyProps) {
  const chosen = useUrlKey('mem');
  const atKey = useUrlKey('at');
  const search = contextSearch(useLocation().search);
  const allocators = useMemo(() => readAllocators(answer?.document ?? null), [answer]);
  const runs = useMemo(() => readModuleRuns(answer?.document ?? null), [answer]);
  const profile = allocators.find((one) => one.id === chosen) ?? allocators[0] ?? null;
  if (!answer) return <Skeleton width="100%" height={320} />;
  if (!profile) return tool.applies ? <p className="muted">The profile holds no allocation of a device. Capture with host_tracer_level 2 or above to record them.</p> : null;
  const xs = profile.curve.map((one) => one.timePs);
  const atPs = atKey ? parseTimePs(atKey) : null;
  const picked = atPs === null ? null : Math.max(0, lastAtOrBefore(xs, atPs));
  return (
    <>
      <Kpis profile={profile} />
      <section className="panel" aria-label="Memory over time">
        <header>
          <h2>In use over time</h2>
          <span className="aside">
            {allocators.length > 1 && (
              <label className="option">
                <span className="label">Memory</span>
                <Select value={profile.id} choices={allocators.map((one) => ({ value: one.id, label: `${memoryName(one.id)}, peak ${formatBytes(one.peak.bytes)}` }))} onChange={(value) => pushKeys({ mem: value === allocators[0]!.id ? null : value, at: null })} />
              </label>
            )}
            {picked !== null && (
              <button type="button" className="button plain small" onClick={() => pushKeys({ at: null })}>
                Back to the peak
              </button>
            )}
          </span>
        </header>
        <AreaChart
          xs={xs}
          series={[
            { id: 'stack', label: 'Stack, reserved for programs', category: 'fusion', values: profile.curve.map((one) => one.stack) },
            { id: 'heap', label: 'Heap', category: 'matmul', values: profile.curve.map((one) => one.heap) },
          ]}
          title="Memory in use"
          formatX={formatTime}
          limit={profile.capacity > 0 ? { value: profile.capacity, label: `capacity ${formatBytes(profile.capacity)}` } : null}
          marks={profile.peak.bytes > 0 ? [{ x: profile.peak.timePs, label: `peak ${formatBytes(profile.peak.bytes)}` }] : []}
          picked={picked}
          onPick={(index) => replaceKeys({ at: formatTimePs(xs[index]!) })}
          readout={(index) => {
            const one = profile.curve[index];
            if (!one) return null;
            const running = runs.find((run) => run.startPs <= one.timePs && one.timePs < run.endPs);
            return (
              <>
                <strong>{formatTime(one.timePs)}</strong> in use {formatBytes(one.stack + one.heap)} (heap {formatBytes(one.heap)}), free {formatBytes(one.free)}, {one.fragmentation > 0 ? `fragmentation ${formatShare(one.fragmentation)}, ` : ''}
                {one.activity.allocation ? 'allocated' : 'gave back'} {formatBytes(one.activity.bytes)}
                {running ? `, ${running.name.replace(/\(\d+\)$/, '')} ran` : ''}
              </>
            );
          }}
        />
        {profile.curve.length >= sampleLimit && <p className="panel-note muted">The curve is thinned to {profile.curve.length} of its moments; the peak is exact.</p>}
      </section>
      <Buffers profile={profile} picked={picked} timeline={(timePs) => sessionPath(sessionId, 'timeline', `${search ? search + '&' : '?'}v=${formatTimePs(Math.max(0, timePs - 50e9))},100ms`)} />
    </>
  );
}

function memoryName(id: string): string {
  return /^\d+$/.test(id) ? `device memory ${id}` : id;
}

function Kpis({ profile }: { profile: AllocatorProfile }) {
  const { peak, capacity } = profile;
  return (
    <section className="panel kpis four" aria-label="Memory at the peak">
      <div className="kpi" title={exactBytes(peak.bytes)}>
        <div className="label">Peak in the window</div>
        <div className="kpi-value">{formatBytes(peak.bytes)}</div>
        <div className="kpi-note truncate">{capacity > 0 ? `${formatShare(peak.bytes / capacity)} of ${formatBytes(capacity)}` : ''}</div>
      </div>
      <div className="kpi" title={exactTime(peak.timePs)}>
        <div className="label">When</div>
        <div className="kpi-value">{formatTime(peak.timePs)}</div>
        <div className="kpi-note truncate">{profile.lifetimePeak > peak.bytes ? `before the window ${formatBytes(profile.lifetimePeak)}` : 'also the peak of its lifetime so far'}</div>
      </div>
      <div className="kpi" title={`${exactBytes(peak.stack)} stack, ${exactBytes(peak.heap)} heap`}>
        <div className="label">Stack and heap</div>
        <div className="kpi-value">{formatShare(peak.bytes > 0 ? peak.stack / peak.bytes : null)}</div>
        <div className="kpi-note truncate">{`stack ${formatBytes(peak.stack)}, heap ${formatBytes(peak.heap)}`}</div>
      </div>
      <div className="kpi" title={exactBytes(peak.free)}>
        <div className="label">Free at the peak</div>
        <div className="kpi-value">{formatBytes(peak.free)}</div>
        <div className="kpi-note truncate">{peak.fragmentation > 0 ? `fragmentation ${formatShare(peak.fragmentation)}` : 'no fragmentation'}</div>
      </div>
    </section>
  );
}

function Buffers({ profile, picked, timeline }: { profile: AllocatorProfile; picked: number | null; timeline: (timePs: number) => string }) {
  const moment = picked === null ? profile.peak.timePs : profile.curve[picked]!.timePs;
  const table = useMemo(() => (picked === null ? buffersTable('Alive at the peak', profile.atPeak) : buffersTable(`Alive at ${formatTime(profile.curve[picked]!.timePs)}, from the recorded moments`, liveAt(profile, picked))), [profile, picked]);
  return (
    <DataTable
      table={table}
      preset={preset}
      emptyText="No allocation of this moment was recorded."
      note={
        <Link className="button plain small" to={timeline(moment)}>
          <Icon name="timeline" />
          This moment
        </Link>
      }
    />
  );
}
