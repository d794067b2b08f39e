// What a page that leaves the browser says of itself: what it is of, when it was saved, and the way back.
import { formatClock } from '../format/format';

export interface PageInfo {
  readonly title: string; // "Overview"
  readonly about: readonly string[]; // Session and run, as the tab names them.
  readonly context: readonly string[]; // "Baseline none", "Hosts all 2 hosts"
  readonly link: string;
  readonly savedAt: Date;
}

export function readPageInfo(now = new Date()): PageInfo {
  const parts = document.title.split(' - ').slice(0, -1);
  const context = [...document.querySelectorAll('.context-bar .context-choice')].map((button) => button.getAttribute('aria-label') ?? '').filter((label) => label !== '' && !/ none$/.test(label));
  return { title: parts[0] ?? 'Strobe', about: parts.slice(1), context, link: window.location.href, savedAt: now };
}

// The page, and the drawer beside it when one is open.
export function pageRoot(): Element | null {
  return document.querySelector('.tool-layout') ?? document.getElementById('page');
}

// "2026-11-29 14:31:00 (UTC+1)": a local time that can be read elsewhere.
export function savedWords(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const size = Math.abs(minutes);
  const rest = size % 60 === 0 ? '' : `:${String(size % 60).padStart(2, '0')}`;
  return `${formatClock(at.getTime())} (UTC${minutes === 0 ? '' : `${minutes < 0 ? '\u2212' : '+'}${Math.floor(size / 60)}${rest}`})`;
}
