// The hover card. Written straight into the page: it follows the pointer every frame.

import { formatShare, formatTime, plural } from '../format/format';
import { categories } from '../theme/tokens';
import type { EventDetail } from './model';
import type { Reading } from './reading';
import type { DrawnEvent } from './scene';

const GAP_PX = 14;
/** A pointer that rests this long on a bar is looking at it. */
const LOOK_MS = 140;

export class Tooltip {
  private readonly element = document.createElement('div');
  private readonly many = document.createElement('div');
  private readonly name = document.createElement('div');
  private readonly facts = document.createElement('div');
  private readonly swatch = document.createElement('span');
  private readonly kind = document.createElement('div');
  private shown: DrawnEvent | null = null;

  private timer = 0;

  /** `longestOf` gives the longest event that a bar stands for. */
  constructor(private readonly host: HTMLElement, private readonly longestOf: (event: DrawnEvent) => Promise<EventDetail>) {
    this.element.className = 'tl-tooltip';
    this.element.hidden = true;
    this.element.setAttribute('data-testid', 'timeline-tooltip');
    this.many.className = 'tl-tooltip-many';
    this.name.className = 'tl-tooltip-name';
    this.facts.className = 'tl-tooltip-facts';
    this.kind.className = 'tl-tooltip-kind';
    this.swatch.className = 'tl-swatch';
    const category = document.createElement('span');
    this.kind.append(this.swatch, category);
    this.element.append(this.many, this.name, this.facts, this.kind);
    host.append(this.element);
  }

  dispose(): void {
    this.element.remove();
  }

  private async complete(event: DrawnEvent): Promise<void> {
    try {
      const longest = await this.longestOf(event);
      if (this.shown !== event) return;
      this.name.textContent = longest.name === '' ? '(no name)' : longest.name;
      this.facts.textContent = factsOf(event, longest.duration_ps);
    } catch {
      // What tiles know stays; what is wrong with the server others say.
      if (this.shown === event) this.name.textContent = event.name;
    }
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
    this.many.hidden = true;
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
    this.many.hidden = event.count === 1;
    this.many.textContent = `${plural(event.count, 'event')}, the longest of them:`;
    this.name.textContent = event.longest.length > 1 ? '\u2026' : event.name === '' ? '(no name)' : event.name;
    this.facts.textContent = factsOf(event);
    window.clearTimeout(this.timer);
    // Tiles know where a bar lies but not which of many is the longest and how long, nor how long one is that they cut: ask, once it is looked at.
    if (event.longestPs === null || event.beginsBefore || event.endsAfter) {
      this.timer = window.setTimeout(() => void this.complete(event), LOOK_MS);
    }
    const category = categories[event.category] ?? categories[0]!;
    this.kind.hidden = false;
    this.swatch.style.background = `var(--cat-${category.key})`;
    this.kind.lastElementChild!.textContent = category.label;
  }
}

/** "59.1 µs", or of many the longest and what all do: "59.1 µs; all busy 40.0 % of 1.20 ms". */
export function factsOf(event: DrawnEvent, longestPs: number | null = event.longestPs): string {
  if (event.count > 1) {
    const longest = longestPs === null ? '' : `${formatTime(longestPs)}; `;
    return `${longest}all busy ${formatShare(event.share)} of ${formatTime(event.endPs - event.startPs)}`;
  }
  const open = event.beginsBefore || event.endsAfter;
  if (open && longestPs === event.longestPs) return `at least ${formatTime(event.endPs - event.startPs)}; goes on outside the view`;
  return formatTime(longestPs);
}
