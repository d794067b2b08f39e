// The first lines of the overview: the key figures, each a link to the page that proves it, and the findings.
import { useMemo } from 'react';
import type { Overview } from '../api/types';
import { exactBytes, exactTime, formatBandwidth, formatBytes, formatRate, formatShare, formatTime, plural, significant, timeParts, timeUnit, unknown } from '../format/format';
import { readAllocators } from '../pages/memoryprofile/profile';
import { readProfile, rootOf } from '../pages/opprofile/tree';
import { contextSearch, sessionPath, useLocation } from '../state/router';
import { useUrlKey } from '../state/url';
import { findTool } from '../tools/catalog';
import { useChosenHosts, useToolAnswer, useToolSession } from '../tools/session';
import type { ToolAnswer } from '../tools/types';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { Skeleton } from '../ui/states';
import { deviceSummary } from './Devices';
import { findingsOf, type Known, tableWithProperty, xprofsFigure } from './findings';

const noOptions = {};

// The tools are asked together; each figure appears when its answer is there.
export function useKnown(overview: Overview | null, sessionId?: string): Known & { loading: boolean } {
  const { tools } = useToolSession();
  const hosts = useChosenHosts();
  const ask = (id: string) => {
    const tool = tools ? findTool(tools, id) : null;
    return tool?.applies ? id : null;
  };
  const page = useToolAnswer(tools && findTool(tools, 'overview_page') ? 'overview_page' : null, noOptions, sessionId);
  const profile = useToolAnswer(ask('op_profile'), { hosts }, sessionId);
  const ops = useToolAnswer(ask('hlo_stats'), { hosts }, sessionId);
  const memory = useToolAnswer(ask('memory_profile'), { hosts: hosts.split(',')[0] }, sessionId);
  const root = useMemo(() => (profile.value ? readProfile(rootOf(profile.value.document, 'program', false)) : null), [profile.value]);
  const allocator = useMemo(() => (memory.value ? (readAllocators(memory.value.document)[0] ?? null) : null), [memory.value]);
  const beyondXprof = profile.value?.notices.find((notice) => notice.name === 'COSTS_BEYOND_XPROF')?.message ?? null;
  return { overview, page: page.value, profile: root, beyondXprof, ops: ops.value?.tables[0] ?? null, memory: allocator, loading: tools === null || page.loading || profile.loading || ops.loading || memory.loading };
}

interface FigureProps {
  label: string;
  value: string | null; // Null: on its way.
  unit?: string;
  note: string;
  title?: string;
  page: string;
  before?: string | null; // The baseline's figure.
}

function Figure({ label, value, unit, note, title, page, before }: FigureProps) {
  const { sessionId } = useToolSession();
  const search = contextSearch(useLocation().search);
  return (
    <Link to={sessionPath(sessionId, page, search)} className="kpi" title={title}>
      <div className="label">{label}</div>
      <div className="kpi-value">
        {value === null ? (
          <Skeleton width={80} height={18} />
        ) : (
          <>
            {value}
            {unit && <span className="kpi-unit"> {unit}</span>}
          </>
        )}
      </div>
      <div className="kpi-note truncate" title={note}>{value === null ? <Skeleton width={110} height={10} /> : before ? <>baseline {before}</> : note}</div>
    </Link>
  );
}

function stepFigure(known: Known): { value: string; unit: string; note: string; ps: number | null } {
  const steps = tableWithProperty(known.page, 'steptime_ms_average');
  const said = Number(steps?.properties.steptime_ms_average ?? 0);
  if (steps && steps.rows.length > 0 && said > 0) {
    const ps = said * 1e9;
    const parts = timeParts(ps);
    const deviation = Number(steps.properties.steptime_ms_standard_deviation ?? NaN);
    return { ...parts, ps, note: `${plural(steps.rows.length, 'step')}${Number.isFinite(deviation) ? `, \u00b1 ${formatTime(deviation * 1e9)}` : ''}` };
  }
  const own = known.overview?.steps;
  if (own && own.mean_ps !== null) {
    const unit = timeUnit(own.max_ps ?? own.mean_ps);
    return { ...timeParts(own.mean_ps), ps: own.mean_ps, note: own.min_ps !== null && own.max_ps !== null ? `${plural(own.count, 'step')}, ${significant(own.min_ps / unit.size)} to ${significant(own.max_ps / unit.size)} ${unit.name}` : plural(own.count, 'step') };
  }
  return { value: unknown, unit: '', ps: null, note: known.overview?.steps_reason ?? 'the profile marks no steps' };
}

// A CPU has no duty cycle; the tool says 0 of it.
function dutyText(page: ToolAnswer | null): string | null {
  if (tableWithProperty(page, 'device_core_count')?.properties.device_type === 'CPU') return null;
  return tableWithProperty(page, 'device_duty_cycle_percent')?.properties.device_duty_cycle_percent ?? null;
}

