// A curve as small as a word: how a figure went lately. The value beside it is what one reads.
const width = 56;
const height = 16;
const edge = 2;

export function sparkPath(values: readonly (number | null)[]): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length < 2) return '';
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const x = (i: number) => edge + (i / (values.length - 1)) * (width - 2 * edge);
  // A figure that never changed is a line in the middle, not one at the bottom.
  const y = (value: number) => (span > 0 ? height - edge - ((value - low) / span) * (height - 2 * edge) : height / 2);
  let path = '';
  let pen = false;
  values.forEach((value, i) => {
    if (value === null || !Number.isFinite(value)) {
      pen = false;
      return;
    }
    path += `${pen ? 'L' : 'M'}${x(i).toFixed(1)},${y(value).toFixed(1)}`;
    pen = true;
  });
  return path;
}

export function Spark({ values }: { values: readonly (number | null)[] }) {
  const path = sparkPath(values);
  return (
    <svg className="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {path && <path d={path} />}
    </svg>
  );
}
