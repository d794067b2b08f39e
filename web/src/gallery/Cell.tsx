// One picture of the gallery: what it shows and in which state, in a box of fixed size, so that a change of one moves no other.
import type { ReactNode } from 'react';

interface CellProps {
  part: string; // "DataTable"
  state: string; // "loading"
  wide?: boolean;
  height?: number;
  children: ReactNode;
}

export function Cell({ part, state, wide = false, height = 120, children }: CellProps) {
  const name = `${part}.${state}`;
  return (
    <figure className={wide ? 'gallery-cell wide' : 'gallery-cell'} aria-label={`${part}, ${state}`}>
      <figcaption className="label">
        {part} <span className="text2">{state}</span>
      </figcaption>
      <div className="gallery-picture" data-picture={name} style={{ height }}>
        {children}
      </div>
    </figure>
  );
}

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <div className="gallery-cells">{children}</div>
    </section>
  );
}
