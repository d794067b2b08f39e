// Everything around a session's tools: the rail with live figures, loading progress, the stale notice, wrong ids.
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { useContact, useMe } from '../access/me';
import { accessIsOn } from '../access/rights';
import { api } from '../api/client';
import type { SessionDetail } from '../api/types';
import { FilesPage } from '../files/FilesPage';
import { formatBytes, formatCount, formatTime, nounFor, sessionLabel } from '../format/format';
import { useKeys } from '../keys/useKeys';
import { OverviewPage } from '../overview/OverviewPage';
import { contextSearch, corePages, navigate, sessionPath, type SessionTool } from '../state/router';
import { setTitle, useVisible } from '../state/url';
import { toolGroups } from '../tools/catalog';
import { listTools } from '../tools/client';
import { ContextBar } from '../tools/ContextBar';
import { forgetAnswers, type ToolSession, ToolSessionContext } from '../tools/session';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { ErrorNotice, LoadBanner, Skeleton, StaleBanner } from '../ui/states';
import { useOpening } from '../ui/useOpening';
import { usePolled, useResource } from '../ui/useResource';
import { ErrorBoundary } from './ErrorBoundary';
import { ConnectionBanner } from './ConnectionBanner';
import { LostPage } from './LostPage';
import { type Figure, HomeRail, SessionRail } from './Rail';

const TimelinePage = lazy(() => import('../timeline/TimelinePage'));
const ToolPage = lazy(() => import('../tools/ToolPage').then((part) => ({ default: part.ToolPage })));

const busyPollMs = 500; // While the server reads the session.
const restPollMs = 1500; // Afterwards: a changed file is noticed within two seconds.
const coreTitles: Readonly<Record<string, string>> = { overview: 'Overview', timeline: 'Timeline', files: 'Files' };

interface SessionShellProps {
  sessionId: string;
  tool: SessionTool | null;
  unknownTool: string | null;
  folded: boolean;
  onFold: () => void;
  onDetail: (detail: SessionDetail | null) => void;
}

