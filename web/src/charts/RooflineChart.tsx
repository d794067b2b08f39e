// A log-log chart of operational intensity and FLOP rate below the roofs of a device. Drag a box to filter, click a point to open
// it, arrows walk the points from heavy to light.
import { type ReactNode, useRef, useState } from 'react';
import type { ExportTable } from '../export/model';
import { formatShare, middleEllipsis, significant } from '../format/format';
import { type Device, type Memory, placeLabels, type Point, type Range, rangesOf, ridgeOf, roofAt } from './roof';
import { useSize } from '../ui/useSize';
import { ChartFrame } from './ChartFrame';
import { logScale, logTicks, tickText } from './scale';
import './charts.css';

export interface Box {
  readonly x: Range;
  readonly y: Range;
}

interface RooflineChartProps {
  legend?: ReactNode;
  device: Device;
  memory: Memory | null;
  points: readonly Point[];
  faint: (point: Point) => boolean; // Outside the filter.
  selected: number | null; // Row.index
  box: Box | null;
  onSelect: (point: Point) => void;
  onBox: (box: Box | null) => void;
}

const left = 76;
const bottom = 40;
const height = 340;
const most = 8; // Names beside points.
const leastDragPx = 6;

export function rateText(gflops: number): string {
  const units: readonly (readonly [number, string])[] = [[1e6, 'PFLOP/s'], [1e3, 'TFLOP/s'], [1, 'GFLOP/s'], [1e-3, 'MFLOP/s'], [1e-6, 'kFLOP/s']];
  const [size, name] = units.find(([one]) => gflops >= one) ?? units[units.length - 1]!;
  return `${significant(gflops / size)} ${name}`;
}

function rateTick(gflops: number): string {
  return rateText(gflops).replace(/\.0+ /, ' ');
}

