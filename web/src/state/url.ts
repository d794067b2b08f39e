// State that lives in the address. Reading never fails: a key that cannot be understood is ignored, and unknown keys
// are kept. Two ways to write:
//   pushKeys({ sel: '0.1.2.55' })          a selection or filter: one history entry, Back undoes it
//   replaceKeysSoon({ v: '12.3s,40ms' })   a viewport that moves: the entry is replaced after 250 ms of rest
import { useSyncExternalStore } from 'react';
import { notifyLocation, useLocation } from './router';

export const restBeforeWriteMs = 250;

export type KeyChanges = Readonly<Record<string, string | null>>;

// Spelled like encodeURIComponent but leaves the characters readable that a query may hold.
function encodeValue(value: string): string {
  return encodeURIComponent(value).replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%2F/g, '/').replace(/%40/g, '@');
}

export function mergeSearch(search: string, changes: KeyChanges): string {
  const query = new URLSearchParams(search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(key);
    else query.set(key, value);
  }
  const text = [...query].map(([key, value]) => `${encodeValue(key)}=${encodeValue(value)}`).join('&');
  return text ? '?' + text : '';
}

export function readKey(key: string): string | null {
  return new URLSearchParams(window.location.search).get(key);
}

export function useUrlKey(key: string): string | null {
  const { search } = useLocation();
  return new URLSearchParams(search).get(key);
}

function write(changes: KeyChanges, replace: boolean): void {
  const search = mergeSearch(window.location.search, changes);
  if (search === window.location.search) return;
  const address = window.location.pathname + search + window.location.hash;
  if (replace) history.replaceState(history.state, '', address);
  else history.pushState(null, '', address);
  notifyLocation();
}

let waiting: Record<string, string | null> = {};
let waitingPath = '';
let timer: ReturnType<typeof setTimeout> | null = null;

function flush(): void {
  timer = null;
  const changes = waiting;
  waiting = {};
  // A page that was left while its write was still waiting must not write into the next page's address.
  if (window.location.pathname === waitingPath) write(changes, true);
}

export function flushUrlWrites(): void {
  if (timer === null) return;
  clearTimeout(timer);
  flush();
}

export function pushKeys(changes: KeyChanges): void {
  flushUrlWrites();
  write(changes, false);
}

export function replaceKeys(changes: KeyChanges): void {
  flushUrlWrites();
  write(changes, true);
}

export function replaceKeysSoon(changes: KeyChanges): void {
  if (timer !== null && waitingPath !== window.location.pathname) {
    clearTimeout(timer);
    waiting = {};
  }
  Object.assign(waiting, changes);
  waitingPath = window.location.pathname;
  if (timer !== null) clearTimeout(timer);
  timer = setTimeout(flush, restBeforeWriteMs);
}

// ---- times in addresses: exact, and short where possible -------------------------------------------------------

const unitsPs = [
  ['s', 12],
  ['ms', 9],
  ['us', 6],
  ['ns', 3],
  ['ps', 0],
] as const;

// 12300000000000 -> "12.3s"; always exact, so a pasted address shows the same view. Whole picoseconds.
export function formatTimePs(ps: number): string {
  const whole = Math.round(ps);
  if (whole === 0) return '0';
  const sign = whole < 0 ? '-' : '';
  const digits = BigInt(Math.abs(whole)).toString();
  for (const [unit, exponent] of unitsPs) {
    if (digits.length <= exponent) continue;
    const head = digits.slice(0, digits.length - exponent);
    const tail = digits.slice(digits.length - exponent).replace(/0+$/, '');
    return `${sign}${head}${tail ? '.' + tail : ''}${unit}`;
  }
  return `${sign}${digits}ps`;
}

// Accepts "12.3s", "40ms", "5us", "5µs", "7ns", "9ps", "1.5min", "2h", and a bare number as picoseconds. Null when it is none.
export function parseTimePs(text: string): number | null {
  const match = /^\s*(-?)(\d*)(?:\.(\d*))?\s*(h|min|s|ms|us|µs|μs|ns|ps)?\s*$/.exec(text);
  if (!match) return null;
  const [, sign, head = '', tail = '', unit = 'ps'] = match;
  if (head === '' && tail === '') return null;
  const factor = unit === 'h' ? 3600 : unit === 'min' ? 60 : 1;
  const exponent = unit === 'h' || unit === 'min' || unit === 's' ? 12 : unit === 'ms' ? 9 : unit === 'ns' ? 3 : unit === 'ps' ? 0 : 6;
  const digits = (head || '0') + tail.slice(0, exponent).padEnd(exponent, '0');
  const value = Number(BigInt(digits)) * factor;
  if (!Number.isFinite(value)) return null;
  return sign ? -value : value;
}

export interface Viewport {
  readonly startPs: number;
  readonly durationPs: number;
}

// v=<left edge>,<width>
export function formatViewport(view: Viewport): string {
  return `${formatTimePs(view.startPs)},${formatTimePs(view.durationPs)}`;
}

export function parseViewport(text: string | null): Viewport | null {
  if (!text) return null;
  const comma = text.indexOf(',');
  if (comma < 0) return null;
  const startPs = parseTimePs(text.slice(0, comma));
  const durationPs = parseTimePs(text.slice(comma + 1));
  if (startPs === null || durationPs === null || durationPs <= 0) return null;
  return { startPs, durationPs };
}

// ---- the tab's title ---------------------------------------------------------------------------------------------

export function setTitle(...parts: readonly (string | null | undefined)[]): void {
  document.title = [...parts.filter(Boolean), 'Strobe'].join(' - ');
}

// Whether the tab is in sight: polling rests while it is not.
export function useVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => document.visibilityState !== 'hidden',
  );
}
