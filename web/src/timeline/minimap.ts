// The overview strip: the whole session, what fills it, where the search hits are, and the view as a box.
// Drag the box to pan, drag elsewhere to choose another range, click to go there.

import { COLOUR_SUNKEN, mixedCss, type Palette } from './palette';
import type { Layout, Track } from './layout';
import { RowWalker } from './rowWalk';
import type { TileCache } from './tileCache';
import { rootLevelFor, tileRange, type TileAddress } from './tileGrid';
import { coverChunk, MAX_LEVELS_DOWN } from './cover';
import type { TimeSpan, View } from './view';

export const MINIMAP_PX = 48;
/** Strips shown: one per plane, devices first; more would be thinner than three pixels. */
export const MAX_STRIPS = 8;
const TOP_PX = 14; // search density
const BOTTOM_PX = 4;
/** Deeper rows would only thin out what the first ones show. */
const MAX_ROWS_SHOWN = 4;

export interface MinimapInput {
  readonly window: TimeSpan;
  readonly recorded: TimeSpan; // what the density of the search divides
  readonly view: View;
  readonly widthPx: number;
  readonly pixelRatio: number;
  readonly palette: Palette;
  readonly cache: TileCache;
  readonly strips: readonly Track[];
  readonly density: readonly number[] | null;
  readonly area: TimeSpan | null;
}

/** The tracks whose rows the minimap shows: of every plane its heaviest measured line, devices first. */
export function minimapTracks(layout: Layout): Track[] {
  const best = new Map<string, Track>();
  for (const track of layout.tracks) {
    const member = track.members[0];
    if (track.kind === 'host' && member !== undefined) {
      best.set(track.id, { ...track, line: member.line, lineIndex: member.lineIndex, chunk: member.chunk });
      continue;
    }
    if (track.line === null || track.plane === null || track.line.derived || track.line.event_count === 0) continue;
    if (track.kind === 'plane') {
      best.set(track.plane.id, track);
      continue;
    }
    const known = best.get(track.plane.id);
    if (known === undefined || rank(track) > rank(known)) best.set(track.plane.id, track);
  }
  return [...best.values()].slice(0, MAX_STRIPS);
}

/** Whether a tile may change what the strips show: finer ones than stand in for the whole session's never do. */
export function showsOnMinimap(address: TileAddress, strips: readonly Track[], window: TimeSpan): boolean {
  return address.level >= rootLevelFor(window) - MAX_LEVELS_DOWN && strips.some((track) => track.chunk === address.chunk);
}

function rank(track: Track): number {
  const kind = track.line!.kind;
  const weight = kind === 'ops' ? 3e15 : kind === 'stream' ? 2e15 : kind === 'modules' ? 1e15 : 0;
  return weight + (track.line!.event_count ?? 0);
}

export class Minimap {
  private readonly walker = new RowWalker();
  private readonly background = document.createElement('canvas');
  private backgroundKey = '';

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** What the strips show has changed (tiles came, theme, layout): paint them again at the next draw. */
  invalidate(): void {
    this.backgroundKey = '';
  }

  draw(input: MinimapInput): void {
    const width = Math.max(1, Math.round(input.widthPx * input.pixelRatio));
    const height = Math.round(MINIMAP_PX * input.pixelRatio);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const context = this.canvas.getContext('2d');
    if (context === null) return;
    const key = `${width}x${height}:${input.window.startPs}:${input.window.endPs}:${input.strips.map((s) => s.id).join()}`;
    if (key !== this.backgroundKey) {
      this.backgroundKey = key;
      this.paintBackground(input, width, height);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.background, 0, 0);
    context.setTransform(input.pixelRatio, 0, 0, input.pixelRatio, 0, 0);
    this.drawDensity(context, input);
    this.drawBox(context, input);
  }

  xOf(ps: number, window: TimeSpan, widthPx: number): number {
    return ((ps - window.startPs) / Math.max(1, window.endPs - window.startPs)) * widthPx;
  }

  private paintBackground(input: MinimapInput, width: number, height: number): void {
    this.background.width = width;
    this.background.height = height;
    const context = this.background.getContext('2d');
    if (context === null) return;
    const { palette, pixelRatio: ratio, window, strips } = input;
    context.fillStyle = palette.css[COLOUR_SUNKEN]!;
    context.fillRect(0, 0, width, height);
    const room = MINIMAP_PX - TOP_PX - BOTTOM_PX;
    const pitch = Math.min(8, room / Math.max(1, strips.length));
    const level = rootLevelFor(window);
    const range = tileRange(level, window.startPs, window.endPs + 1);
    const view: View = { startPs: window.startPs, fractionPs: 0, durationPs: Math.max(1, window.endPs - window.startPs) };
    strips.forEach((track, i) => {
      const segments = coverChunk(input.cache, track.chunk, level, range, level, window);
      const slots = segments.map((segment) => segment.tile?.slotOfLine(track.lineIndex) ?? -1);
      const y = Math.round((TOP_PX + i * pitch) * ratio);
      const barHeight = Math.max(1, Math.round((pitch - 1) * ratio));
      this.walker.begin(view, width, (walker) => {
        context.fillStyle = mixedCss(palette, walker.category, Math.round(80 + 175 * walker.share));
        context.fillRect(walker.x0, y, Math.max(1, walker.x1 - walker.x0), barHeight);
      }, false);
      // Inner rows go over outer ones: the leaves say what was done.
      for (let row = 0; row < MAX_ROWS_SHOWN; ++row) this.walker.walk(segments, slots, row);
    });
  }

  private drawDensity(context: CanvasRenderingContext2D, input: MinimapInput): void {
    const { density, widthPx, palette, window, recorded } = input;
    if (density === null || density.length === 0) return;
    const most = Math.max(...density);
    if (most === 0) return;
    context.fillStyle = palette.accent;
    const from = this.xOf(recorded.startPs, window, widthPx);
    const step = (this.xOf(recorded.endPs, window, widthPx) - from) / density.length;
    density.forEach((count, i) => {
      if (count === 0) return;
      const tall = 2 + Math.round((TOP_PX - 4) * Math.sqrt(count / most));
      context.fillRect(from + i * step, TOP_PX - 1 - tall, Math.max(1.5, step - 0.5), tall);
    });
  }

  private drawBox(context: CanvasRenderingContext2D, input: MinimapInput): void {
    const { view, window, widthPx, palette } = input;
    const x0 = this.xOf(view.startPs, window, widthPx);
    const x1 = Math.max(x0 + 3, this.xOf(view.startPs + view.durationPs, window, widthPx));
    context.fillStyle = palette.css[COLOUR_SUNKEN]!;
    context.globalAlpha = 0.62;
    if (x0 > 0) context.fillRect(0, 0, x0, MINIMAP_PX);
    if (x1 < widthPx) context.fillRect(x1, 0, widthPx - x1, MINIMAP_PX);
    context.globalAlpha = 1;
    if (input.area !== null) {
      const a0 = this.xOf(input.area.startPs, window, widthPx);
      context.fillStyle = palette.accent;
      context.fillRect(a0, MINIMAP_PX - 3, Math.max(1, this.xOf(input.area.endPs, window, widthPx) - a0), 2);
    }
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    const left = Math.max(1, x0);
    context.strokeRect(left, 1, Math.max(2, Math.min(widthPx - 1, x1) - left), MINIMAP_PX - 2);
  }
}
