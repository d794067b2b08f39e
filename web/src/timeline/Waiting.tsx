// A slow server is said, and what of the picture is not its last word; an answer that comes takes the words away.

import { useEffect, useState, useSyncExternalStore } from 'react';
import { connectionLost, onConnection } from '../api/client';
import { formatBytes, plural } from '../format/format';
import { useOpening } from '../ui/useOpening';
import type { Engine } from './engine';
import { useStore } from './store';

/** Shorter waits are not worth a word. */
const SLOW_MS = 1500;
const TICK_MS = 1000;

/** In the place of the tracks, while nothing is known of them yet. */
export function Unpacking({ sessionId }: { sessionId: string }) {
  const opening = useOpening(sessionId);
  if (opening === null) return null;
  const share = Math.min(1, opening.done_bytes / Math.max(1, opening.total_bytes));
  return (
    <div className="tl-empty tl-unpacking" role="status" data-testid="timeline-unpacking">
      Unpacking the profile: {formatBytes(opening.done_bytes)} of {formatBytes(opening.total_bytes)}
      <div className="progress" role="progressbar" aria-label="Unpacking the profile" aria-valuenow={Math.round(share * 100)} aria-valuemin={0} aria-valuemax={100}>
        <div style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

export function Waiting({ engine }: { engine: Engine }) {
  const pending = useStore(engine.progress, (state) => state.pending);
  const waits = pending > 0;
  const [sinceMs, setSinceMs] = useState<number | null>(null);
  const [nowMs, setNowMs] = useState(0);
  const arrived = useStore(engine.progress, (state) => state.arrived);
  useEffect(() => {
    // Each answer begins a new wait: a server that works through a long list is not a slow one.
    setSinceMs(waits ? performance.now() : null);
  }, [waits, arrived]);
  useEffect(() => {
    if (sinceMs === null) return;
    let timer = window.setTimeout(function tick() {
      setNowMs(performance.now());
      timer = window.setTimeout(tick, TICK_MS);
    }, SLOW_MS);
    return () => window.clearTimeout(timer);
  }, [sinceMs]);
  // A server that is gone is not slow: the banner above says so.
  const lost = useSyncExternalStore(onConnection, connectionLost);
  if (lost || sinceMs === null || nowMs - sinceMs < SLOW_MS) return null;
  return (
    <div className="tl-decoding tl-waiting" role="status" data-testid="timeline-waiting">
      The server is slow: waiting {Math.floor((nowMs - sinceMs) / 1000)} s for {plural(pending, 'piece')}. Coarser pieces and hatched ground stand in.
    </div>
  );
}
