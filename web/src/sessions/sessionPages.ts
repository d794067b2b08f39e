// The list of sessions, page by page: the first one is looked at again and again, at the cost of an empty 304 while nothing changed.
// While the answer to other words is on its way, the rows of the old ones stay.
import { useCallback, useRef, useState } from 'react';
import { getJson, poll, sessionsPath } from '../api/client';
import type { SessionList, SessionSummary } from '../api/types';
import { type PageOf, type Pages, usePages } from '../ui/pages';

const pollMs = 1500;
const pageSize = 200;
const arrangedPageSize = 1000; // The most that one answer holds: an order of our own needs all of them.
/** Sessions that are ordered and filtered in the page; of more the newest. */
export const mostArranged = 20_000;

export interface SessionPages extends Pages<SessionSummary> {
  readonly total: number | null; // Of all that the words find; null until it was told once.
  readonly answered: boolean; // What is shown is what the words asked for.
}

interface FirstPage {
  readonly path: string;
  readonly etag: string | null;
  readonly page: PageOf<SessionSummary>;
}

export function useSessionPages(words: string, arranged: boolean): SessionPages {
  const first = useRef<FirstPage | null>(null);
  const [total, setTotal] = useState<number | null>(null);
  const size = arranged ? arrangedPageSize : pageSize;
  const load = useCallback(
    async (pageToken: string, signal: AbortSignal): Promise<PageOf<SessionSummary>> => {
      const path = sessionsPath({ q: words, page_size: size, page_token: pageToken });
      const take = (list: SessionList): PageOf<SessionSummary> => {
        if (!signal.aborted) setTotal(list.total);
        return { items: list.sessions, next: list.next_page_token ?? null };
      };
      if (pageToken !== '') return take(await getJson<SessionList>(path, { signal }));
      const known = first.current?.path === path ? first.current : null;
      const answer = await poll<SessionList>(path, known?.etag ?? null, { signal });
      if (answer === null && known !== null) return known.page;
      const page = take(answer!.value);
      first.current = { path, etag: answer!.etag, page };
      return page;
    },
    [words, size],
  );
  const list = usePages(`sessions/${size}/${words}`, load, (session) => session.id, { everyMs: pollMs });
  const kept = useRef(list);
  if (list.known) kept.current = list;
  return list.known ? { ...list, total, answered: true } : { ...kept.current, error: list.error, loading: list.loading, more: list.more, reload: list.reload, hasMore: false, total, answered: false };
}
