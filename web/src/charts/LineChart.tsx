// Curves over steps or time: mean as a line, the range of folded points as a band, gaps where nothing was recorded. Pointer and arrows pick
// a place and read every curve there; a drag picks a span; marks are links.
import { type ReactNode, useMemo, useRef, useState } from 'react';
import type { ExportTable } from '../export/model';
import { href, navigate } from '../state/router';
import { plainClick } from '../ui/Link';
import { useSize } from '../ui/useSize';
import { ChartMenu } from './ChartFrame';
import { areaOf, type Curve, lineOf, nearestIndex, rangeOf } from './curves';
import { linearScale, rangeTicks, tickBeside } from './scale';
import './charts.css';

export interface LineSeries extends Curve {
  readonly id: string;
  readonly label: string;
  readonly category: string; // Key of the colour tokens.
  readonly dash?: string;
}

export interface LineMark {
  readonly x: number;
  readonly label: string;
  readonly to: string | null; // Where a click leads.
}

interface LineChartProps {
  title: string;
  unit: string;
  series: readonly LineSeries[];
  range: readonly [number, number]; // Of x; the same for all charts of a page.
  formatX: (x: number) => string;
  formatY: (y: number | null) => string;
  marks?: readonly LineMark[];
  at: number | null; // The place that all charts of a page show together.
  onAt: (x: number | null) => void;
  onSpan: (span: readonly [number, number] | null) => void;
  height?: number;
  actions?: ReactNode;
}

const axisWidth = 72;
const rightPx = 10;
const topPx = 10;
const leastSpanPx = 6; // A shorter drag is a click.

export function LineChart({ title, unit, series, range, formatX, formatY, marks = [], at, onAt, onSpan, height = 190, actions }: LineChartProps) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 600, height });
  const frame = useRef<HTMLDivElement>(null);
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const shown = series.filter((one) => !off.has(one.id));
  const [low, high] = useMemo(() => rangeOf(shown, range), [series, off, range[0], range[1]]);
  const ticks = rangeTicks(low, high, 4);
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  const plotHeight = height - 22;
  const x = linearScale(range[0], range[1], axisWidth, Math.max(axisWidth + 10, size.width - rightPx));
  const y = linearScale(ticks[0]!, ticks[ticks.length - 1]!, plotHeight, topPx);
  const paths = useMemo(() => shown.map((one) => ({ one, line: lineOf(one, range, x, y), area: areaOf(one, range, x, y) })), [series, off, range[0], range[1], size.width, height, low, high]);
  const clip = useMemo(() => `clip-${Math.abs(hash(title))}`, [title]);
  const placeOf = (event: React.MouseEvent) => {
    const place = event.clientX - event.currentTarget.getBoundingClientRect().left;
    return Math.max(range[0], Math.min(range[1], x.invert(place)));
  };
  const readings = at === null ? [] : shown.map((one) => ({ one, index: nearestIndex(one.x, at) })).filter((reading) => reading.index >= 0);
  const walk = (by: number) => {
    const xs = shown[0]?.x ?? [];
    if (xs.length === 0) return;
    const from = at === null ? (by > 0 ? -1 : xs.length) : nearestIndex(xs, at);
    onAt(xs[Math.max(0, Math.min(xs.length - 1, from + by))]!);
  };
  const finish = () => {
    if (drag && Math.abs(x(drag.to) - x(drag.from)) >= leastSpanPx) onSpan([Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]);
    setDrag(null);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'ArrowRight') walk(1);
    else if (event.key === 'ArrowLeft') walk(-1);
    else if (event.key === 'Home') onAt(shown[0]?.x[0] ?? null);
    else if (event.key === 'End') onAt(shown[0]?.x.at(-1) ?? null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure className="panel line-chart" aria-label={title}>
      <figcaption>
        <h2 className="truncate" title={title}>
          {title}
        </h2>
        {unit && unit !== '1' && <span className="muted">{unit}</span>}
        <span className="grow" />
        {actions}
        <ChartMenu frame={frame} title={title} data={() => curveTable(title, series, formatX, formatY)} />
      </figcaption>
      <div className="chart" ref={frame} data-chart={title}>
        {series.length > 1 && (
          <div className="chart-legend">
            {series.map((one) => (
              <button key={one.id} type="button" aria-pressed={!off.has(one.id)} className={off.has(one.id) ? 'off' : ''} title={off.has(one.id) ? `Show ${one.label}` : `Leave out ${one.label}`} onClick={() => setOff((old) => toggled(old, one.id))}>
                <svg className="stroke" width="18" height="8" aria-hidden="true">
                  <line x1="0" x2="18" y1="4" y2="4" style={{ stroke: `var(--cat-${one.category}-edge)` }} strokeDasharray={one.dash} />
                </svg>
                <span className="truncate">{one.label}</span>
              </button>
            ))}
          </div>
        )}
        <div className="chart-frame">
        <div
          ref={ref}
          className="chart-box"
          role="slider"
          tabIndex={0}
          aria-label={`${title}. Arrow keys move.`}
          aria-valuemin={range[0]}
          aria-valuemax={range[1]}
          aria-valuenow={at ?? range[0]}
          aria-valuetext={at === null ? 'none chosen' : `${formatX(at)}: ${readings.map(({ one, index }) => `${one.label} ${formatY(one.mean[index] ?? null)}`).join(', ')}`}
          onMouseDown={(event) => event.button === 0 && setDrag({ from: placeOf(event), to: placeOf(event) })}
          onMouseMove={(event) => {
            const place = placeOf(event);
            onAt(place);
            if (drag) setDrag({ from: drag.from, to: place });
          }}
          onMouseUp={finish}
          onMouseLeave={() => {
            onAt(null);
            setDrag(null);
          }}
          onDoubleClick={() => onSpan(null)}
          onKeyDown={onKeyDown}
        >
          <svg width={size.width} height={height} aria-hidden="true">
            <clipPath id={clip}>
              <rect x={axisWidth} y={0} width={Math.max(0, size.width - axisWidth - rightPx + 2)} height={plotHeight + 2} />
            </clipPath>
            {ticks.map((tick) => (
              <g key={tick}>
                <line x1={axisWidth} x2={size.width} y1={y(tick)} y2={y(tick)} className="grid" />
                <text x={axisWidth - 8} y={y(tick) + 4} textAnchor="end" className="axis">
                  {tickBeside(tick, step)}
                </text>
              </g>
            ))}
            {drag && <rect x={Math.min(x(drag.from), x(drag.to))} width={Math.abs(x(drag.to) - x(drag.from))} y={topPx} height={plotHeight - topPx} className="brush" />}
            <g clipPath={`url(#${clip})`}>
              {paths.map(({ one, area }) => area && <path key={one.id} d={area} className="curve-band" style={{ fill: `var(--cat-${one.category}-edge)` }} />)}
              {paths.map(({ one, line }) => (
                <path key={one.id} d={line} className="curve" style={{ stroke: `var(--cat-${one.category}-edge)` }} strokeDasharray={one.dash} />
              ))}
              {readings.map(({ one, index }) => {
                const value = one.mean[index];
                return value === null || value === undefined ? null : <circle key={one.id} cx={x(one.x[index]!)} cy={y(value)} r={3} className="curve-point" style={{ fill: `var(--cat-${one.category}-edge)` }} />;
              })}
            </g>
            {at !== null && at >= range[0] && at <= range[1] && <line x1={x(at)} x2={x(at)} y1={topPx} y2={plotHeight} className="cross" />}
            {[0, 0.25, 0.5, 0.75, 1].map((share) => (
              <text key={share} x={x(range[0] + (range[1] - range[0]) * share)} y={height - 5} textAnchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'} className="axis">
                {formatX(range[0] + (range[1] - range[0]) * share)}
              </text>
            ))}
          </svg>
        </div>
        {marks
          .filter((mark) => mark.x >= range[0] && mark.x <= range[1])
          .map((mark) => (
            <Mark key={`${mark.x}/${mark.label}`} mark={mark} left={x(mark.x)} height={plotHeight - topPx} />
          ))}
        </div>
        <div className="chart-read muted" data-export="leave">
          {at === null || readings.length === 0 ? (
            '\u00a0'
          ) : (
            <>
              {formatX(at)}
              {readings.map(({ one, index }) => (
                <span key={one.id} className="reading">
                  {series.length > 1 && <>{one.label} </>}
                  <strong>{formatY(one.mean[index] ?? null)}</strong>
                  {one.min[index] !== one.max[index] && (
                    <>
                      {' '}
                      {formatY(one.min[index] ?? null)} to {formatY(one.max[index] ?? null)}
                    </>
                  )}
                </span>
              ))}
            </>
          )}
        </div>
      </div>
    </figure>
  );
}

