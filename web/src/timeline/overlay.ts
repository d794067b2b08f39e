// Everything drawn as text or thin lines above the bars: names, grid, selection, hover, area; and the ruler.

import { formatTime } from '../format/format';
import { drawArrows, type FlowArrow } from './flowArrows';
import { BAR_PX } from './layout';
import { shortModule, type Mark, type StepMark } from './marks';
import { COLOUR_LINE, COLOUR_SUNKEN, type Palette } from './palette';
import { placeLabels, placeOver, type Covered } from './rulerLabels';
import type { Label } from './scene';
import { TextFitter } from './textFit';
import { spanLabel, type Ruler } from './ticks';
import { formatTimeAt } from './time';
import { timeToX, type TimeSpan, type View } from './view';

export const LABEL_FONT = '500 11px Inter, "Inter fallback", sans-serif';
const AXIS_FONT = '500 12px Inter, "Inter fallback", sans-serif';
const LABEL_PAD_PX = 5;
/** The times; above them a band for the steps, and one for the programs where the profile has them. */
export const RULER_PX = 48;
export const BAND_PX = 16;
/** Narrower steps have no name, and still narrower ones no line. */
const MIN_STEP_LABEL_PX = 36;
const MIN_STEP_PX = 4;

export interface Box {
  readonly x0: number;
  readonly x1: number;
  readonly y: number;
  readonly height: number;
}

interface Note extends Covered {
  readonly text: string;
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
  readonly marks: readonly Mark[];
  readonly steps: readonly StepMark[];
  readonly modules: readonly StepMark[]; // programs as the first device ran them
  readonly flows: readonly FlowArrow[]; // of the selection
  readonly viewFlows: readonly FlowArrow[];
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
    this.drawSteps(context, input);
    if (input.area !== null) this.drawArea(context, input, input.area);
    drawArrows(context, input.viewFlows, input.palette.text2, input.palette.surface, false);
    drawArrows(context, input.flows, input.palette.accent, input.palette.surface, true);
    for (const mark of input.marks) {
      context.fillStyle = input.palette.warn;
      context.fillRect(Math.round(timeToX(input.view, input.widthPx, mark.atPs)), 0, 1, input.heightPx);
    }
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

  /** Where a step begins, through all tracks. */
  private drawSteps(context: CanvasRenderingContext2D, input: OverlayInput): void {
    context.fillStyle = input.palette.text2;
    context.globalAlpha = 0.35;
    for (const step of input.steps) {
      const x0 = timeToX(input.view, input.widthPx, step.startPs);
      const x1 = timeToX(input.view, input.widthPx, step.endPs);
      if (x0 >= 0 && x0 <= input.widthPx && x1 - x0 >= MIN_STEP_PX) context.fillRect(Math.round(x0), 0, 1, input.heightPx);
    }
    context.globalAlpha = 1;
  }

  private drawBand(context: CanvasRenderingContext2D, input: OverlayInput, top: number, spans: readonly StepMark[], nameOf: (span: StepMark) => string): void {
    const { palette, widthPx, view } = input;
    context.font = LABEL_FONT;
    spans.forEach((span, i) => {
      const x0 = Math.max(0, timeToX(view, widthPx, span.startPs));
      const x1 = Math.min(widthPx, timeToX(view, widthPx, span.endPs));
      if (x1 <= 0 || x0 >= widthPx) return;
      context.fillStyle = palette.css[i % 2 === 0 ? COLOUR_SUNKEN : COLOUR_LINE]!;
      context.fillRect(x0, top + 1, Math.max(1, x1 - x0 - 1), BAND_PX - 2);
      if (x1 - x0 < MIN_STEP_LABEL_PX) return;
      const text = this.fitter.fit(nameOf(span), x1 - x0 - 2 * LABEL_PAD_PX);
      context.fillStyle = palette.text2;
      context.fillText(text, x0 + LABEL_PAD_PX, top + BAND_PX - 5);
    });
  }

  private drawMarks(context: CanvasRenderingContext2D, input: OverlayInput, top: number, bottom: number, notes: readonly Note[]): void {
    const { palette, widthPx, view } = input;
    context.font = LABEL_FONT;
    for (const mark of input.marks) {
      const x = Math.round(timeToX(view, widthPx, mark.atPs));
      if (x < -8 || x > widthPx + 8) continue;
      context.fillStyle = palette.warn;
      context.beginPath();
      context.moveTo(x - 5, top);
      context.lineTo(x + 6, top);
      context.lineTo(x + 0.5, top + 8);
      context.closePath();
      context.fill();
      context.fillRect(x, top, 1, bottom - top);
    }
    for (const note of notes) {
      context.fillStyle = palette.surface;
      context.fillRect(note.x0, top + 1, note.x1 - note.x0, 13);
      context.fillStyle = palette.warn;
      context.fillText(note.text, note.x0 + 4, top + 11);
    }
  }

