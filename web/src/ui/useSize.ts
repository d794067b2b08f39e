// The size of an element as it changes. Charts and virtual tables draw for it.
import { type RefCallback, useCallback, useRef, useState } from 'react';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function useSize<T extends HTMLElement>(first: Size = { width: 0, height: 0 }): [RefCallback<T>, Size] {
  const [size, setSize] = useState(first);
  const observer = useRef<ResizeObserver | null>(null);
  const ref = useCallback((element: T | null) => {
    observer.current?.disconnect();
    observer.current = null;
    if (!element) return;
    const read = () => {
      const width = element.clientWidth;
      const height = element.clientHeight;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    read();
    if (typeof ResizeObserver === 'undefined') return;
    observer.current = new ResizeObserver(read);
    observer.current.observe(element);
  }, []);
  return [ref, size];
}
