// Amounts over time (or over the order of a program) as stacked areas of steps: a value holds until the next one. The pointer or the
// arrows pick a moment; a click keeps it.
import { type ReactNode, useMemo, useState } from 'react';
import type { ExportTable } from '../export/model';
import { byteUnit, formatBytes } from '../format/format';
import { useSize } from '../ui/useSize';
import { ChartFrame } from './ChartFrame';
import { lastAtOrBefore, linearScale, linearTicks, tickText } from './scale';
import './charts.css';

export interface AreaSeries {
  readonly id: string;
  readonly label: string;
  readonly category: string;
  readonly values: readonly number[];
  readonly line?: boolean; // Drawn as a line over the areas, not stacked.
}

export interface Mark {
  readonly x: number;
  readonly label: string;
}

interface AreaChartProps {
  xs: readonly number[];
  series: readonly AreaSeries[];
  title: string;
  formatX: (x: number) => string;
  limit?: { value: number; label: string } | null;
  marks?: readonly Mark[];
  band?: { from: number; to: number } | null; // A range that something alive covers.
  picked?: number | null; // Index into xs.
  onPick?: (index: number) => void;
  readout?: (index: number) => ReactNode;
  height?: number;
  ramp?: boolean; // Straight lines from point to point instead of steps.
}

const axisWidth = 68;

export function AreaChart({ xs, series, title, formatX, limit = null, marks = [], band = null, picked = null, onPick, readout, height = 220 }: AreaChartProps) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 800, height });
  const [hover, setHover] = useState<number | null>(null);
  const stacked = series.filter((one) => !one.line);
  const top = useMemo(() => {
    let most = limit && limit.value > 0 ? limit.value : 0;
    xs.forEach((_, i) => {
      let sum = 0;
      for (const one of series) {
        if (one.line) most = Math.max(most, one.values[i] ?? 0);
        else sum += one.values[i] ?? 0;
      }
      most = Math.max(most, sum);
    });
    return most;
  }, [xs, series, limit]);
  const unit = byteUnit(top);
  const ticks = linearTicks(top / unit.size, 4).map((tick) => tick * unit.size);
  const first = xs[0] ?? 0;
  const last = xs.length > 1 ? xs[xs.length - 1]! : first + 1;
  const plotHeight = height - 22;
  const x = linearScale(first, last, axisWidth, Math.max(axisWidth + 10, size.width - 10));
  const y = linearScale(0, ticks[ticks.length - 1]!, plotHeight, 10);
  const paths = useMemo(() => areaPaths(xs, stacked, x, y), [xs, series, size.width, height, top]);
  // Names of marks stand below the name of the limit where both would be at the top.
  const markY = limit && limit.value > 0 && y(limit.value) < 24 ? y(limit.value) + 30 : 20;
  const current = hover ?? picked;
  const at = (place: number) => Math.max(0, Math.min(xs.length - 1, lastAtOrBefore(xs, x.invert(place))));
  const pick = (index: number) => onPick?.(index);
  const lines = series.filter((one) => one.line);
  const legend = series.map((one) => (
    <span key={one.id}>
      <span className={`swatch cat-${one.category}`} style={one.line ? { height: 2, borderColor: 'var(--text2)', backgroundColor: 'var(--text2)' } : { backgroundColor: `var(--cat-${one.category})`, borderColor: `var(--cat-${one.category}-edge)` }} />
      {one.label}
    </span>
  ));
  return (
    <ChartFrame title={title} legend={legend} data={() => areaTable(title, xs, series, formatX)}>
      <div
        ref={ref}
        className="chart-box"
        role="slider"
        tabIndex={0}
        aria-label={`${title}. Arrow keys move.`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, xs.length - 1)}
        aria-valuenow={current ?? 0}
        aria-valuetext={current === null ? 'none chosen' : formatX(xs[current]!)}
        onMouseMove={(event) => setHover(xs.length > 0 ? at(event.clientX - event.currentTarget.getBoundingClientRect().left) : null)}
        onMouseLeave={() => setHover(null)}
        onClick={(event) => xs.length > 0 && pick(at(event.clientX - event.currentTarget.getBoundingClientRect().left))}
        onKeyDown={(event) => {
          const from = current ?? 0;
          const to = event.key === 'ArrowRight' ? from + 1 : event.key === 'ArrowLeft' ? from - 1 : event.key === 'Home' ? 0 : event.key === 'End' ? xs.length - 1 : null;
          if (to === null) return;
          pick(Math.max(0, Math.min(xs.length - 1, to)));
          setHover(null);
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <svg width={size.width} height={height} aria-hidden="true">
          {ticks.map((tick, i) => (
            <g key={tick}>
              <line x1={axisWidth} x2={size.width} y1={y(tick)} y2={y(tick)} className="grid" />
              <text x={axisWidth - 8} y={y(tick) + 4} textAnchor="end" className="axis">
                {tick === 0 ? '0' : `${tickText(tick / unit.size)}${i === ticks.length - 1 ? ' ' + unit.name : ''}`}
              </text>
            </g>
          ))}
          {band && <rect x={x(band.from)} width={Math.max(1, x(band.to) - x(band.from))} y={10} height={plotHeight - 10} className="band" />}
          {paths.map((path, i) => (
            <path key={stacked[i]!.id} d={path} fill={`var(--fill-${stacked[i]!.category})`} stroke={`var(--cat-${stacked[i]!.category}-edge)`} strokeWidth={1} />
          ))}
          {lines.map((one) => (
            <path key={one.id} d={linePath(xs, one.values, x, y)} className="over-line" />
          ))}
          {limit && limit.value > 0 && (
            <g>
              <line x1={axisWidth} x2={size.width} y1={y(limit.value)} y2={y(limit.value)} className="limit" />
              <text x={size.width - 10} y={y(limit.value) + 14} textAnchor="end" className="axis">
                {limit.label}
              </text>
            </g>
          )}
          {marks.map((mark) => (
            <g key={mark.x + mark.label}>
              <line x1={x(mark.x)} x2={x(mark.x)} y1={10} y2={plotHeight} className="mark" />
              <text x={x(mark.x) + (x(mark.x) > size.width - 120 ? -5 : 5)} y={markY} textAnchor={x(mark.x) > size.width - 120 ? 'end' : 'start'} className="axis strong">
                {mark.label}
              </text>
            </g>
          ))}
          {current !== null && xs[current] !== undefined && <line x1={x(xs[current]!)} x2={x(xs[current]!)} y1={10} y2={plotHeight} className="cross" />}
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <text key={share} x={x(first + (last - first) * share)} y={height - 5} textAnchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'} className="axis">
              {formatX(first + (last - first) * share)}
            </text>
          ))}
        </svg>
      </div>
      <div className="chart-read muted" data-export="leave">{current !== null && readout ? readout(current) : '\u00a0'}</div>
    </ChartFrame>
  );
}

