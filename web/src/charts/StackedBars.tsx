// Bars of stacked parts, one for each step. A click (or Enter) takes a bar, arrows walk; more bars than pixels are drawn as the
// mean of neighbours, and the read-out says so.
import { type ReactNode, useMemo, useState } from 'react';
import type { ExportTable } from '../export/model';
import { inUnit, timeUnit } from '../format/format';
import { useSize } from '../ui/useSize';
import { ChartFrame } from './ChartFrame';
import { linearTicks, tickText } from './scale';
import './charts.css';

export interface Part {
  readonly id: string;
  readonly label: string;
  readonly category: string; // Key of the colour tokens.
}

export interface Bar {
  readonly label: string;
  readonly values: readonly number[]; // One for each part, ps.
}

interface StackedBarsProps {
  parts: readonly Part[];
  bars: readonly Bar[];
  title: string;
  height?: number;
  readout?: (index: number) => ReactNode;
  onOpen?: (index: number) => void;
}

const axisWidth = 56;
const narrowestBar = 3;

export function StackedBars({ parts, bars, title, height = 180, readout, onOpen }: StackedBarsProps) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 800, height });
  const [at, setAt] = useState<number | null>(null);
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const width = Math.max(80, size.width - axisWidth);
  const most = Math.max(1, Math.floor(width / narrowestBar));
  const group = Math.max(1, Math.ceil(bars.length / most));
  const drawn = useMemo(() => groupBars(bars, group), [bars, group]);
  const on = parts.map((part) => !off.has(part.id));
  const totals = drawn.map((bar) => bar.values.reduce((sum, value, i) => sum + (on[i] ? value : 0), 0));
  const ticks = linearTicks(Math.max(...totals, 1), 4);
  const top = ticks[ticks.length - 1]!;
  const unit = timeUnit(top);
  const plotHeight = height - 20;
  const step = width / Math.max(1, drawn.length);
  const gap = step > 8 ? 2 : step > 5 ? 1 : 0;
  const used = parts.map((_, i) => bars.some((bar) => (bar.values[i] ?? 0) > 0));
  const move = (to: number) => setAt(Math.max(0, Math.min(drawn.length - 1, to)));
  const current = at === null ? null : Math.min(at, drawn.length - 1);

  const legend = parts.map((part, i) =>
    used[i] ? (
      <button key={part.id} type="button" aria-pressed={on[i]} className={on[i] ? '' : 'off'} title={on[i] ? `Leave out ${part.label}` : `Show ${part.label}`} onClick={() => setOff((old) => toggled(old, part.id))}>
        <span className={`swatch cat-${part.category}`} style={{ backgroundColor: `var(--cat-${part.category})`, borderColor: `var(--cat-${part.category}-edge)` }} />
        {part.label}
      </button>
    ) : null,
  );
  return (
    <ChartFrame title={title} legend={legend} data={() => barTable(title, parts, bars)}>
      <div
        ref={ref}
        className="chart-box"
        role="slider"
        tabIndex={0}
        aria-label={`${title}. Arrow keys move${onOpen ? ', Enter opens' : ''}.`}
        aria-valuemin={1}
        aria-valuemax={drawn.length}
        aria-valuenow={(current ?? 0) + 1}
        aria-valuetext={current === null ? 'none chosen' : `${drawn[current]!.label}: ${inUnit(totals[current]!, unit)} ${unit.name}`}
        onKeyDown={(event) => {
          const from = current ?? -1;
          if (event.key === 'ArrowRight') move(from + 1);
          else if (event.key === 'ArrowLeft') move(Math.max(0, from - 1));
          else if (event.key === 'Home') move(0);
          else if (event.key === 'End') move(drawn.length - 1);
          else if (event.key === 'Enter' && current !== null) onOpen?.(current * group);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
        onMouseMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const index = Math.floor((event.clientX - box.left - axisWidth) / step);
          setAt(index >= 0 && index < drawn.length ? index : null);
        }}
        onMouseLeave={() => setAt(null)}
        onClick={() => current !== null && onOpen?.(current * group)}
      >
        <svg width={size.width} height={height} aria-hidden="true">
          {ticks.map((tick) => {
            const y = plotHeight - (tick / top) * (plotHeight - 8);
            return (
              <g key={tick}>
                <line x1={axisWidth} x2={size.width} y1={y} y2={y} className="grid" />
                <text x={axisWidth - 8} y={y + 4} textAnchor="end" className="axis">
                  {tick === 0 ? '0' : `${tickText(tick / unit.size)}${tick === top ? ' ' + unit.name : ''}`}
                </text>
              </g>
            );
          })}
          {drawn.map((bar, b) => {
            let base = plotHeight;
            return (
              <g key={b} opacity={current === null || current === b ? 1 : 0.55}>
                {bar.values.map((value, i) => {
                  if (!on[i] || !(value > 0)) return null;
                  const tall = (value / top) * (plotHeight - 8);
                  base -= tall;
                  return <rect key={i} x={axisWidth + b * step + gap / 2} y={base} width={Math.max(0.5, step - gap)} height={Math.max(0.3, tall)} fill={`var(--fill-${parts[i]!.category})`} stroke={gap > 0 ? `var(--cat-${parts[i]!.category}-edge)` : 'none'} strokeWidth={0.75} />;
                })}
              </g>
            );
          })}
          {labelPlaces(drawn.length, width).map((b) => (
            <text key={b} x={axisWidth + (b + 0.5) * step} y={height - 4} textAnchor="middle" className="axis">
              {drawn[b]!.label}
            </text>
          ))}
        </svg>
      </div>
      <div className="chart-read muted" data-export="leave">{current !== null && readout ? readout(current * group) : group > 1 ? `Each bar is the mean of ${group} steps.` : '\u00a0'}</div>
    </ChartFrame>
  );
}

function barTable(title: string, parts: readonly Part[], bars: readonly Bar[]): ExportTable {
  const unit = timeUnit(Math.max(1, ...bars.map((bar) => bar.values.reduce((a, b) => a + b, 0))));
  return {
    title,
    columns: [{ id: 'step', label: 'Step', type: 'string' }, ...parts.map((part) => ({ id: part.id, label: `${part.label}, ${unit.name}`, type: 'number' as const, format: (value: unknown) => inUnit(value as number | null, unit) }))],
    rows: bars.map((bar) => [bar.label, ...bar.values]),
  };
}

function toggled(old: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(old);
  if (!next.delete(id)) next.add(id);
  return next;
}

export function groupBars(bars: readonly Bar[], group: number): readonly Bar[] {
  if (group <= 1) return bars;
  const grouped: Bar[] = [];
  for (let i = 0; i < bars.length; i += group) {
    const some = bars.slice(i, i + group);
    grouped.push({ label: some[0]!.label, values: some[0]!.values.map((_, p) => some.reduce((sum, bar) => sum + (bar.values[p] ?? 0), 0) / some.length) });
  }
  return grouped;
}

const labelWidth = 44;

export function labelPlaces(count: number, width: number): number[] {
  const most = Math.max(1, Math.floor(width / labelWidth));
  const every = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
}
