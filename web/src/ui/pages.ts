// A list that the server gives page by page: more comes when it is wanted, what is there is looked at again and again.
//
//   const list = usePages('users/' + filter, (page, signal) => accessApi.users({ filter, page_token: page }, { signal }), (user) => user.name);
//   list.items, list.hasMore, list.more(), list.reload(), list.error
//
// A refresh asks for the first page only. While it has the same rows in the same order, what stands in it is taken over and the later
// pages stay; else, and every `wholeEveryMs`, all pages that are shown are asked for again before anything changes on screen.
import { useCallback, useEffect, useRef, useState } from 'react';
import { type ApiError, isAbort, onConnection, toApiError } from '../api/client';
import { useVisible } from '../state/url';

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export type LoadPage<T> = (pageToken: string, signal: AbortSignal) => Promise<PageOf<T>>;

export interface PagedState<T> {
  readonly items: readonly T[];
  readonly next: string | null; // Token of the page after those shown.
  readonly pages: number; // How many are shown; 0: none came yet.
}

export const noPages = { items: [], next: null, pages: 0 } as const;

export async function loadPages<T>(count: number, load: LoadPage<T>, signal: AbortSignal): Promise<PagedState<T>> {
  const items: T[] = [];
  let next: string | null = '';
  let pages = 0;
  while (next !== null && pages < count) {
    const page: PageOf<T> = await load(next, signal);
    items.push(...page.items);
    next = page.next;
    pages += 1;
  }
  return { items, next, pages };
}

// What the list becomes when its first page is this now; null when the later pages do not follow from it any more.
export function takeFirstPage<T>(shown: PagedState<T>, first: PageOf<T>, keyOf: (item: T) => string): PagedState<T> | null {
  if (shown.pages <= 1) return { items: first.items, next: first.next, pages: 1 };
  const same = first.items.length <= shown.items.length && first.items.every((item, i) => keyOf(item) === keyOf(shown.items[i]!));
  if (!same || first.next === null) return null;
  return { ...shown, items: [...first.items, ...shown.items.slice(first.items.length)] };
}

export interface Pages<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
  readonly known: boolean; // The first page came.
  readonly loading: boolean;
  readonly error: ApiError | null;
  readonly more: () => void;
  readonly reload: () => void;
}

const cheapPages = 4; // So many are asked for again as often as said; more of them the more seldom.

interface Held<T> {
  readonly key: string | null;
  readonly state: PagedState<T>;
  readonly error: ApiError | null;
  readonly loading: boolean;
}

export interface PagesOptions {
  readonly everyMs?: number; // Absent: only when reload is called.
  readonly wholeEveryMs?: number;
}

export function usePages<T>(key: string | null, load: LoadPage<T>, keyOf: (item: T) => string, { everyMs, wholeEveryMs = 15_000 }: PagesOptions = {}): Pages<T> {
  const fresh: Held<T> = { key, state: noPages, error: null, loading: key !== null };
  const [held, setHeld] = useState<Held<T>>(fresh);
  const [attempt, setAttempt] = useState(0);
  const visible = useVisible();
  const calls = useRef({ load, keyOf });
  calls.current = { load, keyOf };
  const current = held.key === key ? held : fresh;
  const latest = useRef(current);
  latest.current = current;
  const wholeAt = useRef(0);
  const busy = useRef<AbortController | null>(null);

  // One request at a time: a newer wish gives up what is under way.
  const run = useCallback(
    (work: (signal: AbortSignal) => Promise<PagedState<T>>) => {
      busy.current?.abort();
      const control = new AbortController();
      busy.current = control;
      setHeld((old) => (old.key === key ? { ...old, loading: true } : { key, state: noPages, error: null, loading: true }));
      work(control.signal).then(
        (state) => !control.signal.aborted && setHeld({ key, state, error: null, loading: false }),
        (error) => {
          if (isAbort(error) || control.signal.aborted) return;
          setHeld((old) => ({ key, state: old.key === key ? old.state : noPages, error: toApiError(error), loading: false }));
        },
      );
    },
    [key],
  );

  const whole = useCallback(() => {
    wholeAt.current = performance.now();
    run((signal) => loadPages(Math.max(1, latest.current.state.pages), (token, s) => calls.current.load(token, s), signal));
  }, [run]);

  useEffect(() => {
    if (key === null) return;
    whole();
    return () => busy.current?.abort();
  }, [key, attempt, whole]);

  const { loading } = current;
  useEffect(() => {
    if (!visible || key === null || loading || everyMs === undefined) return;
    const timer = setTimeout(() => {
      const shown = latest.current.state;
      if (shown.pages > 1 && performance.now() - wholeAt.current > wholeEveryMs * Math.max(1, shown.pages / cheapPages)) return whole();
      run(async (signal) => {
        const first = await calls.current.load('', signal);
        return takeFirstPage(shown, first, calls.current.keyOf) ?? loadPages(shown.pages, (token, s) => calls.current.load(token, s), signal);
      });
    }, everyMs);
    return () => clearTimeout(timer);
    // Every answer starts the clock anew, also one that came as fast as the question was seen.
  }, [visible, key, held, loading, everyMs, wholeEveryMs, run, whole]);

  const waiting = current.error?.lostConnection ?? false;
  useEffect(() => {
    if (!waiting) return;
    return onConnection((lost) => {
      if (!lost) setAttempt((n) => n + 1);
    });
  }, [waiting]);

  const wanted = useRef(false);
  const more = useCallback(() => {
    const shown = latest.current.state;
    if (shown.next === null || wanted.current) return;
    wanted.current = true;
    const token = shown.next;
    run(async (signal) => {
      try {
        const page = await calls.current.load(token, signal);
        return { items: [...shown.items, ...page.items], next: page.next, pages: shown.pages + 1 };
      } finally {
        wanted.current = false;
      }
    });
  }, [run]);
  const reload = useCallback(() => setAttempt((n) => n + 1), []);

  return { items: current.state.items, hasMore: current.state.next !== null, known: current.state.pages > 0, loading, error: current.error, more, reload };
}