export function Figures({ known, before, loading }: { known: Known; before: Known | null; loading: boolean }) {
  const { overview, profile, memory } = known;
  const wait = (value: string, ready: boolean) => (ready || !loading ? value : null);
  const step = stepFigure(known);
  const stepBefore = before ? stepFigure(before) : null;
  const devices = overview ? deviceSummary(overview) : null;
  const seconds = profile ? profile.timePs / 1e12 : 0;
  const duty = dutyText(known.page);
  const noCounts = 'the profile counts none';
  const theirs = xprofsFigure(known.beyondXprof);
  return (
    <section className="panel kpis figures" aria-label="Key figures">
      <Figure label="Step time, mean" value={overview ? step.value : null} unit={step.unit} note={step.note} title={step.ps !== null ? exactTime(Math.round(step.ps)) : step.note} page="input" before={stepBefore && stepBefore.ps !== null ? `${stepBefore.value} ${stepBefore.unit}` : null} />
      <Figure label={duty ? 'Duty cycle' : 'Devices busy, mean'} value={devices ? wait(duty ? duty.replace('%', '') : devices.busy.replace(' %', ''), known.page !== null || !loading) : null} unit={duty || (devices && devices.busy !== unknown) ? '%' : ''} note={devices?.text ?? ''} title={devices?.title} page="timeline" before={before ? (dutyText(before.page) ?? null) : null} />
      <Figure label="Of peak FLOP rate" value={wait(profile && profile.flopCount > 0 ? formatShare(profile.flops).replace(' %', '') : unknown, profile !== null)} unit={profile && profile.flopCount > 0 ? '%' : ''} note={profile && profile.flopCount > 0 ? `${formatRate(seconds > 0 ? profile.flopCount / seconds : null)} while busy${theirs ? `; XProf: ${theirs}` : ''}` : noCounts} title={known.beyondXprof ?? undefined} page="op_profile" before={before?.profile && before.profile.flopCount > 0 ? formatShare(before.profile.flops) : null} />
      <Figure label="Of peak HBM bandwidth" value={wait(profile && profile.byteCount > 0 ? formatShare(profile.bandwidth).replace(' %', '') : unknown, profile !== null)} unit={profile && profile.byteCount > 0 ? '%' : ''} note={profile && profile.byteCount > 0 ? `${formatBandwidth(seconds > 0 ? profile.byteCount / seconds : null)} while busy` : noCounts} page="roofline" before={before?.profile && before.profile.byteCount > 0 ? formatShare(before.profile.bandwidth) : null} />
      <Figure label="Peak memory" value={wait(memory ? formatBytes(memory.peak.bytes).split(' ')[0]! : unknown, memory !== null)} unit={memory ? formatBytes(memory.peak.bytes).split(' ')[1]! : ''} note={memory ? (memory.capacity > 0 ? `of ${formatBytes(memory.capacity)}` : '') : 'no allocation was recorded'} title={memory ? exactBytes(memory.peak.bytes) : undefined} page="memory" before={before?.memory ? formatBytes(before.memory.peak.bytes) : null} />
      <Figure label="Duration" value={overview ? timeParts(overview.duration_ps).value : null} unit={timeParts(overview?.duration_ps).unit} note={overview ? `${plural(overview.event_count, 'event')}, ${plural(overview.hosts.length, 'host')}` : ''} title={exactTime(overview?.duration_ps)} page="timeline" />
    </section>
  );
}

export function Findings({ known, loading }: { known: Known; loading: boolean }) {
  const { sessionId } = useToolSession();
  const search = contextSearch(useLocation().search);
  const findings = useMemo(() => findingsOf(known), [known.overview, known.page, known.profile, known.ops, known.memory]);
  if (findings.length === 0) {
    if (loading) return <section className="panel findings"><ul><li><Skeleton width="60%" height={14} /></li></ul></section>;
    return null;
  }
  return (
    <section className="panel findings" aria-label="Findings">
      <ul>
        {findings.map((one) => (
          <li key={one.title} className={one.level === 'bad' ? 'finding-bad' : 'finding-note'}>
            <Icon name={one.level === 'bad' ? 'partial' : one.page === 'roofline_model' ? 'roofline' : 'ops'} />
            <span className="finding-words">
              <strong>{one.title}.</strong> {one.detail}
            </span>
            <Link to={sessionPath(sessionId, one.page, one.search ? `${search ? search + '&' : '?'}${one.search}` : search)}>{one.link}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function useBaselineKnown(): Known | null {
  const baseline = useUrlKey('b');
  const known = useKnown(null, baseline ?? undefined);
  return baseline ? known : null;
}