// One row for each place of any curve.
function curveTable(title: string, series: readonly LineSeries[], formatX: (x: number) => string, formatY: (y: number | null) => string): ExportTable {
  const places = [...new Set(series.flatMap((one) => one.x))].sort((a, b) => a - b);
  const found = series.map((one) => new Map(one.x.map((x, i) => [x, one.mean[i] ?? null])));
  return {
    title,
    columns: [{ id: 'at', label: 'At', type: 'number', format: (value) => formatX(Number(value)) }, ...series.map((one) => ({ id: one.id, label: one.label, type: 'number' as const, format: (value: unknown) => formatY(value as number | null) }))],
    rows: places.map((x) => [x, ...found.map((curve) => curve.get(x) ?? null)]),
  };
}

// A profile that was taken at that time: a line over the plot whose flag opens it.
function Mark({ mark, left, height }: { mark: LineMark; left: number; height: number }) {
  const style = { left, top: topPx, height };
  if (mark.to === null) return <span className="line-mark closed" style={style} title={`${mark.label}, not on this server`} />;
  const to = mark.to;
  return (
    <a
      className="line-mark"
      style={style}
      href={href(to)}
      title={`Open ${mark.label}`}
      aria-label={`Open ${mark.label}`}
      onMouseDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        if (!plainClick(event)) return;
        event.preventDefault();
        navigate(to);
      }}
    />
  );
}

function toggled(old: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(old);
  if (!next.delete(id)) next.add(id);
  return next;
}

function hash(text: string): number {
  let value = 0;
  for (const letter of text) value = (value * 31 + letter.codePointAt(0)!) | 0;
  return value;
}
