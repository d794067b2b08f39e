// What cannot be read from the page itself, because only a part of it is drawn: long tables and texts. Whoever draws one says here, for
// its element, what all of it is; saving a page asks.
//
//   const ref = useExportable(() => ({ kind: 'table', table: wholeTable() }));
//   <div ref={ref}> ...the rows in sight... </div>
import { type RefCallback, useCallback, useRef } from 'react';
import type { ExportTable } from './model';

export type Exportable = { readonly kind: 'table'; readonly table: ExportTable } | { readonly kind: 'text'; readonly text: string };

const known = new WeakMap<Element, () => Exportable>();

export function exportableOf(element: Element): Exportable | null {
  return known.get(element)?.() ?? null;
}

export function registerExportable(element: Element, what: () => Exportable): void {
  known.set(element, what);
}

export function useExportable<T extends Element>(what: () => Exportable): RefCallback<T> {
  const latest = useRef(what);
  latest.current = what;
  return useCallback((element: T | null) => {
    if (element) known.set(element, () => latest.current());
  }, []);
}

// What draws a canvas again, for one whose content is gone once it was shown.
const redraws = new WeakMap<HTMLCanvasElement, () => void>();

export function registerRedraw(canvas: HTMLCanvasElement, redraw: () => void): void {
  redraws.set(canvas, redraw);
}

// The canvas as it is, as a PNG in an address; empty when it shows nothing.
export function pictureOf(canvas: HTMLCanvasElement): string {
  if (canvas.width === 0 || canvas.height === 0) return '';
  redraws.get(canvas)?.();
  return canvas.toDataURL('image/png');
}

// How a canvas is drawn again with lines instead of dots, for pictures that may be enlarged.
export type Painter = Pick<CanvasRenderingContext2D, 'fillRect' | 'strokeRect'> & { fillStyle: unknown; strokeStyle: unknown; lineWidth: number };

const paintings = new WeakMap<HTMLCanvasElement, (painter: Painter) => void>();

export function registerPainting(canvas: HTMLCanvasElement, paint: (painter: Painter) => void): void {
  paintings.set(canvas, paint);
}

export function paintingOf(canvas: HTMLCanvasElement): ((painter: Painter) => void) | null {
  return paintings.get(canvas) ?? null;
}
