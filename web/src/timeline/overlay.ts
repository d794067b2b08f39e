// Everything drawn as text or thin lines above the bars: names, grid, selection, hover, area; and the ruler.

import { formatTime } from '../format/format';
import { BAR_PX } from './layout';
import type { Palette } from './palette';
import type { Label } from './scene';
import { TextFitter } from './textFit';
import { spanLabel, type Ruler } from './ticks';
import { formatTimeAt } from './time';
import { timeToX, type TimeSpan, type View } from './view';

export const LABEL_FONT = '500 11px Inter, "Inter fallback", sans-serif';
const AXIS_FONT = '500 12px Inter, "Inter fallback", sans-serif';
const LABEL_PAD_PX = 5;
export const RULER_PX = 32;

export interface Box {
  readonly x0: number;
  readonly x1: number;
  readonly y: number;
  readonly height: number;
}

export interface OverlayInput {
  readonly view: View;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly pixelRatio: number;
  readonly palette: Palette;
  readonly labels: readonly Label[];
  readonly ruler: Ruler;
  readonly selection: Box | null;
  readonly hover: Box | null;
  readonly area: TimeSpan | null;
  readonly crosshairX: number | null;
}

function prepare(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): CanvasRenderingContext2D | null {
  const context = canvas.getContext('2d');
  if (context === null) return null;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export class Overlay {
  private readonly fitter: TextFitter;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly rulerCanvas: HTMLCanvasElement) {
    const measuring = document.createElement('canvas').getContext('2d');
    if (measuring !== null) measuring.font = LABEL_FONT;
    this.fitter = new TextFitter((text) => measuring?.measureText(text).width ?? text.length * 6);
  }

  fontsChanged(): void {
    this.fitter.forget();
  }

  draw(input: OverlayInput): void {
    const context = prepare(this.canvas, input.widthPx, input.heightPx, input.pixelRatio);
    if (context === null) return;
    this.drawLabels(context, input);
    if (input.area !== null) this.drawArea(context, input, input.area);
    if (input.hover !== null) this.outline(context, input.hover, input.palette.text, 1);
    if (input.selection !== null) {
      // A ring of the lane's colour keeps the frame apart from bars of the accent's hue.
      this.outline(context, input.selection, input.palette.surface, 4);
      this.outline(context, input.selection, input.palette.accent, 2);
    }
    if (input.crosshairX !== null) {
      context.fillStyle = input.palette.accent;
      context.globalAlpha = 0.6;
      context.fillRect(Math.round(input.crosshairX), 0, 1, input.heightPx);
      context.globalAlpha = 1;
    }
    this.drawRuler(input, input.ruler);
  }

  private drawLabels(context: CanvasRenderingContext2D, input: OverlayInput): void {
    context.font = LABEL_FONT;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    for (const label of input.labels) {
      const text = this.fitter.fit(label.text, label.width - 2 * LABEL_PAD_PX);
      if (text === '') continue;
      context.fillStyle = label.dim ? input.palette.muted : input.palette.ink;
      context.fillText(text, label.x + LABEL_PAD_PX, label.y + BAR_PX / 2 + 0.5);
    }
  }

  private drawArea(context: CanvasRenderingContext2D, input: OverlayInput, area: TimeSpan): void {
    const x0 = timeToX(input.view, input.widthPx, area.startPs);
    const x1 = timeToX(input.view, input.widthPx, area.endPs);
    context.fillStyle = input.palette.accent;
    context.globalAlpha = 0.14;
    context.fillRect(x0, 0, x1 - x0, input.heightPx);
    context.globalAlpha = 1;
    context.fillRect(Math.round(x0), 0, 1, input.heightPx);
    context.fillRect(Math.round(x1), 0, 1, input.heightPx);
  }

  private outline(context: CanvasRenderingContext2D, box: Box, colour: string, width: number): void {
    context.strokeStyle = colour;
    context.lineWidth = width;
    const x0 = Math.max(-8, box.x0);
    const x1 = Math.max(x0 + 2, box.x1);
    context.strokeRect(Math.round(x0) - width / 2, Math.round(box.y) - width / 2, Math.round(x1 - x0) + width, box.height + width);
  }

  private drawRuler(input: OverlayInput, ruler: Ruler): void {
    const context = prepare(this.rulerCanvas, input.widthPx, RULER_PX, input.pixelRatio);
    if (context === null) return;
    const { palette, widthPx } = input;
    context.textBaseline = 'alphabetic';
    context.font = AXIS_FONT;
    const span = `\u2190 ${spanLabel(input.view)} \u2192`;
    const spanWidth = context.measureText(span).width + 16;
    for (const tick of ruler.ticks) {
      const x = Math.round(tick.x);
      context.fillStyle = tick.label === '' ? palette.line : palette.muted;
      context.fillRect(x, tick.label === '' ? RULER_PX - 5 : RULER_PX - 9, 1, tick.label === '' ? 5 : 9);
      if (tick.label === '' || x < 0) continue;
      const width = context.measureText(tick.label).width;
      if (x + 5 + width > widthPx - spanWidth) continue;
      context.fillStyle = palette.text2;
      context.fillText(tick.label, x + 5, RULER_PX - 10);
    }
    context.fillStyle = palette.muted;
    context.fillText(span, widthPx - spanWidth + 8, RULER_PX - 10);
    if (input.area !== null) this.drawAreaLabel(context, input, input.area);
    context.fillStyle = palette.line;
    context.fillRect(0, RULER_PX - 1, widthPx, 1);
  }

  private drawAreaLabel(context: CanvasRenderingContext2D, input: OverlayInput, area: TimeSpan): void {
    const x0 = Math.max(0, timeToX(input.view, input.widthPx, area.startPs));
    const x1 = Math.min(input.widthPx, timeToX(input.view, input.widthPx, area.endPs));
    if (x1 <= 0 || x0 >= input.widthPx) return;
    const text = formatTime(area.endPs - area.startPs);
    const width = context.measureText(text).width + 12;
    const x = Math.min(Math.max(0, (x0 + x1) / 2 - width / 2), input.widthPx - width);
    context.fillStyle = input.palette.surface;
    context.fillRect(x - 2, 2, width + 4, RULER_PX - 4);
    context.fillStyle = input.palette.accent;
    context.fillRect(x0, RULER_PX - 3, x1 - x0, 2);
    context.fillText(text, x + 6, RULER_PX - 10);
  }
}

/** "12.304 512 s" with "left edge", or the anchor from which relative ticks count, with "+ ticks". */
export function cornerLabels(view: View, ruler: Ruler, widthPx: number): readonly [string, string] {
  if (ruler.anchorPs !== 0) return [formatTimeAt(ruler.anchorPs, ruler.stepPs * 10), '+ ticks'];
  return [view.startPs <= 0 ? '0 s' : formatTimeAt(view.startPs, Math.max(1, view.durationPs / widthPx)), 'left edge'];
}
