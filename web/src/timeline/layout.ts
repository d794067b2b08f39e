// Where every track lies, top to bottom: host > plane > line > nested rows. Pure: same input, same layout.
//
//   const layout = makeLayout(answer.hosts, new Set(['0.3']));    // '0.3' toggled away from its default
//   const i = layout.indexAt(y);                                 // the track at a height, by bisection
//
// Height of a line whose rows are not known yet is one row; keepAnchor() in the controller holds what is on screen.

import { lineIndexOf, type HostInfo, type LineInfo, type PlaneInfo } from './model';

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

export type TrackKind = 'host' | 'plane' | 'line';

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
}

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
    for (const plane of host.planes) {
      const tooMany = open >= MAX_OPEN_PLANES || (plane.lines.length > MAX_OPEN_LINES && filled.length > 1);
      if (isEmpty(plane) || plane.kind === 'metadata' || tooMany) folded.add(plane.id);
      else ++open;
    }
  }
  return folded;
}

/** `toggled` holds ids that differ from their default: folded where the default is open, and the reverse. */
export function makeLayout(hosts: readonly HostInfo[], toggled: ReadonlySet<string>): Layout {
  const folded = defaultFolded(hosts);
  const isOpen = (id: string): boolean => folded.has(id) === toggled.has(id);
  const tracks: Track[] = [];
  let y = 0;
  const push = (track: Omit<Track, 'y'>): void => {
    tracks.push({ ...track, y });
    y += track.height;
  };
  for (const host of hosts) {
    const hostId = `h${host.id}`;
    const hostOpen = isOpen(hostId);
    push({
      kind: 'host', id: hostId, label: host.host === '' ? 'host' : host.host, height: HEADER_PX, depth: 0, open: hostOpen,
      canToggle: host.planes.length > 0, plane: null, line: null, lineIndex: -1, chunk: '', rows: 0, rowsTotal: 0,
      lines: host.planes.length,
    });
    if (!hostOpen) continue;
    for (const plane of host.planes) {
      const planeOpen = isOpen(plane.id) && plane.lines.length > 0;
      push(planeTrack(plane, planeOpen));
      if (!planeOpen) continue;
      for (const line of plane.lines) push(lineTrack(plane, line, isOpen(line.id)));
    }
  }
  return new Layout(tracks, y);
}

function planeTrack(plane: PlaneInfo, open: boolean): Omit<Track, 'y'> {
  const stand = open ? null : representativeLine(plane);
  return {
    kind: 'plane', id: plane.id, label: plane.name, height: HEADER_PX, depth: 1, open, canToggle: plane.lines.length > 0,
    plane, line: stand, lineIndex: stand === null ? -1 : lineIndexOf(stand.id),
    chunk: stand === null ? '' : `${plane.id}.${stand.chunk}`, rows: stand === null ? 0 : 1,
    rowsTotal: stand === null ? 0 : 1, lines: plane.lines.length,
  };
}

function lineTrack(plane: PlaneInfo, line: LineInfo, open: boolean): Omit<Track, 'y'> {
  const rowsTotal = line.row_count;
  const rows = open ? Math.min(Math.max(1, rowsTotal ?? 1), MAX_ROWS_PER_LINE) : 1;
  const label = line.display_name !== '' ? line.display_name : line.name !== '' ? line.name : `thread ${line.thread_id}`;
  return {
    kind: 'line', id: line.id, label, height: rows * ROW_PX + 2 * LINE_PAD_PX, depth: 2, open,
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
  const ids = text.split('~').filter((id) => /^(h\d+|\d+\.\d+(\.\d+)?)$/.test(id));
  return new Set(ids.slice(0, MAX_TOGGLED));
}
