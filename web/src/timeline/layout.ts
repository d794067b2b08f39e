// Where every track lies, top to bottom: host > plane > line > nested rows. Pure: same input, same layout.
//
//   const layout = makeLayout(answer.hosts, new Set(['0.3']));    // '0.3' toggled away from its default
//   const i = layout.indexAt(y);                                 // the track at a height, by bisection
//
// Height of a line whose rows are not known yet is one row; keepAnchor() in the controller holds what is on screen.

import { hostMembers, planeMembers, type StripMember } from './deviceStrip';
import { lineIndexOf, planeOf, type CounterInfo, type HostInfo, type LineInfo, type PlaneInfo } from './model';
import { nameMatcher } from './searchMark';

export const HEADER_PX = 24;
export const ROW_PX = 18; // pitch of nested rows; a bar is one less
export const BAR_PX = 17;
export const LINE_PAD_PX = 3; // above and below the rows of a line: one row makes 24
/** Deeper rows are folded away: no stack of a real program is deeper, and heights stay sane. */
export const MAX_ROWS_PER_LINE = 512;
/** Sessions with more planes of events than this start with the later ones folded. */
const MAX_OPEN_PLANES = 24;
/** Planes with more lines start folded, unless they are the only one with events. */
const MAX_OPEN_LINES = 400;
/** Sessions with more hosts start with every host folded into one strip. */
const MAX_OPEN_HOSTS = 8;
/** A process with more counters starts with them folded. */
const MAX_OPEN_COUNTERS = 6;
/** A chart, with room above and below. */
export const COUNTER_PX = 44;
export const COUNTER_PAD_PX = 4;

export type TrackKind = 'host' | 'plane' | 'line' | 'counters' | 'counter';

export interface Track {
  readonly kind: TrackKind;
  readonly id: string;
  readonly label: string;
  readonly y: number;
  readonly height: number;
  readonly depth: number; // indentation
  readonly open: boolean;
  readonly canToggle: boolean;
  readonly plane: PlaneInfo | null;
  /** The line drawn in this track; on a folded plane the one that stands for it. */
  readonly line: LineInfo | null;
  readonly lineIndex: number;
  readonly chunk: string; // tile chunk of `line`; '' when nothing is drawn
  readonly rows: number; // rows shown
  readonly rowsTotal: number | null; // rows the line has; null when not decoded yet
  readonly lines: number; // lines inside a plane or host
  readonly pinned?: boolean;
  /** The lines whose busy share a folded plane or host shows; empty: nothing to show. */
  readonly members: readonly StripMember[];
  readonly counter: CounterInfo | null; // of a chart
}

const BARE = { plane: null, line: null, lineIndex: -1, chunk: '', rows: 0, rowsTotal: 0, lines: 0, members: [], counter: null } as const;

export class Layout {
  private readonly positions = new Map<string, number>();

  constructor(readonly tracks: readonly Track[], readonly heightPx: number) {
    tracks.forEach((track, i) => this.positions.set(track.id, i));
  }

  find(id: string): Track | null {
    const i = this.positions.get(id);
    return i === undefined ? null : this.tracks[i]!;
  }

  /** Index of the track that contains `y`; the last one below the end; -1 without tracks. */
  indexAt(y: number): number {
    let low = 0;
    let high = this.tracks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.tracks[middle]!.y <= y) low = middle;
      else high = middle - 1;
    }
    return this.tracks.length === 0 ? -1 : low;
  }
}

/** The line that stands for a folded plane: what the device computed, else its busiest thread. */
export function representativeLine(plane: PlaneInfo): LineInfo | null {
  for (const kind of ['ops', 'stream', 'modules', 'steps'] as const) {
    const best = busiest(plane.lines.filter((line) => line.kind === kind && !line.derived));
    if (best !== null) return best;
  }
  return busiest(plane.lines);
}

function busiest(lines: readonly LineInfo[]): LineInfo | null {
  let best: LineInfo | null = null;
  for (const line of lines) if ((line.event_count ?? 1) > (best?.event_count ?? 0)) best = line;
  return best;
}

function isEmpty(plane: PlaneInfo): boolean {
  return plane.event_count === 0 || plane.lines.length === 0;
}

