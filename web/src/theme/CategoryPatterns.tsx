// Fills of the high contrast theme for charts in SVG: a pattern for each category, as swatches have by style sheet. Charts write
// fill="var(--fill-matmul)"; tokens.css makes that the plain colour in the other themes and one of these here.
import type { ReactNode } from 'react';
import { categories, categoryInk } from './tokens';

const size = 6;
// Lines through the middle or the corners, so that neighbouring tiles join.
const rising = `M0 ${size}L${size} 0M-1 1L1 -1M${size - 1} ${size + 1}L${size + 1} ${size - 1}`;
const falling = `M0 0L${size} ${size}M-1 ${size - 1}L1 ${size + 1}M${size - 1} -1L${size + 1} 1`;
const across = `M0 3H${size}`;
const down = `M3 0V${size}`;
const lines: Readonly<Record<string, string>> = { matmul: rising, fusion: across, kernel: down, reduce: falling, movement: rising + falling, collective: rising, transfer: across + down };
const strong = new Set(['collective']);

function inside(key: string): ReactNode {
  if (key === 'host') return <circle cx={3} cy={3} r={1.2} fill={categoryInk} />;
  const path = lines[key];
  return path && <path d={path} stroke={categoryInk} strokeWidth={strong.has(key) ? 2 : 1} fill="none" />;
}

export function CategoryPatterns() {
  return (
    <svg width={0} height={0} className="pattern-shop" aria-hidden="true" focusable="false">
      <defs>
        {categories.map(({ key, fill }) => (
          <pattern key={key} id={`pattern-${key}`} width={size} height={size} patternUnits="userSpaceOnUse">
            <rect width={size} height={size} fill={fill} />
            {inside(key)}
          </pattern>
        ))}
      </defs>
    </svg>
  );
}
