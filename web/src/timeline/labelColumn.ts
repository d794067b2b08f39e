// The column of track names: real elements (text, buttons, tooltips), one pool, only what is on screen. Panning in time
// never touches it; scrolling moves the container and fills rows that came into sight.

import type { Busy } from './deviceStrip';
import { HEADER_PX, PINNED_ID, type Layout, type Track } from './layout';
import type { CounterInfo } from './model';
import { formatBytes, formatCount, formatShare, plural, significant } from '../format/format';

const SVG = 'http://www.w3.org/2000/svg';

export type TrackAction = 'toggle' | 'pin' | 'up' | 'down';

function chevron(shape = 'M6 4l4 4-4 4'): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', shape);
  svg.append(path);
  return svg;
}

interface Row {
  readonly element: HTMLDivElement;
  readonly button: HTMLButtonElement;
  readonly name: HTMLSpanElement;
  readonly note: HTMLSpanElement;
  readonly pin: HTMLButtonElement;
  readonly up: HTMLButtonElement;
  readonly down: HTMLButtonElement;
  track: Track | null;
}

export class LabelColumn {
  private readonly rows = new Map<string, Row>();
  private readonly free: Row[] = [];
  private readonly inner = document.createElement('div');
  private readonly sticky = document.createElement('div');
  private layout: Layout | null = null;
  private selectedLine = '';
  private readonly busy = new Map<string, string>(); // what the notes of strips say

  constructor(host: HTMLElement, private readonly onAction: (track: Track, action: TrackAction) => void) {
    this.inner.className = 'tl-labels-inner';
    this.sticky.className = 'tl-sticky';
    this.sticky.hidden = true;
    // The header itself is in the list, above the fold: this is only a reminder for the eye.
    this.sticky.setAttribute('aria-hidden', 'true');
    host.append(this.inner, this.sticky);
  }

  dispose(): void {
    this.inner.remove();
    this.sticky.remove();
  }

  update(layout: Layout, scrollPx: number, heightPx: number, selectedLine: string): void {
    const fresh = layout !== this.layout || selectedLine !== this.selectedLine;
    this.layout = layout;
    this.selectedLine = selectedLine;
    this.inner.style.transform = `translateY(${-scrollPx}px)`;
    const seen = new Set<string>();
    let added = false;
    for (let i = Math.max(0, layout.indexAt(scrollPx)); i < layout.tracks.length; ++i) {
      const track = layout.tracks[i]!;
      if (track.y >= scrollPx + heightPx) break;
      seen.add(track.id);
      const row = this.rows.get(track.id);
      if (row === undefined) added = true;
      if (row === undefined || fresh) this.fill(row ?? this.take(track.id), track);
    }
    for (const [id, row] of this.rows) {
      if (seen.has(id) || row.element.contains(document.activeElement)) continue;
      this.rows.delete(id);
      row.element.remove();
      this.free.push(row);
    }
    if (added) this.order(seen);
    this.showSticky(layout, scrollPx);
  }

  /** How busy the strips on screen were; the notes beside their names say it. */
  setBusy(strips: ReadonlyMap<string, Busy>): void {
    for (const [id, row] of this.rows) {
      const busy = strips.get(id);
      const text = busy === undefined ? '' : busyNote(busy);
      if (text === (this.busy.get(id) ?? '') || row.track === null) continue;
      if (text === '') this.busy.delete(id);
      else this.busy.set(id, text);
      this.note(row, row.track);
    }
  }

  private note(row: Row, track: Track): void {
    const busy = this.busy.get(track.id);
    row.note.textContent = busy ?? noteOf(track, track.line?.derived === true && track.kind === 'line');
    row.element.title = describe(track) + (busy === undefined ? '' : `\n${busy} busy in this view. Solid: always busy there; lighter: the mean; faint: the most.`);
  }

  /** In which process one is, when its header has been scrolled away. */
  private showSticky(layout: Layout, scrollPx: number): void {
    const top = layout.tracks[layout.indexAt(scrollPx)];
    const plane = top?.kind === 'line' && top.plane !== null && top.pinned !== true ? layout.find(top.plane.id) : null;
    this.sticky.hidden = plane === null || top === undefined || top.y + top.height - scrollPx < HEADER_PX;
    if (this.sticky.hidden || plane === null) return;
    const host = layout.find(`h${plane.id.split('.')[0]}`);
    const text = host === null ? plane.label : `${host.label}  ${plane.label}`;
    if (this.sticky.textContent !== text) this.sticky.textContent = text;
  }

  /** Elements follow each other as tracks do, so that Tab goes from top to bottom. */
  private order(ids: ReadonlySet<string>): void {
    let at: Element | null = this.inner.firstElementChild;
    for (const id of ids) {
      const { element } = this.rows.get(id)!;
      if (element === at) at = at.nextElementSibling;
      else this.inner.insertBefore(element, at);
    }
  }

  private take(id: string): Row {
    const row = this.free.pop() ?? this.make();
    this.rows.set(id, row);
    this.inner.append(row.element);
    return row;
  }

