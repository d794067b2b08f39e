// First answers about a session: how long, on what, how busy, which steps, which operations, and what is missing.
import type { Completeness, Overview, SessionDetail } from '../api/types';
import { Losses } from '../files/FilesPage';
import { hostsSentence, type Loss, lossesOf, sizeSentence, whatArrived } from '../files/losses';
import { exactBytes, formatBytes, formatCount, formatOrigin, plural, unknown } from '../format/format';
import { sessionPath } from '../state/router';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { ErrorNotice, Skeleton, StateChip, stateWords } from '../ui/states';
import { copyText } from '../ui/toasts';
import type { Resource } from '../ui/useResource';
import { lazy, Suspense } from 'react';
import { useUrlKey } from '../state/url';
import { findTool } from '../tools/catalog';
import { useToolSession } from '../tools/session';
import type { ToolAnswer } from '../tools/types';
import { Figures, Findings, useBaselineKnown, useKnown } from './Answers';
import { Devices } from './Devices';
import StepBreakdown, { environmentFacts, NextSteps } from './ToolPanels';
import { Steps } from './Steps';
import { TopOps } from './TopOps';
import './overview.css';
import '../tools/tools.css';

const RowDrawer = lazy(() => import('../tools/RowDrawer').then((part) => ({ default: part.RowDrawer })));

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
  const known = useKnown(overview.value);
  const before = useBaselineKnown();
  const { tools } = useToolSession();
  const op = useUrlKey('op');
  const tool = tools ? findTool(tools, 'overview_page') ?? tools[0] : undefined;
  return (
    <div className={op ? 'tool-layout with-drawer' : 'tool-layout'}>
    <div className="page stack overview" id="page" tabIndex={-1}>
      <h1 className="visually-hidden">Overview</h1>
      {overview.error && !overview.error.lostConnection && detail !== null && !unreadable && <ErrorNotice what="The overview could not be made." error={overview.error} onRetry={overview.reload} />}
      {unreadable && detail && <Unreadable detail={detail} />}
      {lossy && record && !unreadable && <Losses record={record} most={3} />}
      {!unreadable && (
        <>
          <Figures known={known} before={before} loading={known.loading} />
          <Findings known={known} loading={known.loading} />
          <div className="overview-columns">
            <div className="stack">
              <Steps sessionId={sessionId} overview={overview.value} />
              <TopOps sessionId={sessionId} overview={overview.value} />
              <StepBreakdown page={known.page} />
            </div>
            <div className="stack side">
              <Devices overview={overview.value} />
              <NextSteps page={known.page} />
              <RunFacts sessionId={sessionId} detail={detail} overview={overview.value} record={record} page={known.page} />
            </div>
          </div>
        </>
      )}
      {unreadable && detail && <RunFacts sessionId={sessionId} detail={detail} overview={null} record={record} page={null} />}
    </div>
    {op && tool && (
      <Suspense>
        <RowDrawer tool={tool} query={{}} answer={known.page} />
      </Suspense>
    )}
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

interface FactsProps {
  sessionId: string;
  detail: SessionDetail | null;
  overview: Overview | null;
  record: Completeness | null;
  page: ToolAnswer | null;
}

function RunFacts({ sessionId, detail, overview, record, page }: FactsProps) {
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
        {environmentFacts(page).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
        <Fact name="Size">
          {record ? sizeSentence(record) : detail ? <span title={exactBytes(detail.size_bytes)}>{formatBytes(detail.size_bytes)}</span> : <Skeleton width={90} />}
        </Fact>
        <Fact name="Arrived">{record ? whatArrived(record) : <Skeleton width={180} />}</Fact>
        <Fact name="Hosts">{record ? hostsSentence(record) : <Skeleton width={140} />}</Fact>
        <Fact name="Losses">
          {record ? (
            losses.length === 0 ? (
              record.state === 'complete' ? 'none found' : stateWords[record.state].toLowerCase()
            ) : (
              <LossCount losses={losses} whole={record.state === 'complete'} />
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

function LossCount({ losses, whole }: { losses: readonly Loss[]; whole: boolean }) {
  const severe = losses.filter((loss) => loss.severe).length;
  const odd = losses.length - severe;
  const remarks = odd > 0 ? plural(odd, 'remark') : '';
  if (severe === 0 && whole) return <>none found, {remarks},</>;
  if (severe === 0) return <>{remarks},</>;
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

