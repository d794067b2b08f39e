// The timeline tool. React lays out the page and the panels; the canvas belongs to TimelineSession (session.ts).
//
//   /s/<id>/timeline?v=12.3s,40ms&sel=0.1.2.55&q=fusion&open=0.3&top=0.1.2,4&area=12.31s,18ms
//     &pin=0.1.2~0.1.3&tf=XLA&he=1&marks=12.3s:note&colour=name&flows=1&renderer=2d

import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import { ApiError } from '../api/client';
import { useLocation } from '../state/router';
import { pushKeys, replaceKeysSoon } from '../state/url';
import { useResolvedTheme } from '../theme/theme';
import { ErrorNotice } from '../ui/states';
import { BottomPanel } from './BottomPanel';
import type { Elements } from './elements';
import { EmptyStates } from './EmptyStates';
import { Mirror, Notice } from './Mirror';
import { TimelineSession } from './session';
import { makeStore, type TimelineStore } from './state';
import { useStore } from './store';
import { Toolbar } from './Toolbar';
import { TrackFilter } from './TrackControls';
import { useTimelineKeys } from './useTimelineKeys';
import './timeline.css';

export default function TimelinePage({ sessionId }: { sessionId: string }) {
  const [store] = useState(makeStore);
  const [session, setSession] = useState<TimelineSession | null>(null);
  const current = useRef<TimelineSession | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const theme = useResolvedTheme();
  const themeNow = useRef(theme);
  themeNow.current = theme;
  const { search } = useLocation();

  useEffect(() => {
    const opened = new TimelineSession(sessionId, findElements(root.current!), store, themeNow.current, {
      replaceSoon: replaceKeysSoon,
      push: pushKeys,
    });
    current.current = opened;
    setSession(opened);
    return () => {
      current.current = null;
      opened.dispose();
    };
  }, [sessionId, store]);

  useEffect(() => session?.engine.setTheme(theme), [session, theme]);
  useEffect(() => session?.followUrl(), [session, search]);
  useTimelineKeys(useCallback(() => current.current, []), store);

  const error = useStore(store, (state) => state.error);
  const phase = useStore(store, (state) => state.phase);
  return (
    <div className="tl" ref={root} data-testid="timeline" data-ready="false">
      <Toolbar store={store} session={session} />
      {error !== null && (
        <div className="tl-error">
          <ErrorNotice what={phase === 'failed' ? 'The timeline could not be opened.' : 'The timeline could not be refreshed.'} error={new ApiError(0, error)} onRetry={() => session?.retry()} />
        </div>
      )}
      <Stage store={store} session={session} />
      <BottomPanel store={store} session={session} container={root as RefObject<HTMLElement | null>} />
      <Mirror store={store} session={session} />
    </div>
  );
}

function Stage({ store, session }: { store: TimelineStore; session: TimelineSession | null }) {
  const complete = useStore(store, (state) => state.complete);
  const phase = useStore(store, (state) => state.phase);
  return (
    <div className="tl-stage">
      <div className="tl-corner tl-corner-minimap">
        <div className="tl-corner-line">
          <span className="label">Whole session</span>
          <span className="tl-total" data-part="total" />
        </div>
        <TrackFilter store={store} session={session} />
      </div>
      <div className="tl-minimap">
        <canvas data-part="minimap" aria-hidden="true" />
      </div>
      <div className="tl-corner tl-corner-ruler">
        <span className="tl-left-edge" data-part="corner" />
        <span className="tl-anchor" data-part="corner-note" />
      </div>
      <div className="tl-ruler">
        <canvas data-part="ruler" aria-hidden="true" />
      </div>
      <div className={phase === 'loading' ? 'tl-labels tl-skeleton' : 'tl-labels'} data-part="labels" role="group" aria-label="Tracks" />
      <div
        className="tl-body"
        data-part="body"
        data-testid="timeline-body"
        tabIndex={0}
        role="application"
        aria-label="Timeline. W and S zoom, A and D move, arrows go from event to event."
        aria-describedby="tl-mirror"
      >
        <div className="tl-bars-box" data-part="bars" />
        <canvas className="tl-overlay" data-part="overlay" aria-hidden="true" />
        {phase === 'loading' && <div className="tl-loading tl-skeleton" aria-hidden="true" />}
        <EmptyStates store={store} session={session} />
      </div>
      <div className="tl-scroll" data-part="scroll-track" aria-hidden="true">
        <div className="tl-scroll-thumb" data-part="scroll-thumb" hidden />
      </div>
      <Notice store={store} />
      {!complete && phase === 'ready' && (
        <div className="tl-decoding" role="status">
          Still reading: tracks fill in as they come.
        </div>
      )}
    </div>
  );
}

function findElements(root: HTMLElement): Elements {
  const part = <T extends HTMLElement>(name: string): T => root.querySelector<T>(`[data-part=${name}]`)!;
  return {
    root,
    body: part('body'),
    bars: part('bars'),
    overlay: part<HTMLCanvasElement>('overlay'),
    ruler: part<HTMLCanvasElement>('ruler'),
    minimap: part<HTMLCanvasElement>('minimap'),
    labels: part('labels'),
    corner: part('corner'),
    cornerNote: part('corner-note'),
    total: part('total'),
    scrollTrack: part('scroll-track'),
    scrollThumb: part('scroll-thumb'),
  };
}
