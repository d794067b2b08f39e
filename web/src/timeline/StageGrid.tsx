// The grid of one timeline: minimap, ruler, track names, drawing area, scroll bar. The engine draws into it by data-part.

import type { ReactNode } from 'react';
import type { Elements } from './elements';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { useStore } from './store';
import { TrackFilter } from './TrackControls';

interface Props {
  readonly store: TimelineStore;
  readonly session: TimelineSession | null; // null: the second timeline, which has no filter of its own
  readonly name: string;
  readonly children?: ReactNode; // over the drawing area
}

export function StageGrid({ store, session, name, children }: Props) {
  const phase = useStore(store, (state) => state.phase);
  const hasModules = useStore(store, (state) => state.modules.length > 0);
  const first = name === 'Timeline';
  return (
    <div className={hasModules ? 'tl-grid tl-with-modules' : 'tl-grid'}>
      <div className="tl-corner tl-corner-minimap">
        <div className="tl-corner-line">
          <span className="label">Whole session</span>
          <span className="tl-total" data-part="total" />
        </div>
        {first && <TrackFilter store={store} session={session} />}
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
      <div className={phase === 'loading' ? 'tl-labels tl-skeleton' : 'tl-labels'} data-part="labels" role="group" aria-label={first ? 'Tracks' : 'Tracks of the baseline'} />
      <div
        className="tl-body" data-part="body" data-testid={first ? 'timeline-body' : 'timeline-second-body'} tabIndex={0} role="application"
        aria-label={`${name}. W and S zoom, A and D move, arrows go from event to event.`} aria-describedby={first ? 'tl-mirror' : undefined}
      >
        <div className="tl-bars-box" data-part="bars" />
        <canvas className="tl-overlay" data-part="overlay" aria-hidden="true" />
        {phase === 'loading' && <div className="tl-loading tl-skeleton" aria-hidden="true" />}
        {children}
      </div>
      <div className="tl-scroll" data-part="scroll-track" aria-hidden="true">
        <div className="tl-scroll-thumb" data-part="scroll-thumb" hidden />
      </div>
    </div>
  );
}

export function findElements(root: HTMLElement): Elements {
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
