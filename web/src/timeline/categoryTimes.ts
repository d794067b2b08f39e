// How the time in view divides over the categories: of every line on screen each moment once, the innermost event's.
//
//   const times = new CategoryTimes();
//   times.beginLine(); times.beginRow(); times.add(x0, x1, busyPx, category) ...   // rows from the outermost, bars from the left
//   times.ranked(psPerPx)                                                         // the longest first
//
// Cost: linear in the bars. Limits: a bar that stands for many events counts for the longest of them, as its colour does.

import type { LineInfo, PlaneInfo } from './model';

export interface CategoryTime {
  readonly category: number;
  readonly timePs: number;
}

const CATEGORIES = 10;

export class CategoryTimes {
  private readonly px = new Float64Array(CATEGORIES);
  // The row above, which holds the parents of this one, and this one: x0, x1, category of each bar.
  private parents: number[] = [];
  private own: number[] = [];
  private at = 0;

  beginLine(): void {
    this.parents = [];
    this.own = [];
    this.at = 0;
  }

  beginRow(): void {
    [this.parents, this.own] = [this.own, this.parents];
    this.own.length = 0;
    this.at = 0;
  }

  add(x0: number, x1: number, busyPx: number, category: number): void {
    this.own.push(x0, x1, category);
    this.px[category]! += busyPx;
    const { parents } = this;
    const middle = (x0 + x1) / 2;
    while (this.at < parents.length && parents[this.at + 1]! < middle) this.at += 3;
    // What runs inside is no time of what it runs in.
    if (this.at < parents.length && parents[this.at]! <= middle) this.px[parents[this.at + 2]!]! -= busyPx;
  }

  /** Categories that ran, the longest first. */
  ranked(psPerPx: number): CategoryTime[] {
    const times: CategoryTime[] = [];
    this.px.forEach((px, category) => {
      const timePs = Math.round(px * psPerPx);
      if (timePs > 0) times.push({ category, timePs });
    });
    return times.sort((a, b) => b.timePs - a.timePs || a.category - b.category);
  }
}

/** Lines whose time counts: of a device its ops and kernels, not the steps, programs and scopes that repeat them. */
export function countedLines(planes: readonly PlaneInfo[]): Set<string> {
  return new Set(planes.flatMap((plane) => countedOf(plane).map((line) => line.id)));
}

function countedOf(plane: PlaneInfo): readonly LineInfo[] {
  const measured = plane.lines.filter((line) => !line.derived && line.kind !== 'counter');
  if (plane.kind !== 'device') return measured;
  for (const kinds of [['ops', 'stream'], ['modules']]) {
    const lines = measured.filter((line) => kinds.includes(line.kind));
    if (lines.length > 0) return lines;
  }
  return measured;
}