/** Ids of everything that starts folded. */
export function defaultFolded(hosts: readonly HostInfo[]): Set<string> {
  const folded = new Set<string>();
  const filled = hosts.flatMap((host) => host.planes).filter((plane) => !isEmpty(plane));
  let open = 0;
  for (const host of hosts) {
    if (hosts.length > MAX_OPEN_HOSTS) folded.add(`h${host.id}`);
    for (const plane of host.planes) {
      const tooMany = open >= MAX_OPEN_PLANES || (plane.lines.length > MAX_OPEN_LINES && filled.length > 1);
      if (isEmpty(plane) || plane.kind === 'metadata' || tooMany) folded.add(plane.id);
      else ++open;
    }
  }
  return folded;
}

/** What the user wants to see of the tracks, beside what is folded. */
export interface Choice {
  readonly pinned: readonly string[]; // lines at the top, in this order
  readonly filter: string; // lines and planes whose name holds this, or fits /this/
  readonly hideEmpty: boolean;
}

export const NO_CHOICE: Choice = { pinned: [], filter: '', hideEmpty: false };
export const PINNED_ID = 'pinned';

/** `toggled` holds ids that differ from their default: folded where the default is open, and the reverse. */
export function makeLayout(hosts: readonly HostInfo[], toggled: ReadonlySet<string>, choice: Choice = NO_CHOICE, counters: readonly CounterInfo[] = []): Layout {
  const folded = defaultFolded(hosts);
  const countersOf = byPlane(counters);
  for (const [plane, list] of countersOf) if (list.length > MAX_OPEN_COUNTERS) folded.add(`c${plane}`);
  const isOpen = (id: string): boolean => folded.has(id) === toggled.has(id);
  const tracks: Track[] = [];
  let y = 0;
  const push = (track: Omit<Track, 'y'>): void => {
    tracks.push({ ...track, y });
    y += track.height;
  };
  const pinned = new Set(pushPinned(hosts, choice, isOpen, push));
  const fits = nameMatcher(choice.filter);
  for (const host of hosts) {
    const hostId = `h${host.id}`;
    const planes = host.planes.filter((plane) => {
      if (choice.hideEmpty && isEmpty(plane)) return false;
      return fits === null || fits(plane.name) || plane.lines.some((line) => fits(labelOf(line))) || (countersOf.get(plane.id) ?? []).some((one) => fits(one.name));
    });
    if (planes.length === 0 && (fits !== null || (choice.hideEmpty && host.planes.length > 0))) continue;
    const hostOpen = isOpen(hostId);
    push({
      ...BARE, kind: 'host', id: hostId, label: host.host === '' ? 'host' : host.host, height: HEADER_PX, depth: 0, open: hostOpen,
      canToggle: host.planes.length > 0, lines: planes.length, members: hostOpen ? [] : hostMembers(host, representativeLine),
    });
    if (!hostOpen) continue;
    for (const plane of planes) {
      const planeOpen = isOpen(plane.id) && plane.lines.length > 0;
      push(planeTrack(plane, planeOpen));
      if (!planeOpen) continue;
      const all = fits === null || fits(plane.name);
      const charts = (countersOf.get(plane.id) ?? []).filter((one) => all || fits(one.name));
      const drawn = new Set(charts.map((one) => one.line));
      // Threads are many and a curve of memory is what one looks for; a device begins with what it ran.
      if (plane.kind === 'host') pushCounters(plane, charts, isOpen(`c${plane.id}`), push);
      for (const line of plane.lines) {
        if (line.kind === 'counter' && drawn.has(line.id)) continue;
        if (pinned.has(line.id) || (choice.hideEmpty && line.event_count === 0) || !(all || fits(labelOf(line)))) continue;
        push(lineTrack(plane, line, isOpen(line.id)));
      }
      if (plane.kind !== 'host') pushCounters(plane, charts, isOpen(`c${plane.id}`), push);
    }
  }
  return new Layout(tracks, y);
}

function byPlane(counters: readonly CounterInfo[]): Map<string, CounterInfo[]> {
  const planes = new Map<string, CounterInfo[]>();
  for (const counter of counters) {
    const list = planes.get(counter.plane);
    if (list === undefined) planes.set(counter.plane, [counter]);
    else list.push(counter);
  }
  return planes;
}

/** "queue length"; of memory "Memory 0 in use", where the group is the allocator. */
export function counterLabel({ kind, group, name }: Pick<CounterInfo, 'kind' | 'group' | 'name'>): string {
  const own = group === null || group === '' || group === name ? name : `${group} ${name}`;
  return kind === 'memory' ? `Memory ${own}` : own;
}

