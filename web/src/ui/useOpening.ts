// What the server does while the first question about a session waits: it unpacks a compressed profile, which may take a minute.
//
//   const opening = useOpening(detail === null ? sessionId : null);     // null: nothing is unpacked, or nobody knows
import { useEffect, useState } from 'react';
import { api } from '../api/client';
import type { Opening } from '../api/types';

/** Answers that come sooner need no word. */
const firstMs = 400;
const everyMs = 500;

export function useOpening(sessionId: string | null): Opening | null {
  const [opening, setOpening] = useState<Opening | null>(null);
  useEffect(() => {
    setOpening(null);
    if (sessionId === null) return;
    const abort = new AbortController();
    let timer = setTimeout(ask, firstMs);
    async function ask() {
      try {
        const now = await api.opening(sessionId!, { signal: abort.signal });
        if (abort.signal.aborted) return;
        setOpening(now.stage === 'unpacking' ? now : null);
      } catch {
        // Whatever is wrong, the question that waits will say it.
      }
      if (!abort.signal.aborted) timer = setTimeout(ask, everyMs);
    }
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [sessionId]);
  return opening;
}
