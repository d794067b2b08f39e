// First answers about a session: how long, on what, how busy, which steps, which operations, and what is missing.
import type { Completeness, Overview, SessionDetail } from '../api/types';
import { Losses, sizeSentence } from '../files/FilesPage';
import { hostsSentence, type Loss, lossesOf, whatArrived } from '../files/losses';
import { exactBytes, exactCount, exactTime, formatBytes, formatCount, formatOrigin, formatTime, plural, significant, timeParts, timeUnit, unknown } from '../format/format';
import { sessionPath } from '../state/router';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { ErrorNotice, Skeleton, StateChip } from '../ui/states';
import { copyText } from '../ui/toasts';
import type { Resource } from '../ui/useResource';
import { Devices, deviceSummary, shortHosts } from './Devices';
import { Steps } from './Steps';
import { TopOps } from './TopOps';
import './overview.css';

interface OverviewPageProps {
  sessionId: string;
  detail: SessionDetail | null;
  overview: Resource<Overview>;
  completeness: Resource<Completeness>;
}

export function OverviewPage({ sessionId, detail, overview, completeness }: OverviewPageProps) {
  const record = completeness.value;
  const lossy = record !== null && lossesOf(record).some((loss) => loss.severe);
  const unreadable = detail !== null && (detail.state === 'empty' || detail.state === 'damaged');
  return (
    <div className="page stack overview" id="page" tabIndex={-1}>
      <h1 className="visually-hidden">Overview</h1>
      {overview.error && !overview.error.lostConnection && detail !== null && !unreadable && <ErrorNotice what="The overview could not be made." error={overview.error} onRetry={overview.reload} />}
      {unreadable && detail && <Unreadable detail={detail} />}
      {lossy && record && !unreadable && <Losses record={record} most={3} />}
      {!unreadable && (
        <>
          <Kpis overview={overview.value} />
          <div className="overview-columns">
            <div className="stack">
              <Steps sessionId={sessionId} overview={overview.value} />
              <TopOps sessionId={sessionId} overview={overview.value} />
            </div>
            <div className="stack side">
              <Devices overview={overview.value} />
              <RunFacts sessionId={sessionId} detail={detail} overview={overview.value} record={record} />
            </div>
          </div>
        </>
      )}
      {unreadable && detail && <RunFacts sessionId={sessionId} detail={detail} overview={null} record={record} />}
    </div>
  );
}

function Unreadable({ detail }: { detail: SessionDetail }) {
  return (
    <div className="notice error" role="alert">
      <Icon name={detail.state} />
      <div className="grow prose">
        <strong>{detail.state === 'empty' ? 'This session has no profile.' : 'Nothing of this session could be read.'}</strong> {detail.state_reason}
        <div>
          <Link to={sessionPath(detail.id, 'files')}>What was found in its files</Link>
        </div>
      </div>
    </div>
  );
}

interface KpiProps {
  label: string;
  value: string | null;
  unit?: string;
  note?: string;
  title?: string;
}

function Kpi({ label, value, unit, note, title }: KpiProps) {
  return (
    <div className="kpi" title={title}>
      <div className="label">{label}</div>
      <div className="kpi-value">
        {value === null ? (
          <Skeleton width={88} height={18} />
        ) : (
          <>
            {value}
            {unit && <span className="kpi-unit"> {unit}</span>}
          </>
        )}
      </div>
      <div className="kpi-note truncate">{value === null ? <Skeleton width={120} height={10} /> : note}</div>
    </div>
  );
}

