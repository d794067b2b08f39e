// The hover card. Written straight into the page: it follows the pointer every frame.

import { formatCount, formatShare, formatTime } from '../format/format';
import { categories } from '../theme/tokens';
import type { Reading } from './reading';
import type { DrawnEvent } from './scene';

const GAP_PX = 14;
/** A pointer that rests this long on a bar is looking at it. */
const LOOK_MS = 140;

export class Tooltip {
  private readonly element = document.createElement('div');
  private readonly name = document.createElement('div');
  private readonly facts = document.createElement('div');
  private readonly swatch = document.createElement('span');
  private readonly kind = document.createElement('div');
  private shown: DrawnEvent | null = null;

  private timer = 0;

  /** `durationOf` gives the exact duration of an event, null when it cannot be had. */
  constructor(private readonly host: HTMLElement, private readonly durationOf: (eventId: string) => Promise<number | null>) {
    this.element.className = 'tl-tooltip';
    this.element.hidden = true;
    this.element.setAttribute('data-testid', 'timeline-tooltip');
    this.name.className = 'tl-tooltip-name';
    this.facts.className = 'tl-tooltip-facts';
    this.kind.className = 'tl-tooltip-kind';
    this.swatch.className = 'tl-swatch';
    const category = document.createElement('span');
    this.kind.append(this.swatch, category);
    this.element.append(this.name, this.facts, this.kind);
    host.append(this.element);
  }

  dispose(): void {
    this.element.remove();
  }

  private async complete(event: DrawnEvent): Promise<void> {
    const durationPs = await this.durationOf(`${event.lineId}.${event.event}`);
    if (durationPs !== null && this.shown === event) this.facts.textContent = factsOf(event, durationPs);
  }

  hide(): void {
    window.clearTimeout(this.timer);
    this.shown = null;
    this.element.hidden = true;
  }

  show(event: DrawnEvent, x: number, y: number): void {
    const { shown } = this;
    if (shown === null || shown.event !== event.event || shown.lineId !== event.lineId || shown.count !== event.count) {
      this.shown = event;
      this.fill(event);
    }
    this.place(x, y);
  }

  showReading(reading: Reading, x: number, y: number): void {
    window.clearTimeout(this.timer);
    this.shown = null;
    this.name.textContent = reading.title;
    this.facts.textContent = reading.facts;
    this.kind.hidden = true;
    this.place(x, y);
  }

  private place(x: number, y: number): void {
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + GAP_PX + width > this.host.clientWidth ? Math.max(0, x - GAP_PX - width) : x + GAP_PX;
    const top = y + GAP_PX + height > this.host.clientHeight ? Math.max(0, y - GAP_PX - height) : y + GAP_PX;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  private fill(event: DrawnEvent): void {
    this.name.textContent = event.name === '' ? '(no name)' : event.name;
    this.facts.textContent = factsOf(event);
    window.clearTimeout(this.timer);
    // Tiles know where a bar lies but not the length of the longest of many, nor of one that they cut: ask, once it is looked at.
    if (event.longestPs === null || event.beginsBefore || event.endsAfter) {
      this.timer = window.setTimeout(() => void this.complete(event), LOOK_MS);
    }
    const category = categories[event.category] ?? categories[0]!;
    this.kind.hidden = false;
    this.swatch.style.background = `var(--cat-${category.key})`;
    this.kind.lastElementChild!.textContent = category.label;
  }
}

/** "59.1 µs", or what a merged bar stands for: "12 events, longest 59.1 µs, busy 40.0 % of 1.20 ms". */
export function factsOf(event: DrawnEvent, longestPs: number | null = event.longestPs): string {
  if (event.count > 1) {
    const longest = longestPs === null ? 'the longest is named above' : `longest ${formatTime(longestPs)}`;
    return `${formatCount(event.count)} events, ${longest}, busy ${formatShare(event.share)} of ${formatTime(event.endPs - event.startPs)}`;
  }
  const open = event.beginsBefore || event.endsAfter;
  if (open && longestPs === event.longestPs) return `at least ${formatTime(event.endPs - event.startPs)}; goes on outside the view`;
  return formatTime(longestPs);
}
