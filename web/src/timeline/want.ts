// Which tiles to ask for, in order of importance: something for every visible chunk, the exact tiles of the view, what the
// minimap shows, then the neighbours that a small pan or scroll would need.

import type { Layout, Track } from './layout';
import { showsStrip, stripLevel } from './scene';
import { levelFor, middleOut, rootLevelFor, tileRange, visibleRange, type TileAddress } from './tileGrid';
import { viewEndPs, type TimeSpan, type View } from './view';

export interface WantInput {
  readonly view: View;
  readonly window: TimeSpan;
  readonly layout: Layout;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly scrollPx: number;
  readonly strips: readonly Track[];
}

/** Part of the screen's height above and below for which tiles are fetched ahead. */
const AHEAD_SHARE = 0.5;
/** Chunks beyond this cannot be on a screen: a track is 24 px and a chunk of one line is possible. */
const MAX_CHUNKS = 400;

/** `strips` tells which folded tracks show their members instead of the line that stands for them; hosts' are not among these. */
export function visibleChunks(layout: Layout, scrollPx: number, heightPx: number, strips: (track: Track) => boolean = () => false): string[] {
  const chunks = new Set<string>();
  for (let i = Math.max(0, layout.indexAt(Math.max(0, scrollPx))); i < layout.tracks.length; ++i) {
    const track = layout.tracks[i]!;
    if (track.y >= scrollPx + heightPx || chunks.size >= MAX_CHUNKS) break;
    if (track.kind === 'host') continue;
    if (strips(track)) for (const member of track.members) chunks.add(member.chunk);
    else if (track.chunk !== '' && track.line !== null && track.line.event_count !== 0) chunks.add(track.chunk);
  }
  return [...chunks];
}

export function wantedTiles(input: WantInput): TileAddress[] {
  const { view, window, layout, widthPx, heightPx, scrollPx } = input;
  const level = levelFor(view, widthPx);
  const rootLevel = rootLevelFor(window);
  const wanted: TileAddress[] = [];
  const add = (chunk: string, atLevel: number, index: number): void => {
    wanted.push({ chunk, level: atLevel, index });
  };
  const strips = (track: Track): boolean => showsStrip(track, view, widthPx);
  const chunks = visibleChunks(layout, scrollPx, heightPx, strips);
  const root = tileRange(rootLevel, window.startPs, window.endPs + 1);
  const addRoots = (list: readonly string[]): void => {
    for (const chunk of list) for (const index of middleOut(root)) add(chunk, rootLevel, index);
  };
  const range = visibleRange(level, view, window);
  // Near the root the exact tiles come as fast as the root ones would.
  if (level < rootLevel - 2) addRoots(chunks);
  if (range !== null) for (const index of middleOut(range)) for (const chunk of chunks) add(chunk, level, index);
  for (const [chunk, atLevel] of hostChunks(input)) {
    const span = visibleRange(atLevel, view, window);
    if (span !== null) for (const index of middleOut(span)) add(chunk, atLevel, index);
  }
  addRoots([...new Set(input.strips.map((track) => track.chunk))]);
  if (range !== null) {
    const first = Math.floor(window.startPs / 2 ** level);
    const last = Math.floor(window.endPs / 2 ** level);
    for (const chunk of chunks) {
      if (range.first > first) add(chunk, level, range.first - 1);
      if (range.last < last) add(chunk, level, range.last + 1);
    }
    const ahead = heightPx * AHEAD_SHARE;
    const around = visibleChunks(layout, scrollPx - ahead, heightPx + 2 * ahead, strips).filter((chunk) => !chunks.includes(chunk));
    for (const chunk of around) for (const index of middleOut(range)) add(chunk, level, index);
  }
  return unique(wanted);
}

/** Chunks of the devices of folded hosts in sight, with the level that their strips need. */
function hostChunks({ layout, scrollPx, heightPx, view, widthPx, window }: WantInput): [string, number][] {
  const chunks = new Map<string, number>();
  for (let i = Math.max(0, layout.indexAt(Math.max(0, scrollPx))); i < layout.tracks.length; ++i) {
    const track = layout.tracks[i]!;
    if (track.y >= scrollPx + heightPx || chunks.size >= MAX_CHUNKS) break;
    if (track.kind === 'host') for (const member of track.members) chunks.set(member.chunk, stripLevel(track, view, widthPx, window));
  }
  return [...chunks];
}

function unique(addresses: readonly TileAddress[]): TileAddress[] {
  const seen = new Set<string>();
  return addresses.filter((address) => {
    const key = `${address.chunk}/${address.level}/${address.index}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** True when nothing but the ends of the trace lies left or right of the view. */
export function showsAll(view: View, window: TimeSpan): boolean {
  return view.startPs <= window.startPs && viewEndPs(view) >= window.endPs;
}
