// Time on the timeline: integer picoseconds of session time, written and read without losing a digit.
//
//   formatExactTime(12_300_000_000_001)  -> "12.300000000001s"     (the URL; never rounded)
//   parseTime("12.3s")                   -> 12_300_000_000_000
//   formatTimeAt(12_300_000_000_001, 1e9) -> "12.300 s"            (the ruler; as fine as the view)
//
// Durations for people are written by format/format.ts.
// Session times fit a double exactly up to 2^53 ps = 2.5 h, which is the API's own limit.

export interface TimeUnit {
  readonly name: string; // as shown to people
  readonly ascii: string; // as written in URLs
  readonly exponent: number; // ps = 10^exponent
}

export const TIME_UNITS: readonly TimeUnit[] = [
  { name: 'ps', ascii: 'ps', exponent: 0 },
  { name: 'ns', ascii: 'ns', exponent: 3 },
  { name: 'µs', ascii: 'us', exponent: 6 },
  { name: 'ms', ascii: 'ms', exponent: 9 },
  { name: 's', ascii: 's', exponent: 12 },
];

const PS_BY_NAME: Readonly<Record<string, number>> = {
  ps: 1, ns: 1e3, us: 1e6, µs: 1e6, μs: 1e6, ms: 1e9, s: 1e12, min: 60e12, m: 60e12, h: 3600e12,
};

/** The largest unit of which `ps` is at least one. */
export function unitFor(ps: number): TimeUnit {
  const size = Math.abs(ps);
  for (let i = TIME_UNITS.length - 1; i > 0; --i) {
    const unit = TIME_UNITS[i]!;
    if (size >= 10 ** unit.exponent) return unit;
  }
  return TIME_UNITS[0]!;
}

/** Exact decimal text of an integer (plus an optional fraction of a picosecond, kept to 2 digits). */
export function formatExactTime(ps: number, fractionPs = 0): string {
  const sign = ps < 0 ? '-' : '';
  let whole = Math.abs(Math.round(ps));
  let hundredths = ps < 0 ? 0 : Math.round(fractionPs * 100);
  if (hundredths >= 100) {
    hundredths = 0;
    whole += 1;
  }
  if (hundredths > 0) return `${sign}${whole}.${String(hundredths).padStart(2, '0')}ps`;
  const unit = unitFor(whole);
  const digits = String(whole).padStart(unit.exponent + 1, '0');
  const cut = digits.length - unit.exponent;
  const decimals = digits.slice(cut).replace(/0+$/, '');
  return `${sign}${digits.slice(0, cut)}${decimals === '' ? '' : '.' + decimals}${unit.ascii}`;
}

/** Reads "12.3s", "40 ms", "1_000ps", "1.5 min". A bare number takes `bareUnit`. Null when it is no time. */
export function parseTime(text: string, bareUnit = 's'): number | null {
  const parsed = parseTimeParts(text, bareUnit);
  return parsed === null ? null : parsed.ps;
}

/** As parseTime, with what lies beyond the last whole picosecond kept apart. */
export function parseTimeParts(text: string, bareUnit = 's'): { ps: number; fractionPs: number } | null {
  const match = /^\s*@?\s*([+-]?)([\d_,]*)(?:\.(\d*))?\s*([a-zµμ]*)\s*$/i.exec(text);
  if (match === null) return null;
  const integer = (match[2] ?? '').replace(/[_,]/g, '');
  const decimals = match[3] ?? '';
  if (integer === '' && decimals === '') return null;
  const psPerUnit = PS_BY_NAME[(match[4] === '' ? bareUnit : match[4]!).toLowerCase()];
  if (psPerUnit === undefined) return null;
  const fromDecimals = decimals === '' ? 0 : Number('0.' + decimals) * psPerUnit;
  const nearest = Math.round(fromDecimals);
  // Decimal parts such as 0.3 of a second land within a few millionths of a whole picosecond.
  const exact = Math.abs(fromDecimals - nearest) < 1e-3 ? nearest : fromDecimals;
  const below = Math.floor(exact);
  const magnitude = Number(integer === '' ? '0' : integer) * psPerUnit + below;
  if (!Number.isSafeInteger(magnitude)) return null;
  if (match[1] === '-') return { ps: -magnitude, fractionPs: 0 };
  return { ps: magnitude, fractionPs: exact - below };
}

const GROUPS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function trimDecimals(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Session time with as many decimals as `resolutionPs` asks for, in groups of three, cut and never rounded up. */
export function formatTimeAt(ps: number, resolutionPs: number): string {
  const unit = unitFor(ps === 0 ? resolutionPs : ps);
  const wanted = Math.ceil(unit.exponent - Math.log10(Math.max(1, resolutionPs)) - 1e-9);
  // Whole groups of three: "12.300 040 s", not "12.300 04 s".
  const decimals = Math.max(0, Math.min(unit.exponent, Math.ceil(wanted / 3) * 3));
  const sign = ps < 0 ? '-' : '';
  // Floor at the wanted digit, on integers: rounding a double here would show a time that is not there.
  const step = 10 ** (unit.exponent - decimals);
  const floored = Math.floor(Math.abs(ps) / step);
  const digits = String(floored).padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const whole = GROUPS.format(Number(digits.slice(0, cut)));
  const groups = digits.slice(cut).match(/.{1,3}/g)?.join('\u2009') ?? '';
  return `${sign}${whole}${groups === '' ? '' : '.' + groups} ${unit.name}`;
}
