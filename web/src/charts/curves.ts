// From points to lines: gaps, bands and what the pointer reads. Pure functions of numbers.

export interface Curve {
  readonly x: readonly number[]; // Rising.
  readonly mean: readonly (number | null)[];
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  readonly gap: number; // A longer way between neighbours is a gap.
}

// Neighbours that lie much further apart than usual have nothing between them. A job that writes every tenth step has no gaps.
export function gapOf(x: readonly number[], bucketWidth: number): number {
  if (x.length < 3) return Number.POSITIVE_INFINITY;
  const ways = x.slice(1).map((value, i) => value - x[i]!);
  const usual = [...ways].sort((a, b) => a - b)[ways.length >> 1]!;
  return Math.max(bucketWidth, usual * 4) * 1.001;
}

// The lowest and highest value of the curves within the range of x.
export function rangeOf(curves: readonly Curve[], [from, to]: readonly [number, number]): readonly [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const curve of curves) {
    curve.x.forEach((at, i) => {
      if (at < from || at > to) return;
      const least = curve.min[i];
      const most = curve.max[i];
      if (typeof least === 'number' && least < low) low = least;
      if (typeof most === 'number' && most > high) high = most;
    });
  }
  return low <= high ? [low, high] : [0, 1];
}

// Index of the point nearest to `at`; -1 of an empty list.
export function nearestIndex(x: readonly number[], at: number): number {
  if (x.length === 0) return -1;
  let low = 0;
  let high = x.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at - x[low - 1]! <= x[low]! - at ? low - 1 : low;
}

type Place = (value: number) => number;

// Pieces of neighbouring points without a gap or an unknown value in between; one point beyond either edge of the range is kept, so
// that a line does not end inside the picture.
function pieces(curve: Curve, [from, to]: readonly [number, number], known: (i: number) => boolean): number[][] {
  const found: number[][] = [];
  let piece: number[] = [];
  let before = -1;
  const close = () => {
    if (piece.length > 0) found.push(piece);
    piece = [];
  };
  curve.x.forEach((at, i) => {
    const near = (curve.x[i + 1] ?? at) >= from && (curve.x[i - 1] ?? at) <= to;
    if (!near || !known(i)) return close();
    if (piece.length > 0 && at - curve.x[before]! > curve.gap) close();
    piece.push(i);
    before = i;
  });
  close();
  return found;
}

const spot = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`;

export function lineOf(curve: Curve, range: readonly [number, number], x: Place, y: Place): string {
  return pieces(curve, range, (i) => typeof curve.mean[i] === 'number')
    .map((piece) => {
      // A point alone is a dash that can be seen.
      if (piece.length === 1) return `M${spot(x(curve.x[piece[0]!]!) - 1.5, y(curve.mean[piece[0]!]!))}h3`;
      return 'M' + piece.map((i) => spot(x(curve.x[i]!), y(curve.mean[i]!))).join('L');
    })
    .join('');
}

// The band between lowest and highest; empty when nothing was folded.
export function areaOf(curve: Curve, range: readonly [number, number], x: Place, y: Place): string {
  if (curve.min.every((value, i) => value === curve.max[i])) return '';
  return pieces(curve, range, (i) => typeof curve.min[i] === 'number' && typeof curve.max[i] === 'number')
    .filter((piece) => piece.length > 1)
    .map((piece) => {
      const above = piece.map((i) => spot(x(curve.x[i]!), y(curve.max[i]!)));
      const below = [...piece].reverse().map((i) => spot(x(curve.x[i]!), y(curve.min[i]!)));
      return `M${above.join('L')}L${below.join('L')}Z`;
    })
    .join('');
}
