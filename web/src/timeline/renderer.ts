// What draws the rectangles of a frame. WebGL2 where there is one; a 2-D canvas where not, when the context is lost for
// good, or when the address says renderer=2d. Both read the same RectBuffer and
// StripBuffer, so both show the same picture.

import type { Palette } from './palette';
import type { RectBuffer } from './rectBuffer';
import { CanvasRenderer } from './rendererCanvas';
import { GlRenderer } from './rendererGl';
import type { StripBuffer } from './strip';

export type RendererKind = 'webgl2' | '2d';

export interface Renderer {
  readonly kind: RendererKind;
  /** Device pixels. */
  resize(width: number, height: number): void;
  draw(buffer: RectBuffer, strips: StripBuffer, palette: Palette): void;
  dispose(): void;
}

/** `onLost` is called once when the GPU took the context away: make another renderer on a new canvas. */
export function makeRenderer(canvas: HTMLCanvasElement, force2d: boolean, onLost: () => void): Renderer {
  if (!force2d) {
    const gl = GlRenderer.create(canvas, onLost);
    if (gl !== null) return gl;
  }
  return new CanvasRenderer(canvas);
}
