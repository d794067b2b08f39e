// The canvas in words: the selected event, its place and its neighbours on screen. Focusable, and read out on change.

import { exactTime, formatTime, plural } from '../format/format';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { useStore } from './store';

export function Mirror({ store, session }: { store: TimelineStore; session: TimelineSession | null }) {
  const detail = useStore(store, (state) => state.detail);
  const selection = useStore(store, (state) => state.selection);
  const picked = useStore(store, (state) => state.picked);
  const said = selection === null ? 'No event is selected.' : detail === null ? 'Reading the event.'
    : `${detail.name}, ${formatTime(detail.duration_ps)}, at ${formatTime(detail.start_ps)}, on ${detail.line} of ${detail.plane}` +
      `${detail.host === '' ? '' : `, host ${detail.host}`}, depth ${detail.depth ?? 'not known'}.` +
      (picked !== null && picked.count > 1 ? ` Longest of ${plural(picked.count, 'event')} drawn as one bar.` : '');
  return (
      <div id="tl-mirror" className="visually-hidden tl-mirror" data-testid="timeline-mirror" tabIndex={0} role="group" aria-label="Selected event">
        <p aria-live="polite">{said}</p>
        {detail !== null && selection !== null && (
          <ul>
            <li>Starts at {exactTime(detail.start_ps)}</li>
            <li>Lasts {exactTime(detail.duration_ps)}</li>
            <li>
              <button type="button" onClick={() => session?.navigator.stepEvent('previous')}>Previous event of the line</button>
            </li>
            <li>
              <button type="button" onClick={() => session?.navigator.stepEvent('next')}>Next event of the line</button>
            </li>
          </ul>
        )}
      </div>
  );
}

/** One line that fades: "Hit 3 of 162". */
export function Notice({ store }: { store: TimelineStore }) {
  const notice = useStore(store, (state) => state.notice);
  return (
    <div className={notice === '' ? 'visually-hidden' : 'tl-notice'} role="status" aria-live="polite" key={notice}>
      {notice}
    </div>
  );
}
