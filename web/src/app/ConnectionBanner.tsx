// Says that the server cannot be reached and keeps trying. What is on the page stays; it fills again by itself.
import { useEffect, useState, useSyncExternalStore } from 'react';
import { api, connectionLost, onConnection } from '../api/client';
import { plural } from '../format/format';
import { Icon } from '../ui/Icon';

const retryMs = 1000;
const slowRetryMs = 5000;
const quickRetries = 15; // After that many the server is likely down for longer.

export function ConnectionBanner() {
  const lost = useSyncExternalStore(onConnection, connectionLost);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!lost) {
      setTries(0);
      return;
    }
    const timer = setTimeout(
      () => {
        api.config().then(
          () => setTries(0),
          () => setTries((n) => n + 1),
        );
      },
      tries < quickRetries ? retryMs : slowRetryMs,
    );
    return () => clearTimeout(timer);
  }, [lost, tries]);
  return lost ? <LostConnection tries={tries} onRetry={() => setTries((n) => n + 1)} /> : null;
}

export function LostConnection({ tries, onRetry }: { tries: number; onRetry: () => void }) {
  return (
    <div className="banner" role="alert">
      <Icon name="offline" />
      <span>
        <strong>No connection to the server.</strong> What you see is the last answer. Trying again by itself{tries > 1 ? `, ${plural(tries, 'time')} so far` : ''}.
      </span>
      <button type="button" className="button small" onClick={onRetry}>
        Retry now
      </button>
    </div>
  );
}
