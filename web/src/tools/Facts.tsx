// Single values of an answer as a list of names and values.
import { formatBytes, formatCount, formatShare, formatTime, significant, unknown } from '../format/format';
import { wordsOf } from './documents';
import type { Cell } from './types';

const timeFactors: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 };
const byteFactors: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

export function formatFact(value: Cell, unit: string): string {
  if (value === null || value === '') return unknown;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const number = typeof value === 'number' ? value : unit !== '' && /^-?[\d.]+([eE][-+]?\d+)?$/.test(value) ? Number(value) : null;
  if (number === null) return String(value);
  if (!Number.isFinite(number)) return unknown;
  if (unit in timeFactors) return formatTime(number * timeFactors[unit]!);
  if (unit in byteFactors) return formatBytes(number * byteFactors[unit]!);
  if (unit === 'percent') return formatShare(number / 100);
  if (unit === 'fraction') return formatShare(number);
  return Number.isInteger(number) ? formatCount(number) : significant(number);
}

export function FactList({ facts, most, wide = false }: { facts: readonly (readonly [string, Cell, string])[]; most?: number; wide?: boolean }) {
  const shown = most === undefined ? facts : facts.slice(0, most);
  if (shown.length === 0) return null;
  return (
    <dl className={wide ? 'fact-list wide' : 'fact-list'}>
      {shown.map(([name, value, unit]) => (
        <div key={name}>
          <dt className="truncate" title={name}>{name}</dt>
          <dd title={value === null ? undefined : `${value}${unit ? ` ${unit}` : ''}`}>{formatFact(value, unit)}</dd>
        </div>
      ))}
    </dl>
  );
}

// A table's properties as XProf gives them: texts that may end with a unit.
export function propertyFacts(properties: Readonly<Record<string, string>>): (readonly [string, Cell, string])[] {
  return Object.entries(properties)
    .filter(([, value]) => value !== '' && value.length < 200)
    .map(([name, value]) => [wordsOf(name), /nan/i.test(value) && value.length < 6 ? null : value, ''] as const);
}
