// The timeline tool. React lays out the page and the panels; the canvas belongs to TimelineSession (session.ts).
//
//   /s/<id>/timeline?v=12.3s,40ms&sel=0.1.2.55&q=fusion&open=0.3&top=0.1.2,4&area=12.31s,18ms
//     &pin=0.1.2~0.1.3&tf=XLA&he=1&marks=12.3s:note&colour=name&flows=1&renderer=2d&two=1&align=step:7

import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import { ApiError } from '../api/client';
import { subscribeLocation } from '../state/router';
import { flushUrlWrites, pushKeys, replaceKeysSoon } from '../state/url';
import { useResolvedTheme } from '../theme/theme';
import { ErrorNotice } from '../ui/states';
import { BottomPanel } from './BottomPanel';
import { EmptyStates } from './EmptyStates';
import { Mirror, Notice } from './Mirror';
import { SecondStage } from './SecondStage';
import { TimelineSession } from './session';
import { findElements, StageGrid } from './StageGrid';
import { makeStore, type TimelineStore } from './state';
import { useStore } from './store';
import { Toolbar } from './Toolbar';
import { useTimelineKeys } from './useTimelineKeys';
import { Unpacking, Waiting } from './Waiting';
import './timeline.css';

export default function TimelinePage({ sessionId }: { sessionId: string }) {
  const [store] = useState(makeStore);
  const [session, setSession] = useState<TimelineSession | null>(null);
  const current = useRef<TimelineSession | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const theme = useResolvedTheme();
  const themeNow = useRef(theme);
  themeNow.current = theme;

  useEffect(() => {
    const opened = new TimelineSession(sessionId, findElements(root.current!), store, themeNow.current, {
      replaceSoon: replaceKeysSoon,
      push: pushKeys,
    });
    current.current = opened;
    setSession(opened);
    return () => {
      current.current = null;
      // What this view still had to write is written now or never: later it would move another view.
      flushUrlWrites();
      opened.dispose();
    };
  }, [sessionId, store]);

  useEffect(() => session?.engine.setTheme(theme), [session, theme]);
  // At once: a write of ours that is heard of late would look like one of somebody else's.
  useEffect(() => {
    session?.followUrl();
    return subscribeLocation(() => session?.followUrl());
  }, [session]);
  useTimelineKeys(useCallback(() => current.current, []), store);

  const error = useStore(store, (state) => state.error);
  const phase = useStore(store, (state) => state.phase);
  const twoOn = useStore(store, (state) => state.twoOn);
  return (
    <div className="tl" ref={root} data-testid="timeline" data-ready="false">
      <Toolbar store={store} session={session} />
      {error !== null && (
        <div className="tl-error">
          <ErrorNotice what={phase === 'failed' ? 'The timeline could not be opened.' : 'The timeline could not be refreshed.'} error={new ApiError(0, error)} onRetry={() => session?.retry()} />
        </div>
      )}
      <Stage store={store} session={session} sessionId={sessionId} />
      {twoOn && <SecondStage store={store} session={session} />}
      <BottomPanel store={store} session={session} container={root as RefObject<HTMLElement | null>} />
      <Mirror store={store} session={session} />
    </div>
  );
}

function Stage({ store, session, sessionId }: { store: TimelineStore; session: TimelineSession | null; sessionId: string }) {
  const complete = useStore(store, (state) => state.complete);
  const phase = useStore(store, (state) => state.phase);
  return (
    <div className="tl-stage">
      <StageGrid store={store} session={session} name="Timeline">
        <EmptyStates store={store} session={session} />
      </StageGrid>
      <Notice store={store} />
      {!complete && phase === 'ready' && (
        <div className="tl-decoding" role="status">
          Still reading: tracks fill in as they come.
        </div>
      )}
      {phase === 'loading' && <Unpacking sessionId={sessionId} />}
      {complete && session !== null && <Waiting engine={session.engine} />}
    </div>
  );
}