  /** The notes beside marks; at the right end of the ruler a note stands left of its mark. */
  private notesOf(context: CanvasRenderingContext2D, input: OverlayInput): Note[] {
    const { widthPx, view } = input;
    context.font = LABEL_FONT;
    const notes: Note[] = [];
    for (const mark of input.marks) {
      const x = Math.round(timeToX(view, widthPx, mark.atPs));
      const text = mark.note === '' || x < 0 || x > widthPx ? '' : this.fitter.fit(mark.note, 160);
      if (text === '') continue;
      const width = context.measureText(text).width + 8;
      const x0 = x + 7 + width <= widthPx ? x + 7 : x - 7 - width;
      if (x0 >= 0) notes.push({ text, x0, x1: x0 + width });
    }
    return notes;
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
    const bottom = rulerHeight(input.modules.length > 0);
    const context = prepare(this.rulerCanvas, input.widthPx, bottom, input.pixelRatio);
    if (context === null) return;
    const { palette, widthPx } = input;
    context.textBaseline = 'alphabetic';
    const notes = this.notesOf(context, input);
    context.font = AXIS_FONT;
    const area = this.areaLabel(context, input);
    for (const tick of ruler.ticks) {
      const tall = tick.label === '' ? 5 : 9;
      context.fillStyle = tick.label === '' ? palette.line : palette.muted;
      context.fillRect(Math.round(tick.x), bottom - tall, 1, tall);
    }
    const span = `\u2190 ${spanLabel(input.view)} \u2192`;
    const measured = context.measureText(span).width + 16;
    const spanWidth = measured > widthPx ? 0 : measured; // Half of it would say less than nothing.
    context.fillStyle = palette.text2;
    for (const label of placeLabels(ruler.ticks, widthPx - spanWidth, area === null ? notes : [...notes, area], (text) => context.measureText(text).width)) {
      context.fillText(label.text, label.x, bottom - 10);
    }
    context.fillStyle = palette.muted;
    if (spanWidth > 0) context.fillText(span, widthPx - spanWidth + 8, bottom - 10);
    this.drawBand(context, input, 0, input.steps, (step) => (/^\d+$/.test(step.name) ? `step ${step.name}` : step.name));
    if (input.modules.length > 0) this.drawBand(context, input, BAND_PX, input.modules, (module) => shortModule(module.name));
    const top = bottom - RULER_PX + BAND_PX;
    if (area !== null) this.drawAreaLabel(context, input, area, top, bottom);
    this.drawMarks(context, input, top, bottom, notes);
    context.fillStyle = palette.line;
    context.fillRect(0, bottom - 1, widthPx, 1);
  }

  private areaLabel(context: CanvasRenderingContext2D, input: OverlayInput): Note | null {
    const { area, view, widthPx } = input;
    if (area === null) return null;
    const text = formatTime(area.endPs - area.startPs);
    const place = placeOver(timeToX(view, widthPx, area.startPs), timeToX(view, widthPx, area.endPs), context.measureText(text).width + 12, widthPx);
    return place === null ? null : { text, ...place };
  }

  private drawAreaLabel(context: CanvasRenderingContext2D, input: OverlayInput, label: Note, top: number, bottom: number): void {
    const area = input.area!;
    const x0 = Math.max(0, timeToX(input.view, input.widthPx, area.startPs));
    const x1 = Math.min(input.widthPx, timeToX(input.view, input.widthPx, area.endPs));
    context.fillStyle = input.palette.surface;
    context.fillRect(label.x0 - 2, top, label.x1 - label.x0 + 4, bottom - top - 3);
    context.fillStyle = input.palette.accent;
    context.fillRect(x0, bottom - 3, x1 - x0, 2);
    context.font = AXIS_FONT;
    context.fillText(label.text, label.x0 + 6, bottom - 10);
  }
}

export function rulerHeight(hasModules: boolean): number {
  return RULER_PX + (hasModules ? BAND_PX : 0);
}

/** "12.304 512 s" with "left edge", or the anchor from which relative ticks count, with "+ ticks". */
export function cornerLabels(view: View, ruler: Ruler, widthPx: number): readonly [string, string] {
  if (ruler.anchorPs !== 0) return [formatTimeAt(ruler.anchorPs, ruler.stepPs * 10), '+ ticks'];
  return [view.startPs <= 0 ? '0 s' : formatTimeAt(view.startPs, Math.max(1, view.durationPs / widthPx)), 'left edge'];
}
