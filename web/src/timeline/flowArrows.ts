// Arrows from what caused something to what it caused. Ends on folded tracks land on the track that stands for them.

import { barTop, BAR_PX, type Layout, type Track } from './layout';
import { planeOf, type Flow, type FlowEnd } from './model';
import { timeToX, type View } from './view';

export interface FlowArrow {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
  readonly crossesHosts: boolean; // drawn with dashes
}

export interface FlowPlace {
  readonly layout: Layout;
  readonly view: View;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly scrollPx: number;
}

/** Arrows that would be seen; those that lie beyond one side of the screen are left out. */
export function arrowsOf(flows: readonly Flow[], place: FlowPlace): FlowArrow[] {
  const arrows: FlowArrow[] = [];
  for (const { from, to } of flows) {
    const source = spot(from, place, false);
    const target = spot(to, place, true);
    if (source === null || target === null) continue;
    const outside = Math.max(source.x, target.x) < 0 || Math.min(source.x, target.x) > place.widthPx ||
      Math.max(source.y, target.y) < 0 || Math.min(source.y, target.y) > place.heightPx;
    if (!outside) arrows.push({ x0: source.x, y0: source.y, x1: target.x, y1: target.y, crossesHosts: hostOf(from.line) !== hostOf(to.line) });
  }
  return arrows;
}

const HOST_DASH = [6, 4];

export function hostOf(line: string): string {
  return line.slice(0, line.indexOf('.'));
}

function trackOf(end: FlowEnd, layout: Layout): Track | null {
  const plane = planeOf(end.line);
  return layout.find(end.line) ?? layout.find(plane) ?? layout.find(`h${plane.split('.')[0]}`);
}

function spot(end: FlowEnd, place: FlowPlace, isTarget: boolean): { x: number; y: number } | null {
  const track = trackOf(end, place.layout);
  if (track === null) return null;
  const row = track.kind === 'line' ? Math.min(end.row, track.rows - 1) : 0;
  const y = track.y - place.scrollPx + barTop(row) + BAR_PX / 2;
  // A launch ends where its arrow begins, unless the kernel began before that.
  const ps = isTarget ? end.start_ps : end.start_ps + end.duration_ps / 2;
  return { x: timeToX(place.view, place.widthPx, ps), y };
}

export function drawArrows(context: CanvasRenderingContext2D, arrows: readonly FlowArrow[], colour: string, halo: string, strong: boolean): void {
  for (const { x0, y0, x1, y1, crossesHosts } of arrows) {
    const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
    context.setLineDash(crossesHosts ? HOST_DASH : []);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    if (strong) {
      context.strokeStyle = halo;
      context.lineWidth = 4;
      context.stroke();
    }
    context.strokeStyle = colour;
    context.globalAlpha = strong ? 1 : 0.45;
    context.lineWidth = strong ? 1.5 : 1;
    context.stroke();
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 6, y1 - 3.5);
    context.lineTo(x1 - 6, y1 + 3.5);
    context.closePath();
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
  }
  context.setLineDash([]);
}
