// Every number the console shows is written here. Rules: three significant digits, four from 1000 on; a real unit, never an
// exponent; unknown is a dash and never a zero; a zero is only written when the value is zero. The exact value in the base
// unit goes into the tooltip (exactTime, exactBytes, exactCount).
//
//   formatTime(412_600_000_000)        "413 ms"
//   const unit = timeUnit(maxPs);      header: `Time, ${unit.name}`   cell: inUnit(ps, unit)

export const unknown = '\u2013'; // en dash
const minus = '\u2212';

export interface Unit {
  readonly name: string;
  readonly size: number; // how many base units (ps, B, 1) it is
}

const psUnits: readonly Unit[] = [
  { name: 'ps', size: 1 },
  { name: 'ns', size: 1e3 },
  { name: 'µs', size: 1e6 },
  { name: 'ms', size: 1e9 },
  { name: 's', size: 1e12 },
];
const minute: Unit = { name: 'min', size: 60e12 };
const hour: Unit = { name: 'h', size: 3600e12 };
const twoMinutesPs = 120e12; // "98.1 s" reads better than "1.64 min"
const twoHoursPs = 7200e12;

const byteUnits: readonly Unit[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].map((name, i) => ({ name, size: 1024 ** i }));
const countUnits: readonly Unit[] = [
  { name: '', size: 1 },
  { name: 'M', size: 1e6 },
  { name: 'G', size: 1e9 },
  { name: 'T', size: 1e12 },
];
const bandwidthUnits: readonly Unit[] = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'].map((name, i) => ({ name, size: 1000 ** i }));
const rateUnits: readonly Unit[] = ['FLOP/s', 'kFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s'].map((name, i) => ({
  name,
  size: 1000 ** i,
}));

function known(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

// The largest unit in which the value, as it will be written, is at least 1.
function pickUnit(value: number, units: readonly Unit[], step: number): Unit {
  const size = Math.abs(value);
  let picked = units[0]!;
  for (const unit of units) {
    // 999.96 ms would be written as "1,000 ms": it is 1.00 s.
    if (size >= unit.size && size / unit.size >= 1) picked = unit;
    else if (size / picked.size >= step - 0.5 && unit.size > picked.size && size * (1 + 0.5 / step) >= unit.size) picked = unit;
  }
  return picked;
}

function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// Three significant digits, whole and grouped from 1000 on (up to four of them count; the unit keeps it below 10,000).
export function significant(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const sign = value < 0 ? minus : '';
  if (size >= 999.5) return sign + groupDigits(Math.round(size).toString());
  const rounded = Number(size.toPrecision(3));
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(rounded)));
  return sign + rounded.toFixed(Math.min(decimals, 12));
}

const leastDecimalsShown = 3; // In a column with one unit a smaller value is "<0.001", not a row of zeros.

// A cell of a column whose unit is written in the header.
export function inUnit(value: number | null | undefined, unit: Unit): string {
  if (!known(value)) return unknown;
  if (value === 0) return '0';
  const scaled = value / unit.size;
  const least = 10 ** -leastDecimalsShown;
  if (Math.abs(scaled) < least) return scaled < 0 ? `>${minus}${least}` : `<${least}`;
  const text = significant(scaled);
  const point = text.indexOf('.');
  return point >= 0 && text.length - point - 1 > leastDecimalsShown ? scaled.toFixed(leastDecimalsShown).replace('-', minus) : text;
}

function withUnit(value: number, unit: Unit): string {
  return unit.name ? `${significant(value / unit.size)} ${unit.name}` : significant(value / unit.size);
}

// ---- time ------------------------------------------------------------------------------------------------------

export function timeUnit(maxPs: number | null | undefined): Unit {
  if (!known(maxPs) || maxPs === 0) return psUnits[3]!;
  const size = Math.abs(maxPs);
  if (size >= twoHoursPs) return hour;
  if (size >= twoMinutesPs) return minute;
  return pickUnit(size, psUnits, 1000);
}

export function formatTime(ps: number | null | undefined): string {
  if (!known(ps)) return unknown;
  if (ps === 0) return '0 s';
  return withUnit(ps, timeUnit(ps));
}

// Number and unit apart, for large figures.
export function timeParts(ps: number | null | undefined): { value: string; unit: string } {
  if (!known(ps)) return { value: unknown, unit: '' };
  const unit = ps === 0 ? psUnits[4]! : timeUnit(ps);
  return { value: significant(ps / unit.size), unit: unit.name };
}

export function exactTime(ps: number | null | undefined): string {
  if (!known(ps)) return 'not known';
  return `${exactCount(ps)} ps`;
}

// ---- bytes, counts, rates ----------------------------------------------------------------------------------------

export function byteUnit(maxBytes: number | null | undefined): Unit {
  return known(maxBytes) ? pickUnit(maxBytes, byteUnits, 1024) : byteUnits[0]!;
}

export function formatBytes(bytes: number | null | undefined): string {
  if (!known(bytes)) return unknown;
  return withUnit(bytes, byteUnit(bytes));
}

export function exactBytes(bytes: number | null | undefined): string {
  return known(bytes) ? `${exactCount(bytes)} B` : 'not known';
}

