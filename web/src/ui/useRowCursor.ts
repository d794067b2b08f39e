// j, k, arrows, Home, End and Enter over the rows of a table. The current row is scrolled into sight,
// by `reveal` where not all rows are in the page.
//
// With `paging` the list comes page by page: End and PageDown load on, a page after the other, until their row is there. `goal` is then
// what they are on their way to; any other move, or stop(), gives it up. Limit: mostPagesAhead pages for one key.
import { useEffect, useRef, useState } from 'react';
import { useKeys } from '../keys/useKeys';

export interface RowCursor {
  readonly index: number; // -1: none yet
  readonly setIndex: (index: number) => void;
  readonly bodyRef: React.RefObject<HTMLTableSectionElement | null>;
  readonly goal: number | null; // The row that is being loaded; Infinity: the last one.
  readonly stop: () => void;
}

export interface Paging {
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly failed: boolean;
  readonly more: () => void; // The next page.
  readonly perScreen: () => number; // Rows that PageDown and PageUp move by.
}

export const mostPagesAhead = 400; // 100,000 rows of 250 each.

export function useRowCursor(count: number, open: (index: number) => void, active = true, reveal?: (index: number) => void, paging?: Paging): RowCursor {
  const [index, setIndex] = useState(-1);
  const [goal, setGoal] = useState<number | null>(null);
  const pages = useRef(0);
  const bodyRef = useRef<HTMLTableSectionElement>(null);
  const place = (to: number) => {
    if (count === 0) return;
    const next = Math.max(0, Math.min(count - 1, to));
    setIndex(next);
    if (reveal) reveal(next);
    else bodyRef.current?.rows[next]?.scrollIntoView({ block: 'nearest' });
  };
  const move = (to: number) => {
    pages.current = 0;
    setGoal(paging?.hasMore && to >= count ? to : null);
    place(to);
  };
  const screen = () => Math.max(1, (paging?.perScreen() ?? 1) - 1);
  useKeys(
    {
      'list.next': () => move(index + 1),
      'list.previous': () => move(index < 0 ? 0 : index - 1),
      'list.first': () => move(0),
      'list.last': () => move(Infinity),
      'list.page_down': () => (paging ? move(Math.max(0, index) + screen()) : false),
      'list.page_up': () => (paging ? move(Math.max(0, index - screen())) : false),
      'list.open': () => {
        if (index < 0) return false;
        open(index);
        return true;
      },
    },
    { active },
  );
  useEffect(() => {
    if (index >= count) setIndex(count - 1);
  }, [count, index]);

  const hasMore = paging?.hasMore ?? false;
  const loading = paging?.loading ?? false;
  const failed = paging?.failed ?? false;
  const more = paging?.more;
  useEffect(() => {
    if (goal === null || (loading && hasMore)) return;
    if (hasMore && !failed && count <= goal && pages.current < mostPagesAhead) {
      pages.current += 1;
      more?.();
      return;
    }
    setGoal(null);
    place(goal);
    // `place` is of this drawing, which knows the rows that came.
  }, [goal, count, hasMore, loading, failed, more]);
  const choose = (to: number) => {
    setGoal(null);
    setIndex(to);
  };
  return { index, setIndex: choose, bodyRef, goal, stop: () => setGoal(null) };
}