function Kpis({ overview }: { overview: Overview | null }) {
  const duration = timeParts(overview?.duration_ps);
  const steps = overview?.steps ?? null;
  const mean = timeParts(steps?.mean_ps);
  const devices = overview ? deviceSummary(overview) : null;
  const spread = steps && steps.min_ps !== null && steps.max_ps !== null ? spreadText(steps.min_ps, steps.max_ps) : '';
  const ready = overview !== null;
  return (
    <section className="panel kpis" aria-label="Key figures">
      <Kpi label="Duration" value={ready ? duration.value : null} unit={duration.unit} note={overview?.window?.start_ps ? `from ${formatTime(overview.window.start_ps)}` : 'recorded window'} title={exactTime(overview?.duration_ps)} />
      <Kpi label="Step time, mean" value={ready ? mean.value : null} unit={mean.unit} note={steps ? `${plural(steps.count, 'step')}, ${spread}` : (overview?.steps_reason ?? '')} title={steps ? exactTime(steps.mean_ps) : (overview?.steps_reason ?? undefined)} />
      <Kpi label="Devices busy, mean" value={devices ? devices.busy.replace(' %', '') : null} unit={devices && devices.busy !== unknown ? '%' : ''} note={devices?.text} title={devices?.title} />
      <Kpi label="Hosts" value={overview ? formatCount(overview.hosts.length) : null} note={overview ? hostNames(overview) : ''} title={overview?.hosts.map((host) => host.host).join(', ')} />
      <Kpi label="Events" value={overview ? formatCount(overview.event_count) : null} note="in all planes" title={exactCount(overview?.event_count)} />
    </section>
  );
}

function hostNames(overview: Overview): string {
  const names = [...shortHosts(overview.hosts.map((host) => host.host)).values()];
  return names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more` : names.join(', ');
}

function spreadText(minPs: number, maxPs: number): string {
  const unit = timeUnit(maxPs);
  return `${significant(minPs / unit.size)} to ${significant(maxPs / unit.size)} ${unit.name}`;
}

interface FactsProps {
  sessionId: string;
  detail: SessionDetail | null;
  overview: Overview | null;
  record: Completeness | null;
}

function RunFacts({ sessionId, detail, overview, record }: FactsProps) {
  const losses = record ? lossesOf(record) : [];
  const path = detail ? `${detail.root}/${detail.path}` : '';
  return (
    <section className="panel">
      <header>
        <h2>Run facts</h2>
        <span className="aside">{detail && <StateChip state={detail.state} reason={detail.state_reason} />}</span>
      </header>
      <dl className="facts">
        <Fact name="Run">{detail ? detail.run || '(log directory)' : <Skeleton width={120} />}</Fact>
        <Fact name="Recorded">{detail ? detail.origin_unix_ns ? formatOrigin(detail.origin_unix_ns) : 'the profile does not say when' : <Skeleton width={150} />}</Fact>
        <Fact name="Devices">{overview ? deviceNames(overview) : unknown}</Fact>
        <Fact name="Size">
          {record ? sizeSentence(record) : detail ? <span title={exactBytes(detail.size_bytes)}>{formatBytes(detail.size_bytes)}</span> : <Skeleton width={90} />}
        </Fact>
        <Fact name="Arrived">{record ? whatArrived(record) : <Skeleton width={180} />}</Fact>
        <Fact name="Hosts">{record ? hostsSentence(record) : <Skeleton width={140} />}</Fact>
        <Fact name="Losses">
          {record ? (
            losses.length === 0 ? (
              record.state === 'complete' ? 'none found' : record.state
            ) : (
              <LossCount losses={losses} />
            )
          ) : (
            <Skeleton width={60} />
          )}{' '}
          <Link to={sessionPath(sessionId, 'files')}>Files</Link>
        </Fact>
        <Fact name="Path">
          {detail && (
            <button type="button" className="copyable mono path" title="Click to copy" onClick={() => void copyText(path, 'Path')}>
              {path}
            </button>
          )}
        </Fact>
      </dl>
    </section>
  );
}

function LossCount({ losses }: { losses: readonly Loss[] }) {
  const severe = losses.filter((loss) => loss.severe).length;
  const odd = losses.length - severe;
  const remarks = odd > 0 ? plural(odd, 'remark') : '';
  if (severe === 0) return <>none found, {remarks},</>;
  return (
    <span className="warn">
      {plural(severe, 'loss', 'losses')}
      {remarks && `, ${remarks}`}
    </span>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function deviceNames(overview: Overview): string {
  if (overview.devices.length === 0) return 'none in this profile';
  const counts = new Map<string, number>();
  for (const device of overview.devices) {
    const name = device.name ?? device.kind;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${formatCount(count)} x ${name}`).join(', ');
}

