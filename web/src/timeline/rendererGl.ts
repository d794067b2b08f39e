// The WebGL2 renderer. Rectangles go into an integer texture as they are and each vertex pulls its own (gl_VertexID):
// one drawArrays a frame, no instancing (which software GL runs a hundred times slower), no state between frames.

import { PALETTE_SIZE, type Palette } from './palette';
import { RECT_WORDS, type RectBuffer } from './rectBuffer';
import type { Renderer } from './renderer';
import { MAX_STRIP_ROWS, type StripBuffer } from './strip';

/** Every WebGL2 device has textures of at least 2,048. */
const TEXTURE_WIDTH = 1024;
const VERTICES_PER_RECT = 6;

const VERTEX_SHADER = `#version 300 es
precision highp float;
precision highp int;
uniform highp usampler2D rects;
uniform vec2 size;
out vec2 inside;                 // pixels from the left and top of the rectangle
flat out vec2 extent;            // its width and height
flat out uvec3 look;             // colour, strength, style
void main() {
  int rect = gl_VertexID / ${VERTICES_PER_RECT};
  int corner = gl_VertexID - rect * ${VERTICES_PER_RECT};
  uvec4 data = texelFetch(rects, ivec2(rect % ${TEXTURE_WIDTH}, rect / ${TEXTURE_WIDTH}), 0);
  float right = (corner == 1 || corner == 2 || corner == 4) ? 1.0 : 0.0;
  float bottom = (corner == 2 || corner == 4 || corner == 5) ? 1.0 : 0.0;
  float x0 = uintBitsToFloat(data.x);
  float x1 = uintBitsToFloat(data.y);
  float y0 = float(int(data.z & 0xffffu) - 16384);
  extent = vec2(x1 - x0, float(data.z >> 16));
  inside = vec2(right, bottom) * extent;
  look = uvec3(data.w & 0xffu, (data.w >> 8) & 0xffu, (data.w >> 16) & 0xffu);
  vec2 at = vec2(x0, y0) + inside;
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
}`;

const FRAGMENT_SHADER = `#version 300 es
precision highp float;
precision highp int;
uniform highp usampler2D strips;
uniform vec3 palette[${PALETTE_SIZE}];
uniform float pixel;             // device pixels of one CSS pixel
uniform vec2 size;
in vec2 inside;
flat in vec2 extent;
flat in uvec3 look;
out vec4 colour;
void main() {
  uint style = look.z;
  if ((style & 16u) != 0u) {
    uvec2 texel = texelFetch(strips, ivec2(int(gl_FragCoord.x), int(look.x | (look.y << 8))), 0).xy;
    if (texel.y == 0u) discard;
    colour = vec4(mix(palette[20], palette[texel.x], float(texel.y) / 255.0), 1.0);
    return;
  }
  vec3 fill = palette[look.x];
  if ((style & 4u) != 0u) {
    float along = mod(gl_FragCoord.x + (size.y - gl_FragCoord.y), 8.0 * pixel);
    colour = vec4(along < 2.0 * pixel ? palette[22] : fill, 1.0);
    return;
  }
  if ((style & 8u) != 0u && mod(gl_FragCoord.x, 4.0 * pixel) >= pixel) discard;
  vec2 away = min(inside, extent - inside);
  if (extent.x >= 6.0 * pixel && away.x < pixel && away.y < pixel && (style & 3u) != 0u) discard;
  if ((style & 1u) != 0u && extent.x >= 3.0 * pixel && (away.x < pixel || away.y < pixel)) fill = palette[look.x + 10u];
  if ((style & 2u) != 0u && extent.y - inside.y < 5.0 * pixel) {
    if (mod(gl_FragCoord.x + gl_FragCoord.y, 6.0 * pixel) < 2.0 * pixel) fill = mix(fill, palette[25], 0.55);
  }
  colour = vec4(mix(palette[20], fill, float(look.y) / 255.0), 1.0);
}`;

export class GlRenderer implements Renderer {
  readonly kind = 'webgl2';
  private readonly sizeAt: WebGLUniformLocation | null;
  private readonly pixelAt: WebGLUniformLocation | null;
  private readonly paletteAt: WebGLUniformLocation | null;
  private textureRows = 0;
  private stripWidth = 0;
  private readonly onContextLost: (event: Event) => void;

