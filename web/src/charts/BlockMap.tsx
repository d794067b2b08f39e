// Buffers of a program as blocks: along the order of the program, up by their place in memory. The pointer names a block, a click
// keeps it.
import { useEffect, useMemo, useRef, useState } from 'react';
import type { ExportTable } from '../export/model';
import { type Painter, registerPainting } from '../export/registry';
import { byteUnit, formatBytes } from '../format/format';
import { useResolvedTheme } from '../theme/theme';
import { categories, themeTokens } from '../theme/tokens';
import { useSize } from '../ui/useSize';
import { ChartFrame } from './ChartFrame';
import { linearScale, linearTicks, tickText } from './scale';
import './charts.css';

export interface Block {
  readonly id: string;
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly start: number;
  readonly end: number;
  readonly category: string;
  readonly words: string;
}

const left = 68;
const bottom = 22;

export function BlockMap({ blocks, steps, title, selected, onSelect, height = 260 }: { blocks: readonly Block[]; steps: number; title: string; selected: string | null; onSelect: (id: string | null) => void; height?: number }) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 800, height });
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hover, setHover] = useState<string | null>(null);
  const theme = useResolvedTheme();
  const most = useMemo(() => blocks.reduce((top, one) => Math.max(top, one.offset + one.size), 0), [blocks]);
  const unit = byteUnit(most);
  const ticks = linearTicks(most / unit.size, 4).map((tick) => tick * unit.size);
  const x = linearScale(0, Math.max(1, steps), left, size.width - 8);
  const y = linearScale(0, ticks[ticks.length - 1] || 1, height - bottom, 8);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !canvas.current) return;
    const tokens = themeTokens(theme);
    const ratio = window.devicePixelRatio || 1;
    canvas.current.width = Math.round(size.width * ratio);
    canvas.current.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, height);
    const paint = (painter: Painter) => {
      for (const block of blocks) {
        const category = categories.find((one) => one.key === block.category) ?? categories[0]!;
        const x0 = x(block.start);
        const wide = Math.max(1, x(block.end + 1) - x0);
        const y0 = y(block.offset + block.size);
        const tall = Math.max(0.75, y(block.offset) - y0);
        painter.fillStyle = category.fill;
        painter.fillRect(x0, y0, wide, tall);
        if (tall > 3 && wide > 3) {
          painter.strokeStyle = tokens.surface;
          painter.lineWidth = 1;
          painter.strokeRect(x0 + 0.5, y0 + 0.5, wide - 1, tall - 1);
        }
      }
    };
    paint(context);
    registerPainting(canvas.current, paint);
    for (const block of blocks) {
      if (block.id !== selected && block.id !== hover) continue;
      context.strokeStyle = block.id === selected ? tokens.text : tokens.accent;
      context.lineWidth = 2;
      context.strokeRect(x(block.start) + 1, y(block.offset + block.size) + 1, Math.max(2, x(block.end + 1) - x(block.start) - 2), Math.max(2, y(block.offset) - y(block.offset + block.size) - 2));
    }
  }, [blocks, size.width, height, theme, selected, hover, most, steps]);
  const at = (event: React.MouseEvent): string | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const step = x.invert(event.clientX - box.left);
    const offset = y.invert(event.clientY - box.top);
    // The smallest block under the pointer is the one that is meant.
    const found = blocks.filter((one) => step >= one.start && step < one.end + 1 && offset >= one.offset && offset < one.offset + one.size).sort((a, b) => a.size - b.size)[0];
    return found?.id ?? null;
  };
  const named = blocks.find((one) => one.id === (hover ?? selected)) ?? null;
  return (
    <ChartFrame title={title} data={() => blockTable(title, blocks)}>
      <div ref={ref} className="chart-box" role="img" aria-label={`${title}. The table below lists every buffer.`} style={{ height }} onMouseMove={(event) => setHover(at(event))} onMouseLeave={() => setHover(null)} onClick={(event) => onSelect(at(event))}>
        <canvas ref={canvas} style={{ position: 'absolute', inset: 0, width: size.width, height }} />
        <svg width={size.width} height={height} style={{ position: 'relative', pointerEvents: 'none' }}>
          {ticks.map((tick, i) => (
            <g key={tick}>
              <line x1={left} x2={size.width} y1={y(tick)} y2={y(tick)} className="grid" opacity={0.5} />
              <text x={left - 8} y={y(tick) + 4} textAnchor="end" className="axis">
                {tick === 0 ? '0' : `${tickText(tick / unit.size)}${i === ticks.length - 1 ? ' ' + unit.name : ''}`}
              </text>
            </g>
          ))}
          {[0, 0.5, 1].map((share) => (
            <text key={share} x={x(steps * share)} y={height - 5} textAnchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'} className="axis">
              {share === 0 ? 'program begins' : `instruction ${Math.round(steps * share)}`}
            </text>
          ))}
        </svg>
      </div>
      <div className="chart-read muted" data-export="leave">
        {named ? (
          <>
            <strong className="mono">{named.name}</strong> {formatBytes(named.size)}, {named.words}
          </>
        ) : (
          '\u00a0'
        )}
      </div>
    </ChartFrame>
  );
}

function blockTable(title: string, blocks: readonly Block[]): ExportTable {
  const bytes = (value: unknown) => formatBytes(value as number | null);
  return {
    title,
    columns: [
      { id: 'buffer', label: 'Buffer', type: 'string' },
      { id: 'offset', label: 'At', type: 'number', whole: true, format: bytes },
      { id: 'size', label: 'Size', type: 'number', whole: true, format: bytes },
      { id: 'first', label: 'First instruction', type: 'number', whole: true },
      { id: 'last', label: 'Last instruction', type: 'number', whole: true },
      { id: 'what', label: 'What', type: 'string' },
    ],
    rows: [...blocks].sort((a, b) => b.size - a.size).map((one) => [one.name, one.offset, one.size, one.start, one.end, one.words]),
  };
}
