// The strips as pixels: each texel's colour mixed once per palette, then looked up. Both renderers use it.

import { PALETTE_SIZE, mixedBytes, type Palette } from './palette';
import type { StripBuffer } from './strip';

export class StripPixels {
  private readonly words = new Uint32Array(PALETTE_SIZE * 256);
  private palette: Palette | null = null;

  /** Writes rows x width RGBA pixels into `into` (a view over image bytes); 0 where nothing is. */
  write(strips: StripBuffer, palette: Palette, into: Uint32Array): void {
    if (this.palette !== palette) {
      this.words.fill(0);
      this.palette = palette;
    }
    const count = strips.rows * strips.width;
    const { texels } = strips;
    for (let i = 0; i < count; ++i) {
      const texel = texels[i]!;
      into[i] = texel === 0 ? 0 : (this.words[(texel & 0xff) * 256 + (texel >>> 8)]! || this.mix(texel & 0xff, texel >>> 8));
    }
  }

  /** RGBA bytes as one little-endian word. */
  private mix(colour: number, strength: number): number {
    const [red, green, blue] = mixedBytes(this.palette!, colour, strength);
    const word = (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
    this.words[colour * 256 + strength] = word;
    return word;
  }
}
