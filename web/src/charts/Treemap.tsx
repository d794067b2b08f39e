// Shares of a whole as rectangles of that area (squarified). Small ones are drawn without a word; the table below has them all.
import { useMemo } from 'react';
import type { ExportTable } from '../export/model';
import { useSize } from '../ui/useSize';
import { ChartFrame } from './ChartFrame';
import './charts.css';

export interface TreemapItem {
  readonly id: string;
  readonly label: string;
  readonly size: number;
  readonly category: string;
  readonly title: string;
}

export interface Tile {
  readonly item: TreemapItem;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const mostTiles = 400; // More would be thinner than a pixel; the rest is one tile.

export function squarify(items: readonly TreemapItem[], width: number, height: number): Tile[] {
  const sorted = items.filter((item) => item.size > 0).sort((a, b) => b.size - a.size);
  const total = sorted.reduce((sum, item) => sum + item.size, 0);
  if (total === 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / total;
  const tiles: Tile[] = [];
  let box = { x: 0, y: 0, width, height };
  let at = 0;
  while (at < sorted.length) {
    const side = Math.min(box.width, box.height);
    let count = 1;
    let sum = sorted[at]!.size * scale;
    let worst = ratio(sum, sorted[at]!.size * scale, sorted[at]!.size * scale, side);
    while (at + count < sorted.length) {
      const next = sorted[at + count]!.size * scale;
      const candidate = ratio(sum + next, next, sorted[at]!.size * scale, side);
      if (candidate > worst) break;
      worst = candidate;
      sum += next;
      count++;
    }
    const thick = sum / side;
    let along = 0;
    for (const item of sorted.slice(at, at + count)) {
      const long = (item.size * scale) / thick;
      tiles.push(box.width >= box.height ? { item, x: box.x, y: box.y + along, width: thick, height: long } : { item, x: box.x + along, y: box.y, width: long, height: thick });
      along += long;
    }
    box = box.width >= box.height ? { ...box, x: box.x + thick, width: box.width - thick } : { ...box, y: box.y + thick, height: box.height - thick };
    at += count;
  }
  return tiles;
}

function ratio(sum: number, least: number, most: number, side: number): number {
  const square = sum * sum;
  return Math.max((side * side * most) / square, square / (side * side * least));
}

export function Treemap({ items, title, selected, onSelect, height = 220 }: { items: readonly TreemapItem[]; title: string; selected: string | null; onSelect: (id: string | null) => void; height?: number }) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 600, height });
  const tiles = useMemo(() => squarify([...items].sort((a, b) => b.size - a.size).slice(0, mostTiles), size.width, height), [items, size.width, height]);
  return (
    <ChartFrame title={title} className="treemap-frame" data={() => itemTable(title, items)}>
      <div ref={ref} className="treemap" role="group" aria-label={title} style={{ height }}>
        {tiles.map((tile) => (
          <button
            key={tile.item.id}
            type="button"
            className={`cat-${tile.item.category}`}
            aria-pressed={tile.item.id === selected}
            aria-label={tile.item.title}
            title={tile.item.title}
            style={{ left: tile.x, top: tile.y, width: Math.max(0, tile.width - 1), height: Math.max(0, tile.height - 1), backgroundColor: `var(--cat-${tile.item.category})` }}
            onClick={() => onSelect(tile.item.id === selected ? null : tile.item.id)}
          >
            {tile.width > 54 && tile.height > 18 ? tile.item.label : ''}
          </button>
        ))}
      </div>
    </ChartFrame>
  );
}

function itemTable(title: string, items: readonly TreemapItem[]): ExportTable {
  return {
    title,
    columns: [
      { id: 'part', label: 'Part', type: 'string' },
      { id: 'size', label: 'Size', type: 'number', whole: true },
      { id: 'what', label: 'What', type: 'string' },
    ],
    rows: [...items].sort((a, b) => b.size - a.size).map((item) => [item.label, item.size, item.title]),
  };
}
