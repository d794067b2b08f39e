// The timeline's keys, bound to the one key table. Held keys (WASD) move until they are released.

import { useEffect } from 'react';
import { useKeys } from '../keys/useKeys';
import { splitEventId, planeOf } from './model';
import type { HeldMove } from './motion';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';

const MOVE_BY_LETTER: Readonly<Record<string, HeldMove>> = { w: 'zoom_in', s: 'zoom_out', a: 'pan_left', d: 'pan_right' };

export function useTimelineKeys(session: () => TimelineSession | null, store: TimelineStore): void {
  const move = (held: HeldMove) => (event: KeyboardEvent): void => session()?.engine.press(held, event.shiftKey);
  useKeys({
    'timeline.zoom_in': move('zoom_in'),
    'timeline.zoom_out': move('zoom_out'),
    'timeline.pan_left': move('pan_left'),
    'timeline.pan_right': move('pan_right'),
    'timeline.previous_event': () => session()?.navigator.stepEvent('previous'),
    'timeline.next_event': () => session()?.navigator.stepEvent('next'),
    'timeline.previous_track': () => session()?.navigator.stepTrack(-1),
    'timeline.next_track': () => session()?.navigator.stepTrack(1),
    'timeline.fit_selection': () => session()?.navigator.fitSelection(),
    'timeline.fit_all': () => session()?.engine.fitAll(),
    'timeline.next_hit': () => session()?.navigator.stepHit(1),
    'timeline.previous_hit': () => session()?.navigator.stepHit(-1),
    'timeline.go_to': () => store.set({ goToOpen: true }),
    'timeline.mark': () => session()?.addMark(),
    'timeline.gaps': () => (store.get().panel === 'gaps' ? store.set({ panel: 'event' }) : session()?.openGaps(null)),
    'timeline.pin': () => {
      const id = splitEventId(store.get().selection ?? '');
      if (id === null) return false;
      session()?.engine.togglePin(id.line);
      return true;
    },
    'timeline.collapse': () => {
      const id = splitEventId(store.get().selection ?? '');
      if (id !== null) session()?.engine.toggle(planeOf(id.line));
      else return false;
      return true;
    },
    'app.find': () => document.querySelector<HTMLInputElement>('[data-testid=timeline-search]')?.focus(),
    'app.close': () => session()?.closeTop() ?? false,
  });

  useEffect(() => {
    const release = (event: KeyboardEvent): void => {
      const held = MOVE_BY_LETTER[event.key.toLowerCase()];
      if (held !== undefined) session()?.engine.release(held);
    };
    // A key released while another window has the focus never tells us.
    const releaseAll = (): void => session()?.engine.release('all');
    window.addEventListener('keyup', release);
    window.addEventListener('blur', releaseAll);
    return () => {
      window.removeEventListener('keyup', release);
      window.removeEventListener('blur', releaseAll);
    };
  }, [session]);
}
