// The fallback renderer: the same rectangles with a plain 2-D canvas. Slower on many bars, same picture.

import { COLOUR_INK, COLOUR_LINE, COLOUR_SURFACE, EDGE_OFFSET, mixedCss, type Palette } from './palette';
import { STYLE_DIAGONAL, STYLE_DOTTED, STYLE_EDGE, STYLE_FOOT, STYLE_STRIP, type RectBuffer } from './rectBuffer';
import type { Renderer } from './renderer';
import type { StripBuffer } from './strip';
import { StripPixels } from './stripPixels';

export class CanvasRenderer implements Renderer {
  readonly kind = '2d';
  private readonly context: CanvasRenderingContext2D | null;
  private diagonal: { palette: Palette; colour: number; pixel: number; pattern: CanvasPattern | null } | null = null;
  private readonly mixed = new Map<number, string>();
  private mixedFor: Palette | null = null;
  private readonly pixels = new StripPixels();
  private stripCanvas: HTMLCanvasElement | null = null;
  private stripPixels: ImageData | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false });
  }

  resize(width: number, height: number): void {
    this.canvas.width = width;
    this.canvas.height = height;
  }

  draw(buffer: RectBuffer, strips: StripBuffer, palette: Palette): void {
    const context = this.context;
    if (context === null) return;
    const pixel = Math.max(1, Math.round(this.canvas.width / Math.max(1, this.canvas.clientWidth)));
    context.fillStyle = palette.css[COLOUR_SURFACE]!;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.prepareStrips(strips, palette);
    context.imageSmoothingEnabled = false;
    for (let i = 0; i < buffer.count; ++i) this.drawOne(context, buffer, palette, i, pixel);
  }

  dispose(): void {
    this.mixed.clear();
  }

  /** The strips as an image of one pixel a row, stretched to bars when they are drawn. */
  private prepareStrips(strips: StripBuffer, palette: Palette): void {
    if (strips.rows === 0) return;
    const canvas = (this.stripCanvas ??= document.createElement('canvas'));
    const paint = canvas.getContext('2d');
    if (paint === null) return;
    if (this.stripPixels === null || canvas.width !== strips.width || canvas.height < strips.rows) {
      canvas.width = strips.width;
      canvas.height = Math.max(canvas.height, strips.rows);
      this.stripPixels = paint.createImageData(canvas.width, canvas.height);
    }
    this.pixels.write(strips, palette, new Uint32Array(this.stripPixels.data.buffer));
    paint.putImageData(this.stripPixels, 0, 0, 0, 0, strips.width, strips.rows);
  }

  private drawOne(context: CanvasRenderingContext2D, buffer: RectBuffer, palette: Palette, i: number, pixel: number): void {
    const x = buffer.x0(i);
    const width = buffer.x1(i) - x;
    const y = buffer.y(i);
    const height = buffer.height(i);
    const colour = buffer.colour(i);
    const style = buffer.style(i);
    if ((style & STYLE_STRIP) !== 0) {
      if (this.stripCanvas !== null) context.drawImage(this.stripCanvas, 0, buffer.stripRow(i), width, 1, x, y, width, height);
      return;
    }
    if ((style & STYLE_DIAGONAL) !== 0) {
      context.fillStyle = this.diagonalFor(context, palette, colour, pixel) ?? palette.css[colour]!;
      context.fillRect(x, y, width, height);
      return;
    }
    // Between an edge on both sides nothing would be left of a narrow bar: it is all edge.
    const narrow = (style & STYLE_EDGE) !== 0 && width < 5 * pixel;
    context.fillStyle = this.css(palette, narrow ? colour + EDGE_OFFSET : colour, buffer.strength(i));
    if ((style & STYLE_DOTTED) !== 0) {
      const gap = 4 * pixel;
      for (let dot = Math.ceil(x / gap) * gap; dot < x + width; dot += gap) context.fillRect(dot, y, pixel, height);
      return;
    }
    const edge = (style & STYLE_EDGE) !== 0 && !narrow;
    if (edge) {
      const inner = context.fillStyle;
      context.fillStyle = this.css(palette, colour + EDGE_OFFSET, buffer.strength(i));
      context.fillRect(x, y, width, height);
      context.fillStyle = inner;
      context.fillRect(x + pixel, y + pixel, width - 2 * pixel, height - 2 * pixel);
    } else {
      context.fillRect(x, y, width, height);
    }
    if ((style & STYLE_FOOT) !== 0 && width >= 5 * pixel) this.drawFoot(context, palette, x, y + height, width, pixel);
  }

  private drawFoot(
    context: CanvasRenderingContext2D, palette: Palette, x: number, bottom: number, width: number, pixel: number,
  ): void {
    context.fillStyle = mixedCss(palette, COLOUR_INK, 140);
    const gap = 6 * pixel;
    for (let step = 0; step < 5; ++step) {
      const top = bottom - (step + 1) * pixel;
      for (let dot = Math.ceil((x - step * pixel) / gap) * gap + step * pixel; dot < x + width; dot += gap) {
        context.fillRect(Math.max(x, dot), top, Math.min(2 * pixel, x + width - dot), pixel);
      }
    }
  }

  private css(palette: Palette, colour: number, strength: number): string {
    if (this.mixedFor !== palette) {
      this.mixed.clear();
      this.mixedFor = palette;
    }
    const key = colour * 256 + strength;
    let text = this.mixed.get(key);
    if (text === undefined) {
      text = mixedCss(palette, colour, strength);
      this.mixed.set(key, text);
    }
    return text;
  }

  private diagonalFor(
    context: CanvasRenderingContext2D, palette: Palette, colour: number, pixel: number,
  ): CanvasPattern | null {
    const known = this.diagonal;
    if (known !== null && known.palette === palette && known.colour === colour && known.pixel === pixel) return known.pattern;
    const size = 8 * pixel;
    const swatch = document.createElement('canvas');
    swatch.width = size;
    swatch.height = size;
    const paint = swatch.getContext('2d');
    if (paint === null) return null;
    paint.fillStyle = palette.css[colour]!;
    paint.fillRect(0, 0, size, size);
    paint.fillStyle = palette.css[COLOUR_LINE]!;
    for (let y = 0; y < size; ++y) {
      for (let x = 0; x < size; ++x) if ((x + y) % size < 2 * pixel) paint.fillRect(x, y, 1, 1);
    }
    const pattern = context.createPattern(swatch, 'repeat');
    this.diagonal = { palette, colour, pixel, pattern };
    return pattern;
  }
}