export function RooflineChart({ legend, device, memory, points, faint, selected, box, onSelect, onBox }: RooflineChartProps) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 800, height });
  const [at, setAt] = useState<number | null>(null);
  const [drag, setDrag] = useState<{ x0: number; y0: number; x1: number; y1: number } | null>(null);
  const down = useRef<{ x: number; y: number } | null>(null);
  const range = rangesOf(points, device);
  const x = logScale(range.x.min, range.x.max, left, size.width - 12);
  const y = logScale(range.y.min, range.y.max, height - bottom, 10);
  const radius = (point: Point) => 4 + Math.sqrt(Math.max(0, Math.min(1, point.share))) * 13;
  const labels = placeLabels(points.slice(0, 60).map((point) => ({ x: x(point.x), y: y(point.y), radius: radius(point), text: middleEllipsis(point.name, 28) })), size.width - 12, most);
  const current = at === null ? null : (points[at] ?? null);
  const roofPath = (one: Memory) => {
    const ridge = ridgeOf(one, device.peakGflops);
    const start = range.x.min;
    const end = range.x.max;
    const turn = device.peakGflops > 0 && ridge > start && ridge < end ? `L${x(ridge)},${y(device.peakGflops)}` : '';
    return `M${x(start)},${y(roofAt(start, one, device.peakGflops))}${turn}L${x(end)},${y(roofAt(end, one, device.peakGflops))}`;
  };
  const move = (to: number) => setAt(points.length === 0 ? null : Math.max(0, Math.min(points.length - 1, to)));
  const shownBox = drag ? { left: Math.min(drag.x0, drag.x1), top: Math.min(drag.y0, drag.y1), width: Math.abs(drag.x1 - drag.x0), height: Math.abs(drag.y1 - drag.y0) } : box ? { left: x(box.x.min), top: y(box.y.max), width: x(box.x.max) - x(box.x.min), height: y(box.y.min) - y(box.y.max) } : null;

  return (
    <ChartFrame title="Roofline" legend={legend} data={() => pointTable(points)}>
      <div
        ref={ref} className="chart-box" role="slider" tabIndex={0} aria-label="Roofline. Arrow keys walk the ops, Enter opens one." aria-valuemin={0} aria-valuemax={Math.max(0, points.length - 1)} aria-valuenow={at ?? 0} aria-valuetext={current ? `${current.name}, ${rateText(current.y)} at ${significant(current.x)} FLOP per byte` : 'none chosen'}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight' || event.key === 'ArrowDown') move((at ?? -1) + 1);
          else if (event.key === 'ArrowLeft' || event.key === 'ArrowUp') move((at ?? 1) - 1);
          else if (event.key === 'Enter' && current) onSelect(current);
          else if (event.key === 'Escape' && box) onBox(null);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          const frame = event.currentTarget.getBoundingClientRect();
          down.current = { x: event.clientX - frame.left, y: event.clientY - frame.top };
        }}
        onPointerMove={(event) => {
          const frame = event.currentTarget.getBoundingClientRect();
          const px = event.clientX - frame.left;
          const py = event.clientY - frame.top;
          if (down.current && (event.buttons & 1) === 1 && (drag || Math.hypot(px - down.current.x, py - down.current.y) > leastDragPx)) {
            if (!drag) event.currentTarget.setPointerCapture(event.pointerId);
            setDrag({ x0: down.current.x, y0: down.current.y, x1: px, y1: py });
            return;
          }
          setAt(nearest(points, px, py, (point) => x(point.x), (point) => y(point.y), radius));
        }}
        onPointerUp={(event) => {
          down.current = null;
          const frame = event.currentTarget.getBoundingClientRect();
          const hit = nearest(points, event.clientX - frame.left, event.clientY - frame.top, (point) => x(point.x), (point) => y(point.y), radius);
          if (drag) {
            const xs = [x.invert(drag.x0), x.invert(drag.x1)].sort((a, b) => a - b) as [number, number];
            const ys = [y.invert(drag.y0), y.invert(drag.y1)].sort((a, b) => a - b) as [number, number];
            setDrag(null);
            onBox({ x: { min: xs[0], max: xs[1] }, y: { min: ys[0], max: ys[1] } });
          } else if (hit !== null) onSelect(points[hit]!);
        }}
        onPointerLeave={() => !drag && setAt(null)}
      >
        <svg width={size.width} height={height} aria-hidden="true">
          {logTicks(range.y.min, range.y.max).map((tick) => (
            <g key={tick.value}>
              <line x1={left} x2={size.width} y1={y(tick.value)} y2={y(tick.value)} className="grid" />
              {tick.major && <text x={left - 8} y={y(tick.value) + 4} textAnchor="end" className="axis">{rateTick(tick.value)}</text>}
            </g>
          ))}
          {logTicks(range.x.min, range.x.max).map((tick) => (
            <g key={tick.value}>
              <line x1={x(tick.value)} x2={x(tick.value)} y1={10} y2={height - bottom} className="grid" />
              {tick.major && <text x={x(tick.value)} y={height - bottom + 16} textAnchor="middle" className="axis">{axisNumber(tick.value)}</text>}
            </g>
          ))}
          <text x={(left + size.width) / 2} y={height - 6} textAnchor="middle" className="axis">Operational intensity, FLOP/B{memory ? ` of ${memory.label}` : ''}</text>
          {device.memories.map((one) => (
            <path key={one.id} d={roofPath(one)} className={one === memory ? 'roof peak' : 'roof'} opacity={one === memory ? 1 : 0.4} />
          ))}
          {device.peakGflops > 0 && (
            <text x={size.width - 14} y={y(device.peakGflops) - 6} textAnchor="end" className="axis strong">
              peak {rateText(device.peakGflops)}
            </text>
          )}
          {memory && (
            <text x={x(range.x.min) + 44} y={y(roofAt(x.invert(x(range.x.min) + 44), memory, device.peakGflops)) + 18} className="axis strong">
              {memory.label} {significant(memory.peak)} GiB/s
            </text>
          )}
          {memory && device.peakGflops > 0 && ridgeOf(memory, device.peakGflops) < range.x.max && (
            <g>
              <line x1={x(ridgeOf(memory, device.peakGflops))} x2={x(ridgeOf(memory, device.peakGflops))} y1={y(device.peakGflops)} y2={height - bottom} className="mark" />
              <text x={x(ridgeOf(memory, device.peakGflops)) + 5} y={height - bottom - 8} className="axis">
                ridge {significant(ridgeOf(memory, device.peakGflops))}
              </text>
            </g>
          )}
          {shownBox && <rect x={shownBox.left} y={shownBox.top} width={shownBox.width} height={shownBox.height} className="brush" />}
          {[...points].reverse().map((point) => {
            const chosen = point.row.index === selected || point === current;
            return <circle key={point.row.index} className="roof-point" cx={x(point.x)} cy={y(point.y)} r={radius(point)} fill={`var(--fill-${point.colour})`} stroke={chosen ? 'var(--text)' : `var(--cat-${point.colour}-edge)`} strokeWidth={chosen ? 2 : 1} opacity={faint(point) && !chosen ? 0.2 : 0.9} />;
          })}
          {labels.map((label) => (
            <text key={label.index} x={label.x} y={label.y} textAnchor={label.anchor} className="axis strong" opacity={faint(points[label.index]!) ? 0.4 : 1}>
              {middleEllipsis(points[label.index]!.name, 28)}
            </text>
          ))}
        </svg>
      </div>
      <div className="chart-read muted" data-export="leave">
        {current ? (
          <>
            <strong className="mono">{current.name}</strong> {rateText(current.y)} at {significant(current.x)} FLOP/B, {formatShare(current.share)} of the time
            {memory ? `, ${formatShare(current.y / roofAt(current.x, memory, device.peakGflops))} of the roof` : ''}
            {current.bound ? `, bound by ${current.bound}` : ''}
          </>
        ) : (
          'Size is time. Drag a box to filter the table, click a point for the op.'
        )}
      </div>
    </ChartFrame>
  );
}

function pointTable(points: readonly Point[]): ExportTable {
  return {
    title: 'Roofline',
    columns: [
      { id: 'op', label: 'Op', type: 'string' },
      { id: 'intensity', label: 'Intensity, FLOP/B', type: 'number', format: (value) => significant(Number(value)) },
      { id: 'gflops', label: 'FLOP rate', type: 'number', format: (value) => rateText(Number(value)) },
      { id: 'share', label: 'Share of time', type: 'number', format: (value) => formatShare(Number(value)) },
      { id: 'bound', label: 'Bound by', type: 'string' },
    ],
    rows: points.map((point) => [point.name, point.x, point.y, point.share, point.bound || null]),
  };
}

function axisNumber(value: number): string {
  return value >= 0.001 && value < 1e6 ? tickText(value) : value < 1 ? `1/${significant(1 / value)}` : `${significant(value / 1e6)} M`;
}

const reachPx = 14;

export function nearest(points: readonly Point[], px: number, py: number, x: (point: Point) => number, y: (point: Point) => number, radius: (point: Point) => number): number | null {
  let best: number | null = null;
  let least = Infinity;
  points.forEach((point, i) => {
    const away = Math.hypot(x(point) - px, y(point) - py) - radius(point);
    if (away < least && away < reachPx) {
      least = away;
      best = i;
    }
  });
  return best;
}
