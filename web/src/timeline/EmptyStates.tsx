// What stands in the drawing area when there is nothing to draw: no event in this view, or none at all.

import { Icon } from '../ui/Icon';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { useStore } from './store';

export function EmptyStates({ store, session }: { store: TimelineStore; session: TimelineSession | null }) {
  const noEvents = useStore(store, (state) => state.noEvents);
  const empty = useStore(store, (state) => state.empty);
  if (empty) {
    return (
      <div className="tl-empty" role="status" data-testid="timeline-empty">
        <strong>This profile has no events.</strong>
        <span className="muted">Its files were read, and no line holds anything. Capture again while the job runs.</span>
      </div>
    );
  }
  if (!noEvents) return null;
  return (
    <div className="tl-empty" role="status" data-testid="timeline-no-events">
      <strong>No event here on the tracks in sight.</strong>
      <div className="tl-empty-buttons" onPointerDown={(event) => event.stopPropagation()}>
        <button type="button" className="button" onClick={() => session?.navigator.goToNearest('previous')}>
          <Icon name="left" />
          Nearest event before
        </button>
        <button type="button" className="button" onClick={() => session?.navigator.goToNearest('next')}>
          Nearest event after
          <Icon name="right" />
        </button>
      </div>
    </div>
  );
}
