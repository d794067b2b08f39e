// j, k, arrows, Home, End and Enter over the rows of a table. The current row is scrolled into sight,
// by `reveal` where not all rows are in the page.
import { useEffect, useRef, useState } from 'react';
import { useKeys } from '../keys/useKeys';

export interface RowCursor {
  readonly index: number; // -1: none yet
  readonly setIndex: (index: number) => void;
  readonly bodyRef: React.RefObject<HTMLTableSectionElement | null>;
}

export function useRowCursor(count: number, open: (index: number) => void, active = true, reveal?: (index: number) => void): RowCursor {
  const [index, setIndex] = useState(-1);
  const bodyRef = useRef<HTMLTableSectionElement>(null);
  const move = (to: number) => {
    if (count === 0) return;
    const next = Math.max(0, Math.min(count - 1, to));
    setIndex(next);
    if (reveal) reveal(next);
    else bodyRef.current?.rows[next]?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(
    {
      'list.next': () => move(index + 1),
      'list.previous': () => move(index < 0 ? 0 : index - 1),
      'list.first': () => move(0),
      'list.last': () => move(count - 1),
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
  return { index, setIndex, bodyRef };
}
