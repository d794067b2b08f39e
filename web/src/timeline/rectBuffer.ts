// The list of rectangles of one frame, as both renderers read it: four 32-bit words each.
//
//   word 0  x0, float, device pixels        word 2  (y + Y_BIAS) | height << 16, device pixels
//   word 1  x1, float                       word 3  colour | strength << 8 | style << 16
//
// Colours are indices of the palette (palette.ts); strength 255 is the colour itself, 0 the lane behind it.

export const RECT_WORDS = 4;
/** Bars of rows that begin above the canvas have a negative y; u16 holds it with this added. */
export const Y_BIAS = 16384;

export const STYLE_EDGE = 1; // a 1 px inner edge
export const STYLE_FOOT = 2; // hatched foot: collectives
export const STYLE_DIAGONAL = 4; // not loaded
export const STYLE_DOTTED = 8; // idle baseline
export const STYLE_STRIP = 16; // colours come from a row of the strips; colour and strength together are its index

/** About what a screen of 50 rows x 1,600 px can hold; the buffer grows up to MAX_RECTS. */
const FIRST_CAPACITY = 16_384;
/** 8 MB of buffer. A 4k screen full of one-pixel bars stays below; more is cut and told by `full`. */
export const MAX_RECTS = 524_288;

export class RectBuffer {
  count = 0;
  full = false;
  words = new Uint32Array(FIRST_CAPACITY * RECT_WORDS);
  floats = new Float32Array(this.words.buffer);

  clear(): void {
    this.count = 0;
    this.full = false;
  }

  push(x0: number, x1: number, y: number, height: number, colour: number, strength: number, style: number): void {
    if (this.count * RECT_WORDS >= this.words.length && !this.grow()) return;
    const at = this.count * RECT_WORDS;
    this.floats[at] = x0;
    this.floats[at + 1] = x1;
    this.words[at + 2] = ((y + Y_BIAS) & 0xffff) | (height << 16);
    this.words[at + 3] = colour | (strength << 8) | (style << 16);
    ++this.count;
  }

  private grow(): boolean {
    if (this.count >= MAX_RECTS) {
      this.full = true;
      return false;
    }
    const words = new Uint32Array(Math.min(this.words.length * 2, MAX_RECTS * RECT_WORDS));
    words.set(this.words);
    this.words = words;
    this.floats = new Float32Array(words.buffer);
    return true;
  }

  /** A row of the strips, over the whole width. */
  pushStrip(row: number, width: number, y: number, height: number): void {
    this.push(0, width, y, height, row & 0xff, row >>> 8, STYLE_STRIP);
  }

  x0(i: number): number {
    return this.floats[i * RECT_WORDS]!;
  }
  x1(i: number): number {
    return this.floats[i * RECT_WORDS + 1]!;
  }
  y(i: number): number {
    return (this.words[i * RECT_WORDS + 2]! & 0xffff) - Y_BIAS;
  }
  height(i: number): number {
    return this.words[i * RECT_WORDS + 2]! >>> 16;
  }
  colour(i: number): number {
    return this.words[i * RECT_WORDS + 3]! & 0xff;
  }
  strength(i: number): number {
    return (this.words[i * RECT_WORDS + 3]! >>> 8) & 0xff;
  }
  stripRow(i: number): number {
    return this.words[i * RECT_WORDS + 3]! & 0xffff;
  }
  style(i: number): number {
    return (this.words[i * RECT_WORDS + 3]! >>> 16) & 0xff;
  }
}
