// A stat as text: with its unit where the server knows one, and the exact value for the tooltip.

import type { EventStat } from './model';
import { exactCount, formatBandwidth, formatBytes, formatCount, formatRate, formatTime, unknown } from '../format/format';

export interface StatText {
  readonly text: string;
  readonly exact: string;
  readonly long: boolean; // wraps instead of being cut
}

/** Longer text gets lines of its own. */
const LONG_TEXT = 60;

export function formatStat(stat: EventStat): StatText {
  const { value } = stat;
  if (value === null || value === undefined) return { text: unknown, exact: 'not known', long: false };
  if (typeof value === 'object') {
    const head = value.hex === undefined || value.hex === '' ? '' : `: ${value.hex}${value.size_bytes > 64 ? '\u2026' : ''}`;
    return { text: `${bytesText(value.size_bytes)}${head}`, exact: `${exactCount(value.size_bytes)} B`, long: head.length > LONG_TEXT };
  }
  const number = typeof value === 'number' ? value : isNumeric(stat) ? Number(value) : null;
  if (number !== null && Number.isFinite(number)) {
    const text = withUnit(number, stat.unit ?? null, stat);
    return { text, exact: `${String(value)}${stat.unit ? ' ' + stat.unit : ''}`, long: false };
  }
  const text = String(value);
  return { text: stat.truncated === true ? text + '\u2026 (cut off)' : text, exact: text.slice(0, 1024), long: text.length > LONG_TEXT };
}

/** Below a KiB every byte counts. */
function bytesText(bytes: number): string {
  return Math.abs(bytes) < 1024 ? `${bytes} B` : formatBytes(bytes);
}

function isNumeric(stat: EventStat): boolean {
  return (stat.type === 'int64' || stat.type === 'uint64' || stat.type === 'double') && /^-?\d+(\.\d+)?$/.test(String(stat.value));
}

const PS_PER_UNIT: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, µs: 1e6, ms: 1e9, s: 1e12 };

function withUnit(number: number, unit: string | null, stat: EventStat): string {
  if (unit === 'B' || unit === 'bytes') return bytesText(number);
  if (unit === 'B/s') return formatBandwidth(number);
  if (unit === 'FLOP/s') return formatRate(number);
  if (unit !== null && PS_PER_UNIT[unit] !== undefined) return formatTime(number * PS_PER_UNIT[unit]);
  // A number without a unit may be an id: every digit counts, and grouping would make it unsearchable.
  if (unit === null || unit === '') return typeof stat.value === 'string' ? stat.value : String(number);
  return `${formatCount(number)} ${unit}`;
}
