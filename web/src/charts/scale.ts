// Axes: round ticks for linear and logarithmic scales, and the mapping of a value to a place.

export interface Tick {
  readonly value: number;
  readonly major: boolean;
}

const steps = [1, 2, 2.5, 5, 10];

// Ticks from 0 to at least `max`, at round distances.
export function linearTicks(max: number, wanted = 4): number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * steps.find((one) => one * power >= rough * 0.999999)!;
  const ticks: number[] = [];
  for (let i = 0; i * step < max + step * 0.999; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

// Round ticks that enclose the range; below and above zero alike.
export function rangeTicks(min: number, max: number, wanted = 4): number[] {
  if (!Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  const span = max - min || Math.abs(max) || 1;
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = power * steps.find((one) => one * power >= (span / wanted) * 0.999999)!;
  const from = Math.floor(min / step + 1e-9);
  const to = Math.max(from + 1, Math.ceil(max / step - 1e-9));
  return Array.from({ length: to - from + 1 }, (_, i) => Number(((from + i) * step).toPrecision(12)));
}

// A tick beside others at this distance: as many decimals as tell them apart, never an exponent.
export function tickBeside(value: number, step: number): string {
  const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  // A step of 2.5 needs one decimal more than one of 2.
  const more = Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 ? 1 : 0;
  const [whole, part] = Math.abs(value).toFixed(decimals + more).split('.');
  const text = whole!.replace(/\B(?=(\d{3})+(?!\d))/g, ',') + (part ? '.' + part : '');
  return value < 0 && Number(text.replace(/,/g, '')) !== 0 ? '\u2212' + text : text;
}

export function logTicks(min: number, max: number): Tick[] {
  const ticks: Tick[] = [];
  const from = Math.floor(Math.log10(min) + 1e-9);
  const to = Math.ceil(Math.log10(max) - 1e-9);
  const every = Math.max(1, Math.ceil((to - from) / 8));
  for (let decade = from; decade <= to; decade++) {
    const value = 10 ** decade;
    if (value >= min * 0.999 && value <= max * 1.001) ticks.push({ value, major: (decade - from) % every === 0 });
  }
  return ticks;
}

export interface Scale {
  (value: number): number;
  readonly invert: (place: number) => number;
}

export function linearScale(from: number, to: number, start: number, end: number): Scale {
  const span = to - from || 1;
  const scale = (value: number) => start + ((value - from) / span) * (end - start);
  return Object.assign(scale, { invert: (place: number) => from + ((place - start) / (end - start || 1)) * span });
}

export function logScale(from: number, to: number, start: number, end: number): Scale {
  const low = Math.log10(from);
  const span = Math.log10(to) - low || 1;
  const scale = (value: number) => start + ((Math.log10(Math.max(value, from * 1e-6)) - low) / span) * (end - start);
  return Object.assign(scale, { invert: (place: number) => 10 ** (low + ((place - start) / (end - start || 1)) * span) });
}

// The position of the last value not above x in a rising list; -1 when x lies before all.
export function lastAtOrBefore(values: readonly number[], x: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// A tick's number as short as it is exact: "30", "2.5".
export function tickText(value: number): string {
  return value >= 1000 ? Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',') : String(Number(value.toPrecision(6)));
}