function pushCounters(plane: PlaneInfo, counters: readonly CounterInfo[], open: boolean, push: (track: Omit<Track, 'y'>) => void): void {
  if (counters.length === 0) return;
  push({ ...BARE, kind: 'counters', id: `c${plane.id}`, label: 'Counters', height: HEADER_PX, depth: 2, open, canToggle: true, plane, lines: counters.length });
  if (!open) return;
  for (const counter of counters) {
    push({ ...BARE, kind: 'counter', id: `c:${counter.id}`, label: counterLabel(counter), height: COUNTER_PX, depth: 2, open: true, canToggle: false, plane, counter });
  }
}

/** Pinned lines move to the top: they are not shown twice. */
function pushPinned(hosts: readonly HostInfo[], choice: Choice, isOpen: (id: string) => boolean, push: (track: Omit<Track, 'y'>) => void): string[] {
  const found: { plane: PlaneInfo; line: LineInfo }[] = [];
  for (const id of choice.pinned) {
    const plane = hosts.flatMap((host) => host.planes).find((one) => one.id === planeOf(id));
    const line = plane?.lines.find((one) => one.id === id);
    if (plane !== undefined && line !== undefined) found.push({ plane, line });
  }
  if (found.length === 0) return [];
  push({ ...BARE, kind: 'host', id: PINNED_ID, label: 'Pinned', height: HEADER_PX, depth: 0, open: true, canToggle: false, lines: found.length });
  for (const { plane, line } of found) {
    const track = lineTrack(plane, line, isOpen(line.id));
    push({ ...track, label: `${track.label}, ${plane.name}`, depth: 1, pinned: true });
  }
  return found.map((one) => one.line.id);
}

function labelOf(line: LineInfo): string {
  return line.display_name !== '' ? line.display_name : line.name !== '' ? line.name : `thread ${line.thread_id}`;
}

function planeTrack(plane: PlaneInfo, open: boolean): Omit<Track, 'y'> {
  const stand = open ? null : representativeLine(plane);
  return {
    ...BARE, kind: 'plane', id: plane.id, label: plane.name, height: HEADER_PX, depth: 1, open, canToggle: plane.lines.length > 0,
    members: open ? [] : planeMembers(plane, stand),
    plane, line: stand, lineIndex: stand === null ? -1 : lineIndexOf(stand.id),
    chunk: stand === null ? '' : `${plane.id}.${stand.chunk}`, rows: stand === null ? 0 : 1,
    rowsTotal: stand === null ? 0 : 1, lines: plane.lines.length,
  };
}

function lineTrack(plane: PlaneInfo, line: LineInfo, open: boolean): Omit<Track, 'y'> {
  const rowsTotal = line.row_count;
  const rows = open ? Math.min(Math.max(1, rowsTotal ?? 1), MAX_ROWS_PER_LINE) : 1;
  return {
    ...BARE, kind: 'line', id: line.id, label: labelOf(line), height: rows * ROW_PX + 2 * LINE_PAD_PX, depth: 2, open,
    canToggle: (rowsTotal ?? 1) > 1, plane, line, lineIndex: lineIndexOf(line.id), chunk: `${plane.id}.${line.chunk}`,
    rows, rowsTotal, lines: 0,
  };
}

/** Top of a row's bar, from the top of its track. */
export function barTop(row: number): number {
  return LINE_PAD_PX + row * ROW_PX;
}

/** The row of a track at a distance from its top; -1 in the padding. */
export function rowAt(track: Track, dy: number): number {
  const row = Math.floor((dy - LINE_PAD_PX) / ROW_PX);
  return row >= 0 && row < track.rows ? row : -1;
}

/** "0.1~h0~0.2.3": the `open` key of the URL; what differs from the default, in track order of ids. */
export function toggledToText(toggled: ReadonlySet<string>): string {
  return [...toggled].sort().join('~');
}

/** More ids than this cannot be in a URL that servers accept. */
const MAX_TOGGLED = 500;

export function toggledFromText(text: string): Set<string> {
  const ids = text.split('~').filter((id) => /^(h\d+|c?\d+\.\d+|\d+\.\d+\.\d+)$/.test(id));
  return new Set(ids.slice(0, MAX_TOGGLED));
}

export function pinnedFromText(text: string): string[] {
  return [...new Set(text.split('~').filter((id) => /^\d+\.\d+\.\d+$/.test(id)))].slice(0, MAX_TOGGLED);
}

/** The list with one entry a step up or down; the same list when it is at the end. */
export function moved(pinned: readonly string[], id: string, by: -1 | 1): readonly string[] {
  const from = pinned.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= pinned.length) return pinned;
  const next = [...pinned];
  [next[from], next[to]] = [next[to]!, next[from]!];
  return next;
}
