// How many runs took how long: bars over a linear axis, with median and 99th percentile named.
import { useMemo } from 'react';
import type { ExportTable } from '../export/model';
import { formatTime, plural } from '../format/format';
import { ChartFrame } from './ChartFrame';
import './charts.css';

const bins = 36;
const height = 56;

export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

// Nearest rank, so that every figure is one that was measured.
export function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
  return { count: sorted.length, min: sorted[0]!, p50: at(0.5), p99: at(0.99), max: sorted[sorted.length - 1]! };
}

export function Histogram({ values, width = 410 }: { values: readonly number[]; width?: number }) {
  const spread = useMemo(() => spreadOf(values), [values]);
  const counts = useMemo(() => {
    if (!spread) return [];
    const found = new Array<number>(bins).fill(0);
    const span = spread.max - spread.min || 1;
    for (const value of values) found[Math.min(bins - 1, Math.floor(((value - spread.min) / span) * bins))]!++;
    return found;
  }, [values, spread]);
  if (!spread) return null;
  const most = Math.max(...counts);
  const step = width / bins;
  const place = (value: number) => (spread.max > spread.min ? ((value - spread.min) / (spread.max - spread.min)) * width : width / 2);
  return (
    <ChartFrame title="Durations" className="histogram" data={() => binTable(counts, spread)}>
      {spread.count > 1 && spread.max > spread.min && (
        <svg viewBox={`0 0 ${width} ${height}`} width="100%" height={height} preserveAspectRatio="none" role="img" aria-label={`${plural(spread.count, 'run')}, median ${formatTime(spread.p50)}, 99th percentile ${formatTime(spread.p99)}`}>
          <line x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} stroke="var(--line)" />
          {counts.map((count, i) => count > 0 && <rect key={i} x={i * step + 0.5} width={step - 1} y={height - 1 - (count / most) * (height - 6)} height={(count / most) * (height - 6)} fill="var(--accent)" opacity={0.6} />)}
          <line x1={place(spread.p50)} x2={place(spread.p50)} y1={0} y2={height} stroke="var(--text)" strokeDasharray="2 3" />
        </svg>
      )}
      <p className="text2">
        min {formatTime(spread.min)}, <strong>p50 {formatTime(spread.p50)}</strong>, p99 {formatTime(spread.p99)}, max {formatTime(spread.max)}
      </p>
    </ChartFrame>
  );
}

function binTable(counts: readonly number[], spread: Spread): ExportTable {
  const time = (value: unknown) => formatTime(value as number | null);
  const step = (spread.max - spread.min) / bins;
  return {
    title: 'Durations',
    columns: [
      { id: 'from_ps', label: 'From', type: 'number', format: time },
      { id: 'to_ps', label: 'To', type: 'number', format: time },
      { id: 'runs', label: 'Runs', type: 'number', whole: true },
    ],
    rows: counts.map((count, i) => [spread.min + i * step, spread.min + (i + 1) * step, count]),
  };
}
