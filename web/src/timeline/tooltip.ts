// The hover card. Written straight into the page: it follows the pointer every frame.

import { exactTime, formatCount, formatShare, formatTime } from '../format/format';
import { categories } from '../theme/tokens';
import type { DrawnEvent } from './scene';

const GAP_PX = 14;

export class Tooltip {
  private readonly element = document.createElement('div');
  private readonly name = document.createElement('div');
  private readonly facts = document.createElement('div');
  private readonly swatch = document.createElement('span');
  private readonly kind = document.createElement('div');
  private shown: DrawnEvent | null = null;

  constructor(private readonly host: HTMLElement) {
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

  hide(): void {
    this.shown = null;
    this.element.hidden = true;
  }

  show(event: DrawnEvent, x: number, y: number): void {
    if (this.shown === null || this.shown.event !== event.event || this.shown.lineId !== event.lineId || this.shown.count !== event.count) {
      this.fill(event);
    }
    this.shown = event;
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + GAP_PX + width > this.host.clientWidth ? Math.max(0, x - GAP_PX - width) : x + GAP_PX;
    const top = y + GAP_PX + height > this.host.clientHeight ? Math.max(0, y - GAP_PX - height) : y + GAP_PX;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  private fill(event: DrawnEvent): void {
    this.name.textContent = event.name === '' ? '(no name)' : event.name;
    this.facts.textContent = factsOf(event);
    this.facts.title = exactTime(event.longestPs);
    const category = categories[event.category] ?? categories[0]!;
    this.swatch.style.background = `var(--cat-${category.key})`;
    this.kind.lastElementChild!.textContent = category.label;
  }
}

/** "59.1 µs", or what a merged bar stands for: "12 events, longest 59.1 µs, busy 40.0 %". */
export function factsOf(event: DrawnEvent): string {
  if (event.count > 1) {
    return `${formatCount(event.count)} events, longest ${formatTime(event.longestPs)}, busy ${formatShare(event.share)} of ${formatTime(event.endPs - event.startPs)}`;
  }
  const open = event.beginsBefore || event.endsAfter;
  return open ? `at least ${formatTime(event.endPs - event.startPs)}; goes on outside the view` : formatTime(event.longestPs);
}