  private make(): Row {
    const element = document.createElement('div');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'tl-toggle';
    button.append(chevron());
    const name = document.createElement('span');
    name.className = 'tl-track-name';
    const note = document.createElement('span');
    note.className = 'tl-track-note';
    const pin = this.actionButton('M6 2.5h4l-.7 4.6 2.7 2.4H4l2.7-2.4zM8 9.5V14');
    const up = this.actionButton('M4.5 9.5L8 6l3.5 3.5');
    const down = this.actionButton('M4.5 6.5L8 10l3.5-3.5');
    element.append(button, name, note, up, down, pin);
    const row: Row = { element, button, name, note, pin, up, down, track: null };
    for (const [at, action] of [[pin, 'pin'], [up, 'up'], [down, 'down']] as const) {
      at.addEventListener('click', () => {
        if (row.track !== null) this.onAction(row.track, action);
      });
    }
    const toggle = (): void => {
      if (row.track !== null && row.track.canToggle) this.onAction(row.track, 'toggle');
    };
    button.addEventListener('click', toggle);
    name.addEventListener('click', () => {
      if (row.track?.kind !== 'line') toggle();
    });
    return row;
  }

  private actionButton(shape: string): HTMLButtonElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'tl-toggle tl-act';
    button.append(chevron(shape));
    return button;
  }

  private fill(row: Row, track: Track): void {
    row.track = track;
    const { element, button } = row;
    const derived = track.line?.derived === true && track.kind === 'line';
    element.className = `tl-track tl-track-${track.kind}${derived ? ' tl-derived' : ''}` +
      (track.line !== null && track.line.id === this.selectedLine ? ' tl-track-selected' : '');
    element.style.transform = `translateY(${track.y}px)`;
    element.style.height = `${track.height}px`;
    element.dataset['track'] = track.id;
    button.hidden = !track.canToggle;
    if (track.canToggle) button.setAttribute('aria-expanded', String(track.open));
    else button.removeAttribute('aria-expanded');
    button.setAttribute('aria-label', `${track.open ? 'Fold' : 'Unfold'} ${track.label}`);
    const pinned = track.pinned === true;
    row.pin.hidden = track.kind !== 'line';
    row.pin.setAttribute('aria-pressed', String(pinned));
    row.pin.setAttribute('aria-label', `${pinned ? 'Unpin' : 'Pin'} ${track.label}`);
    row.pin.title = pinned ? 'Unpin' : 'Pin to the top';
    row.up.hidden = row.down.hidden = !pinned;
    row.up.setAttribute('aria-label', `Move ${track.label} up`);
    row.down.setAttribute('aria-label', `Move ${track.label} down`);
    row.name.textContent = track.label;
    this.note(row, track);
    element.style.setProperty('--line-height', `${HEADER_PX}px`);
  }
}

/** "93.1 %", or of several devices from the idlest to the busiest: "88.0 to 95.2 %". */
export function busyNote(busy: Busy): string {
  const least = formatShare(busy.least);
  const most = formatShare(busy.most);
  return busy.devices === 1 || least === most ? formatShare(busy.all) : `${least.replace(/\s*%$/, '')} to ${most}`;
}

export function counterValue(value: number, unit: CounterInfo['unit']): string {
  if (unit === 'bytes') return formatBytes(value);
  if (unit === 'percent') return `${significant(value)} %`;
  if (unit === 'count') return formatCount(value);
  return unit === null ? significant(value) : `${significant(value)} ${unit}`;
}

function noteOf(track: Track, derived: boolean): string {
  if (track.counter !== null) return `up to ${counterValue(track.counter.max, track.counter.unit)}`;
  if (track.kind === 'counters') return formatCount(track.lines);
  if (track.id === PINNED_ID) return plural(track.lines, 'line');
  if (track.kind === 'host') return plural(track.lines, 'process', 'processes');
  if (track.kind === 'plane') return track.plane?.event_count === 0 ? 'no events' : plural(track.lines, 'line');
  if (derived) return 'derived';
  if (track.line?.event_count === 0) return 'no events';
  if (!track.open && (track.rowsTotal ?? 1) > 1) return `1 of ${plural(track.rowsTotal, 'row')}`;
  return '';
}

function describe(track: Track): string {
  if (track.id === PINNED_ID) return 'Lines kept at the top';
  if (track.kind === 'host') return `Host ${track.label}`;
  if (track.counter !== null) {
    const { name, unit, samples, min, max, plane_name: plane } = track.counter;
    return `${name} of ${plane}\n${plural(samples, 'sample')}, from ${counterValue(min, unit)} to ${counterValue(max, unit)}. Line: the mean; band: least to most.`;
  }
  if (track.kind === 'counters') return `Counters of ${track.plane?.name ?? ''}`;
  if (track.kind === 'plane') return `${track.label}\n${plural(track.lines, 'line')}, ${eventsOf(track.plane?.event_count)}`;
  const line = track.line!;
  const rows = line.row_count === null ? 'still being read' : plural(line.row_count, 'row');
  const thread = line.thread_id === '' ? '' : `, id ${line.thread_id}`;
  const derived = line.derived ? '\nDerived from other lines, not measured.' : '';
  return `${line.display_name !== '' ? line.display_name : line.name}\n${eventsOf(line.event_count)}, ${rows}${thread}${derived}`;
}

function eventsOf(count: number | null | undefined): string {
  return count === null || count === undefined ? 'events still being read' : plural(count, 'event');
}
