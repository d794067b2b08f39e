// Loading one answer of the server: keeps what was shown while it asks again, tells failure from "not yet", and asks again
// by itself when a lost connection is back.
//
//   const overview = useResource(`overview/${id}/${version}`, (signal) => api.overview(id, { signal }));
import { useCallback, useEffect, useRef, useState } from 'react';
import { type ApiError, isAbort, onConnection, poll, toApiError } from '../api/client';

export interface Resource<T> {
  readonly value: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

interface State<T> {
  key: string | null;
  value: T | null;
  error: ApiError | null;
  loading: boolean;
}

export function useResource<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<State<T>>({ key, value: null, error: null, loading: key !== null });
  const [attempt, setAttempt] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const reload = useCallback(() => setAttempt((n) => n + 1), []);

  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    setState((old) => ({ key, value: old.key === key ? old.value : null, error: null, loading: true }));
    loader.current(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ key, value, error: null, loading: false }),
      (error) => {
        if (isAbort(error) || abort.signal.aborted) return;
        setState((old) => ({ key, value: old.key === key ? old.value : null, error: toApiError(error), loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, attempt]);

  const waiting = state.error?.lostConnection ?? false;
  useEffect(() => {
    if (!waiting) return;
    return onConnection((lost) => {
      if (!lost) reload();
    });
  }, [waiting, reload]);

  // The first render after a change of key must not show the other key's answer.
  const current = state.key === key;
  return {
    value: current ? state.value : null,
    error: current ? state.error : null,
    loading: current ? state.loading : key !== null,
    reload,
  };
}

// Asks every `everyMs` with If-None-Match; `everyMs` null stops. The value changes only when the server's answer does.
export function usePolled<T>(path: string | null, everyMs: number | null): Resource<T> {
  const [state, setState] = useState<State<T>>({ key: path, value: null, error: null, loading: path !== null });
  const [attempt, setAttempt] = useState(0);
  const etag = useRef<{ path: string | null; etag: string | null }>({ path: null, etag: null });
  const interval = useRef(everyMs);
  interval.current = everyMs;
  const reload = useCallback(() => setAttempt((n) => n + 1), []);
  const stopped = everyMs === null;

  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      const known = etag.current.path === path ? etag.current.etag : null;
      try {
        const answer = await poll<T>(path, known, { signal: abort.signal });
        if (abort.signal.aborted) return;
        if (answer) {
          etag.current = { path, etag: answer.etag };
          setState({ key: path, value: answer.value, error: null, loading: false });
        } else {
          setState((old) => (old.error || old.loading ? { ...old, error: null, loading: false } : old));
        }
      } catch (error) {
        if (isAbort(error) || abort.signal.aborted) return;
        setState((old) => ({ key: path, value: old.key === path ? old.value : null, error: toApiError(error), loading: false }));
      }
      if (interval.current !== null && !abort.signal.aborted) timer = setTimeout(ask, interval.current);
    };
    setState((old) => (old.key === path ? old : { key: path, value: old.value, error: null, loading: true }));
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, attempt, stopped]);

  return { value: state.value, error: state.error, loading: state.loading || state.key !== path, reload };
}