function areaTable(title: string, xs: readonly number[], series: readonly AreaSeries[], formatX: (x: number) => string): ExportTable {
  return {
    title,
    columns: [{ id: 'at', label: 'At', type: 'number', format: (value) => formatX(Number(value)) }, ...series.map((one) => ({ id: one.id, label: one.label, type: 'number' as const, whole: true, format: (value: unknown) => formatBytes(value as number | null) }))],
    rows: xs.map((x, i) => [x, ...series.map((one) => one.values[i] ?? null)]),
  };
}

type Place = (value: number) => number;

function linePath(xs: readonly number[], values: readonly number[], x: Place, y: Place): string {
  let path = '';
  xs.forEach((one, i) => {
    path += i === 0 ? `M${x(one).toFixed(1)},${y(values[i] ?? 0).toFixed(1)}` : `H${x(one).toFixed(1)}V${y(values[i] ?? 0).toFixed(1)}`;
  });
  return path;
}

export function areaPaths(xs: readonly number[], series: readonly AreaSeries[], x: Place, y: Place): string[] {
  const base = new Array<number>(xs.length).fill(0);
  return series.map((one) => {
    const low = base.slice();
    let path = '';
    xs.forEach((at, i) => {
      base[i]! += Math.max(0, one.values[i] ?? 0);
      path += i === 0 ? `M${x(at).toFixed(1)},${y(base[i]!).toFixed(1)}` : `H${x(at).toFixed(1)}V${y(base[i]!).toFixed(1)}`;
    });
    for (let i = xs.length - 1; i >= 0; i--) {
      const at = x(xs[i]!).toFixed(1);
      path += i === xs.length - 1 ? `L${at},${y(low[i]!).toFixed(1)}` : `V${y(low[i]!).toFixed(1)}H${at}`;
    }
    return path ? path + 'Z' : '';
  });
}