  static create(canvas: HTMLCanvasElement, onLost: () => void): GlRenderer | null {
    const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, stencil: false, desynchronized: false });
    if (gl === null) return null;
    const program = makeProgram(gl);
    const texture = gl.createTexture();
    const strips = gl.createTexture();
    if (program === null || texture === null || strips === null) return null;
    return new GlRenderer(canvas, gl, program, texture, strips, onLost);
  }

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
    program: WebGLProgram,
    texture: WebGLTexture,
    stripTexture: WebGLTexture,
    onLost: () => void,
  ) {
    this.sizeAt = gl.getUniformLocation(program, 'size');
    this.pixelAt = gl.getUniformLocation(program, 'pixel');
    this.paletteAt = gl.getUniformLocation(program, 'palette');
    this.onContextLost = () => onLost();
    canvas.addEventListener('webglcontextlost', this.onContextLost, { once: true });
    for (const [unit, bound] of [[gl.TEXTURE1, stripTexture], [gl.TEXTURE0, texture]] as const) {
      gl.activeTexture(unit);
      gl.bindTexture(gl.TEXTURE_2D, bound);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    gl.bindVertexArray(gl.createVertexArray());
    gl.useProgram(program);
    gl.uniform1i(gl.getUniformLocation(program, 'rects'), 0);
    gl.uniform1i(gl.getUniformLocation(program, 'strips'), 1);
    gl.disable(gl.BLEND);
  }

  resize(width: number, height: number): void {
    this.canvas.width = width;
    this.canvas.height = height;
    this.gl.viewport(0, 0, width, height);
  }

  draw(buffer: RectBuffer, strips: StripBuffer, palette: Palette): void {
    const gl = this.gl;
    if (gl.isContextLost()) return;
    const surface = palette.rgb.subarray(20 * 3, 21 * 3);
    gl.clearColor(surface[0]!, surface[1]!, surface[2]!, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (buffer.count === 0) return;
    this.upload(buffer);
    this.uploadStrips(strips);
    gl.uniform2f(this.sizeAt, this.canvas.width, this.canvas.height);
    gl.uniform1f(this.pixelAt, Math.max(1, Math.round(this.canvas.width / Math.max(1, this.canvas.clientWidth))));
    gl.uniform3fv(this.paletteAt, palette.rgb);
    gl.drawArrays(gl.TRIANGLES, 0, buffer.count * VERTICES_PER_RECT);
  }

  private uploadStrips(strips: StripBuffer): void {
    if (strips.rows === 0) return;
    const gl = this.gl;
    gl.activeTexture(gl.TEXTURE1);
    if (this.stripWidth !== strips.width) {
      this.stripWidth = strips.width;
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG8UI, strips.width, MAX_STRIP_ROWS, 0, gl.RG_INTEGER, gl.UNSIGNED_BYTE, null);
    }
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2);
    const bytes = new Uint8Array(strips.texels.buffer, 0, strips.rows * strips.width * 2);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, strips.width, strips.rows, gl.RG_INTEGER, gl.UNSIGNED_BYTE, bytes);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    gl.activeTexture(gl.TEXTURE0);
  }

  private upload(buffer: RectBuffer): void {
    const gl = this.gl;
    const rows = Math.ceil(buffer.count / TEXTURE_WIDTH);
    if (rows > this.textureRows) {
      this.textureRows = Math.max(16, 2 ** Math.ceil(Math.log2(rows)));
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32UI, TEXTURE_WIDTH, this.textureRows, 0, gl.RGBA_INTEGER, gl.UNSIGNED_INT, null);
    }
    // Whole rows: the buffer's capacity is a multiple of a row, so the last one may carry old rectangles, never drawn.
    const words = buffer.words.subarray(0, rows * TEXTURE_WIDTH * RECT_WORDS);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TEXTURE_WIDTH, rows, gl.RGBA_INTEGER, gl.UNSIGNED_INT, words);
  }

  dispose(): void {
    this.canvas.removeEventListener('webglcontextlost', this.onContextLost);
    this.gl.getExtension('WEBGL_lose_context')?.loseContext();
  }
}

function makeProgram(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  if (program === null) return null;
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]] as const) {
    const shader = gl.createShader(type);
    if (shader === null) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) === true ? program : null;
}
