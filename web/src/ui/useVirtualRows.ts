// Which rows of a long table are in sight of the page that scrolls: the others are one blank row above and one below.
//
//   const sight = useVirtualRows(bodyRef, items.length);
//   <tbody ref={bodyRef}>{sight.above > 0 && <Blank height={sight.above} />}{items.slice(sight.first, sight.last).map(...)}...
//
// Cost: one state change for each row height scrolled. Limits: rows are 28 px high.
import { useCallback, useEffect, useState } from 'react';

export const rowHeightPx = 28;
const spareRows = 12; // Drawn beyond the edges, so that a fast scroll shows no gap.
const wholeUpTo = 60; // So many rows cost less than looking after them.

export interface RowsInSight {
  readonly first: number;
  readonly last: number; // One behind.
  readonly above: number; // px
  readonly below: number;
  readonly reveal: (index: number) => void;
  readonly perScreen: () => number; // Rows that are seen at once.
}

export function rowsInSight(count: number, fromPx: number, heightPx: number): { first: number; last: number } {
  if (count <= wholeUpTo) return { first: 0, last: count };
  // On whole dozens, so that most steps of a scroll change nothing.
  const step = spareRows;
  const first = Math.max(0, Math.floor((fromPx / rowHeightPx - spareRows) / step) * step);
  const last = Math.min(count, Math.ceil(((fromPx + heightPx) / rowHeightPx + spareRows) / step) * step);
  return { first: Math.min(first, Math.max(0, count - 1)), last: Math.max(last, Math.min(count, first + 1)) };
}

function scrollerOf(element: HTMLElement | null): HTMLElement | null {
  return element?.closest<HTMLElement>('.page') ?? null;
}

export function useVirtualRows(bodyRef: React.RefObject<HTMLTableSectionElement | null>, count: number): RowsInSight {
  const [sight, setSight] = useState(() => rowsInSight(count, 0, 1000));
  const measure = useCallback(() => {
    const body = bodyRef.current;
    const scroller = scrollerOf(body);
    if (!body || !scroller) return;
    const from = scroller.getBoundingClientRect().top - body.getBoundingClientRect().top;
    const next = rowsInSight(count, from, scroller.clientHeight);
    setSight((old) => (old.first === next.first && old.last === next.last ? old : next));
  }, [bodyRef, count]);

  useEffect(() => {
    measure();
    const scroller = scrollerOf(bodyRef.current);
    if (!scroller) return;
    scroller.addEventListener('scroll', measure, { passive: true });
    window.addEventListener('resize', measure);
    return () => {
      scroller.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
    };
  }, [measure, bodyRef]);

  const reveal = useCallback(
    (index: number) => {
      const body = bodyRef.current;
      const scroller = scrollerOf(body);
      if (!body || !scroller) return;
      const box = scroller.getBoundingClientRect();
      const headerPx = rowHeightPx; // The header sticks to the upper edge.
      const top = body.getBoundingClientRect().top + index * rowHeightPx;
      if (top < box.top + headerPx) scroller.scrollTop += top - box.top - headerPx;
      else if (top + rowHeightPx > box.bottom) scroller.scrollTop += top + rowHeightPx - box.bottom;
    },
    [bodyRef],
  );

  const perScreen = useCallback(() => Math.max(1, Math.floor(((scrollerOf(bodyRef.current)?.clientHeight ?? 0) - rowHeightPx) / rowHeightPx)), [bodyRef]);

  const last = Math.min(sight.last, count);
  const first = Math.min(sight.first, last);
  // A list that just grew or shrank is measured after this drawing.
  const whole = count <= wholeUpTo;
  return { first: whole ? 0 : first, last: whole ? count : last, above: whole ? 0 : first * rowHeightPx, below: whole ? 0 : (count - last) * rowHeightPx, reveal, perScreen };
}