// 2,304 stays a count to its last digit; from a million on 1.24 M.
export function formatCount(count: number | null | undefined): string {
  if (!known(count)) return unknown;
  if (Math.abs(count) < 999_999.5) {
    return Number.isInteger(count) || Math.abs(count) >= 1000 ? exactCount(Math.round(count)) : significant(count);
  }
  return withUnit(count, pickUnit(count, countUnits, 1e6));
}

export function exactCount(count: number | null | undefined): string {
  if (!known(count)) return 'not known';
  const sign = count < 0 ? minus : '';
  const size = Math.abs(count);
  return sign + (Number.isInteger(size) ? groupDigits(BigInt(size).toString()) : String(size));
}

export function formatBandwidth(bytesPerSecond: number | null | undefined): string {
  return known(bytesPerSecond) ? withUnit(bytesPerSecond, pickUnit(bytesPerSecond, bandwidthUnits, 1000)) : unknown;
}

export function formatRate(flopsPerSecond: number | null | undefined): string {
  return known(flopsPerSecond) ? withUnit(flopsPerSecond, pickUnit(flopsPerSecond, rateUnits, 1000)) : unknown;
}

// A share of 1: one decimal, "<0.1 %" for small, "0 %" only for a true zero.
export function formatShare(share: number | null | undefined): string {
  if (!known(share)) return unknown;
  if (share === 0) return '0 %';
  const percent = share * 100;
  if (Math.abs(percent) < 0.1) return percent < 0 ? `>${minus}0.1 %` : '<0.1 %';
  return `${percent.toFixed(1).replace('-', minus)} %`;
}

export interface Delta {
  readonly text: string;
  readonly direction: 'better' | 'worse' | 'same';
}

// "+12.4 ms (3.1 %) worse"; `lowerIsBetter` says which way is worse.
export function formatTimeDelta(ps: number, baselinePs: number, lowerIsBetter = true): Delta {
  const difference = ps - baselinePs;
  if (difference === 0) return { text: 'no change', direction: 'same' };
  const sign = difference > 0 ? '+' : minus;
  const share = baselinePs !== 0 ? ` (${formatShare(Math.abs(difference / baselinePs))})` : '';
  const direction = difference < 0 === lowerIsBetter ? 'better' : 'worse';
  return { text: `${sign}${formatTime(Math.abs(difference))}${share} ${direction}`, direction };
}

// ---- wall clock ----------------------------------------------------------------------------------------------------

const ageUnits: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

// "12 min"; anything younger than a second (or ahead of our clock) is "now".
export function formatAge(unixMs: number | null | undefined, nowMs: number): string {
  if (!known(unixMs)) return unknown;
  const age = nowMs - unixMs;
  for (const [name, size] of ageUnits) {
    if (age >= size) return `${exactCount(Math.floor(age / size))} ${name}`;
  }
  return 'now';
}

// "3 h 12 min": the two largest units, as one reads a clock.
export function formatDuration(ms: number | null | undefined): string {
  if (!known(ms)) return unknown;
  const at = ageUnits.findIndex(([, size]) => ms >= size);
  if (at < 0) return `${Math.round(ms)} ms`;
  const [unit, size] = ageUnits[at]!;
  const next = ageUnits[at + 1];
  const whole = `${exactCount(Math.floor(ms / size))} ${unit}`;
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return next && rest > 0 ? `${whole} ${rest} ${next[0]}` : whole;
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, '0');
}

// Local time, sortable: 2026-11-29 14:31:00.
export function formatClock(unixMs: number | null | undefined): string {
  if (!known(unixMs)) return unknown;
  const date = new Date(unixMs);
  return (
    `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ` +
    `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  );
}

// The origin arrives as decimal nanoseconds, which do not fit a double.
export function formatOrigin(unixNs: string | null | undefined): string {
  if (!unixNs || !/^-?\d+$/.test(unixNs)) return unknown;
  const ns = BigInt(unixNs);
  const ms = Number(ns / 1_000_000n);
  return `${formatClock(ms)}.${pad(Math.abs(ms % 1000), 3)}`;
}

// JAX names sessions 2026_11_29_14_31_00, our captures add milliseconds and four random letters: that reads as a time.
export function sessionLabel(name: string): string {
  const match = /^(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)(?:_(\d{3})_[0-9a-f]{4})?$/.exec(name);
  return match ? `${match[1]}-${match[2]}-${match[3]} ${match[4]}:${match[5]}:${match[6]}${match[7] ? '.' + match[7] : ''}` : name;
}

// ---- names ---------------------------------------------------------------------------------------------------------

// Middle ellipsis: the head says the kind of op, the tail says which one.
export function middleEllipsis(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const tail = Math.max(4, Math.floor((most - 1) * 0.4));
  const head = Math.max(1, most - 1 - tail);
  return letters.slice(0, head).join('') + '\u2026' + letters.slice(letters.length - tail).join('');
}

// Every count with its noun comes from here: "1 event", "2,304 events", "– events" of a count that is not known.
export function plural(count: number | null | undefined, one: string, many = one + 's'): string {
  return `${formatCount(count)} ${nounFor(count, one, many)}`;
}

// The noun alone, where the number stands apart from it.
export function nounFor(count: number | null | undefined, one: string, many = one + 's'): string {
  return count === 1 ? one : many;
}
