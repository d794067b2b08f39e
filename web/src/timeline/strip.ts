// Bars thinner than three pixels, one texel a pixel and row instead of a rectangle each: a dense row is then one quad
// that looks its colours up, and a screen of 40,000 one-pixel events costs what 50 bars cost.
//
//   const row = strips.addRow();  strips.set(row, x, colour, strength);     // strength 0 is "nothing here"

/** Rows a screen can show: 2,160 px / 18 px. Further ones fall back to rectangles. */
export const MAX_STRIP_ROWS = 256;

export class StripBuffer {
  width = 1;
  rows = 0;
  /** colour | strength << 8 for each pixel, row by row. */
  texels = new Uint16Array(1);

  /** Forgets all rows; `width` in device pixels. */
  clear(width: number): void {
    if (width !== this.width || this.texels.length === 1) {
      this.width = width;
      this.texels = new Uint16Array(width * MAX_STRIP_ROWS);
    } else {
      this.texels.fill(0, 0, this.rows * width);
    }
    this.rows = 0;
  }

  /** Index of a new, empty row; -1 when there is no room. */
  addRow(): number {
    return this.rows < MAX_STRIP_ROWS ? this.rows++ : -1;
  }

  /** Where two bars share a pixel the stronger one shows. */
  set(row: number, x: number, colour: number, strength: number): void {
    if (x < 0 || x >= this.width) return;
    const at = row * this.width + x;
    if (this.texels[at]! >>> 8 < strength) this.texels[at] = colour | (strength << 8);
  }
}