export function SessionShell({ sessionId, tool, unknownTool, folded, onFold, onDetail }: SessionShellProps) {
  const visible = useVisible();
  const interval = useRef(restPollMs);
  const polled = usePolled<SessionDetail>('/sessions/' + encodeURIComponent(sessionId), visible ? interval.current : null);
  const detail = polled.value;
  const loading = detail?.load.stage === 'indexing' || detail?.load.stage === 'decoding';
  interval.current = loading ? busyPollMs : restPollMs;
  // The first question about a session waits for the unpacking of its files; the timeline says so in its own place.
  const opening = useOpening(detail === null && polled.error === null && tool !== 'timeline' ? sessionId : null);

  // The version the page shows; a newer one is offered, never swapped in under the reader.
  const [shownVersion, setShownVersion] = useState<string | null>(null);
  // A session that was still being written is followed without asking: nobody wants to keep looking at half of it.
  const [reloads, setReloads] = useState(0);
  const shownUnfinished = useRef(false);
  const versionNow = detail?.version ?? null;
  const unfinished = loading || detail?.state === 'writing';
  useEffect(() => {
    if (versionNow === null) return;
    if (shownVersion === null) {
      setShownVersion(versionNow);
    } else if (versionNow !== shownVersion && (unfinished || shownUnfinished.current)) {
      setShownVersion(versionNow);
      setReloads((n) => n + 1);
    }
    shownUnfinished.current = unfinished;
  }, [versionNow, shownVersion, unfinished]);

  // Not one file is whole yet: what was asked meanwhile failed, so it is asked again when that is over.
  const notWholeYet = detail?.state === 'writing' && detail.load.stage === 'failed';
  const wasNotWhole = useRef(false);
  useEffect(() => {
    if (wasNotWhole.current && !notWholeYet) setReloads((n) => n + 1);
    wasNotWhole.current = notWholeYet;
  }, [notWholeYet]);
  const stale = shownVersion !== null && versionNow !== null && versionNow !== shownVersion && !unfinished && !shownUnfinished.current;
  const readable = detail === null || (detail.state !== 'damaged' && detail.state !== 'empty');

  // Both leave together with the first question about the session; the server answers when it has read enough. On the
  // timeline they wait until everything is read, so that the first picture has the server to itself.
  const wanted = !notWholeYet && (tool !== 'timeline' || (detail !== null && !loading));
  const overview = useResource(wanted && readable ? `overview/${sessionId}/${reloads}` : null, (signal) => api.overview(sessionId, { signal }));
  const completeness = useResource(wanted ? `completeness/${sessionId}/${reloads}` : null, (signal) => api.completeness(sessionId, { signal }));

  // What tools there are, and which of them have something to say, leaves with the first questions too.
  const tools = useResource(wanted && readable ? `tools/${sessionId}/${reloads}` : null, (signal) => listTools(sessionId, { signal }));
  const ready = wanted && readable;
  const toolSession = useMemo<ToolSession>(
    () => ({ sessionId, runName: detail ? (detail.run ? `${detail.run}/${detail.name}` : detail.name) : '', reloads, tools: tools.value?.tools ?? null, allHosts: tools.value?.hosts ?? [], ready }),
    [sessionId, detail?.run, detail?.name, reloads, tools.value, ready],
  );

  useEffect(() => onDetail(detail), [detail, onDetail]);
  const title = tool ? (coreTitles[tool] ?? null) : null;
  useEffect(() => {
    if (title) setTitle(title, detail ? sessionLabel(detail.name) : sessionId, detail?.run);
  }, [title, detail, sessionId]);
  const go = (to: SessionTool) => navigate(sessionPath(sessionId, to, contextSearch(window.location.search)));
  useKeys({
    'go.overview': () => go('overview'),
    'go.timeline': () => go('timeline'),
    'go.files': () => go('files'),
    ...Object.fromEntries(toolGroups.map((group) => [group.key, () => go(group.id)])),
    'go.more': () => go('more'),
  });

  const figures: Partial<Record<SessionTool, Figure>> = {};
  if (overview.value) {
    figures.overview = { text: formatTime(overview.value.duration_ps) };
    figures.timeline = { text: formatCount(overview.value.event_count), title: nounFor(overview.value.event_count, 'event') };
  }
  if (detail) {
    const lossy = detail.state === 'partial' || detail.state === 'damaged' || detail.state === 'empty';
    const writing = detail.state === 'writing';
    figures.files = { text: lossy || writing ? detail.state : formatBytes(detail.size_bytes), lossy, title: writing ? 'A file is still being written' : undefined };
  }

  if (polled.error && !detail && polled.error.status === 404) {
    return (
      <>
        <HomeRail page="session" count={null} folded={folded} onFold={onFold} />
        <main className="main">
          <LostPage title="There is no such session">
            <NoSession sessionId={sessionId} />
          </LostPage>
        </main>
      </>
    );
  }

  const isCore = tool !== null && (corePages as readonly string[]).includes(tool);
  const reload = () => {
    forgetAnswers();
    setShownVersion(versionNow);
    setReloads((n) => n + 1);
  };
  return (
    <>
      <SessionRail sessionId={sessionId} tool={tool} tools={tools.value?.tools ?? null} figures={figures} folded={folded} onFold={onFold} />
      <main className="main">
        <ConnectionBanner />
        {stale && <StaleBanner onReload={reload} />}
        {loading && detail && <LoadProgress detail={detail} />}
        {opening !== null && <LoadBanner stage="unpacking" doneBytes={opening.done_bytes} totalBytes={opening.total_bytes} secondsLeft={null} />}
        {tool !== null && (!isCore || tool === 'overview') && readable && !notWholeYet && <ContextBar sessionId={sessionId} tool={tool} detail={detail} hosts={tools.value?.hosts ?? detail?.hosts ?? []} />}
        <ToolSessionContext value={toolSession}>
        <ErrorBoundary resetKey={`${tool}/${reloads}`}>
        {unknownTool !== null ? (
          <LostPage title="There is no such tool" links={<Link to={sessionPath(sessionId, 'overview')} className="button primary">Overview of this session</Link>}>
            This version has no tool called <code>{unknownTool}</code>. The tools of a session are in the rail on the left.
          </LostPage>
        ) : polled.error && !detail ? (
          <div className="page" id="page" tabIndex={-1}>
            <ErrorNotice what="The session could not be opened." error={polled.error} onRetry={polled.reload} />
          </div>
        ) : notWholeYet ? (
          <div className="page" id="page" tabIndex={-1}>
            <div className="notice" role="status">
              <Icon name="writing" />
              <div className="grow">This session is still being written. It opens by itself as soon as a file is whole.</div>
            </div>
          </div>
        ) : tool === 'overview' ? (
          <OverviewPage sessionId={sessionId} detail={detail} overview={overview} completeness={completeness} />
        ) : tool === 'files' ? (
          <FilesPage detail={detail} completeness={completeness} />
        ) : detail && !readable ? (
          <NothingToShow detail={detail} />
        ) : !isCore && tool !== null ? (
          <Suspense fallback={<div className="page"><Skeleton width="100%" height={300} /></div>}>
            {tools.error && !tools.error.lostConnection ? (
              <div className="page" id="page" tabIndex={-1}>
                <ErrorNotice what="The tools of this session could not be listed." error={tools.error} onRetry={tools.reload} />
              </div>
            ) : (
              <ToolPage name={tool} detail={detail} />
            )}
          </Suspense>
        ) : (
          <div className="page-fill" id="page" tabIndex={-1}>
            <Suspense fallback={<div className="page"><Skeleton width="100%" height={24} /></div>}>
              <TimelinePage key={reloads} sessionId={sessionId} />
            </Suspense>
          </div>
        )}
        </ErrorBoundary>
        </ToolSessionContext>
      </main>
    </>
  );
}

// What one may not see and what is not there look the same from outside, so both are said, and whom to turn to.
function NoSession({ sessionId }: { sessionId: string }) {
  const me = useMe();
  const contact = useContact(accessIsOn(me));
  if (!accessIsOn(me)) {
    return (
      <>
        No session has the id <code>{sessionId}</code>. It may have been deleted, or the server looks at another directory now.
      </>
    );
  }
  return (
    <>
      No session has the id <code>{sessionId}</code>, or it is not open to you. {me?.subject ? <>You are signed in as <code>{me.subject}</code>. </> : 'You are not signed in. '}
      Ask whoever sent you the address for a share link, or an administrator of the project for a role in it. {contact}
    </>
  );
}

// Seconds, from the rate since this page began to watch; null until there is one to speak of.
function useTimeLeft(done: number, total: number): number | null {
  const first = useRef<{ done: number; at: number } | null>(null);
  const now = performance.now();
  if (first.current === null || done < first.current.done) first.current = { done, at: now };
  const gained = done - first.current.done;
  const took = now - first.current.at;
  if (gained <= 0 || took < 300) return null;
  return Math.max(1, Math.ceil(((total - done) / gained) * (took / 1000)));
}

function LoadProgress({ detail }: { detail: SessionDetail }) {
  const { stage, done_bytes: done, total_bytes: total } = detail.load;
  return <LoadBanner stage={stage} doneBytes={done} totalBytes={total} secondsLeft={useTimeLeft(done, total)} />;
}

function NothingToShow({ detail }: { detail: SessionDetail }) {
  return (
    <LostPage title={detail.state === 'empty' ? 'This session has no profile' : 'Nothing in this session could be read'} links={<Link to={sessionPath(detail.id, 'files')} className="button primary">What was found</Link>}>
      {detail.state_reason ?? 'The server gave no reason.'}
    </LostPage>
  );
}
