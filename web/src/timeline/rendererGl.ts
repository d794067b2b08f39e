// The WebGL2 renderer. Rectangles go into an integer texture as they are and each vertex pulls its own (gl_VertexID): two
// drawArrays a frame (bars, strips), no instancing (which software GL runs a hundred times slower). Colours are looked up
// per vertex, so that a fragment costs little where the GPU is a CPU.

import { COLOUR_SURFACE, PALETTE_SIZE, type Palette } from './palette';
import { RECT_WORDS, type RectBuffer } from './rectBuffer';
import type { Renderer } from './renderer';
import { MAX_STRIP_ROWS, type StripBuffer } from './strip';
import { StripPixels } from './stripPixels';

/** Every WebGL2 device has textures of at least 2,048. */
const TEXTURE_WIDTH = 1024;
const VERTICES_PER_RECT = 6;

const RECT_VERTEX = `
  int rect = gl_VertexID / ${VERTICES_PER_RECT};
  int corner = gl_VertexID - rect * ${VERTICES_PER_RECT};
  uvec4 data = texelFetch(rects, ivec2(rect % ${TEXTURE_WIDTH}, rect / ${TEXTURE_WIDTH}), 0);
  float right = (corner == 1 || corner == 2 || corner == 4) ? 1.0 : 0.0;
  float bottom = (corner == 2 || corner == 4 || corner == 5) ? 1.0 : 0.0;
  float x0 = uintBitsToFloat(data.x);
  float x1 = uintBitsToFloat(data.y);
  float y0 = float(int(data.z & 0xffffu) - 16384);
  vec2 extent = vec2(x1 - x0, float(data.z >> 16));
  uint style = (data.w >> 16) & 0xffu;`;

const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
`;

const BAR_VERTEX_SHADER = `${HEADER}
uniform usampler2D rects;
uniform vec2 size;
uniform float pixel;
uniform vec3 palette[${PALETTE_SIZE}];
out vec2 inside;                 // pixels from the left and top of the rectangle
flat out vec2 whole;             // its width and height
flat out vec3 fill;
flat out vec3 other;             // edge, or the lines of "not loaded"
flat out uint look;              // style, less what a small bar cannot show
void main() {${RECT_VERTEX}
  uint index = data.w & 0xffu;
  float strength = float((data.w >> 8) & 0xffu) / 255.0;
  vec3 lane = palette[${COLOUR_SURFACE}];
  // Between an edge on both sides nothing would be left of a narrow bar: it is all edge.
  bool narrow = extent.x < 5.0 * pixel && (style & 1u) != 0u;
  fill = mix(lane, palette[narrow ? index + 10u : index], strength);
  other = (style & 4u) != 0u ? palette[22] : mix(lane, palette[min(index + 10u, 25u)], strength);
  look = (extent.x < 5.0 * pixel) ? style & ~3u : style;
  whole = extent;
  inside = vec2(right, bottom) * extent;
  vec2 at = vec2(x0, y0) + inside;
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
  if ((style & 16u) != 0u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const BAR_FRAGMENT_SHADER = `${HEADER}
uniform float pixel;             // device pixels of one CSS pixel
uniform vec2 size;
uniform vec3 ink;
in vec2 inside;
flat in vec2 whole;
flat in vec3 fill;
flat in vec3 other;
flat in uint look;
out vec4 colour;
void main() {
  vec3 paint = fill;
  if (look != 0u) {
    if ((look & 4u) != 0u) {
      if (mod(gl_FragCoord.x + (size.y - gl_FragCoord.y), 8.0 * pixel) < 2.0 * pixel) paint = other;
    } else if ((look & 8u) != 0u) {
      if (mod(gl_FragCoord.x, 4.0 * pixel) >= pixel) discard;
    } else {
      vec2 away = min(inside, whole - inside);
      if (whole.x >= 6.0 * pixel && away.x < pixel && away.y < pixel) discard;
      if ((look & 1u) != 0u && (away.x < pixel || away.y < pixel)) paint = other;
      if ((look & 2u) != 0u && whole.y - inside.y < 5.0 * pixel && mod(gl_FragCoord.x + gl_FragCoord.y, 6.0 * pixel) < 2.0 * pixel) {
        paint = mix(paint, ink, 0.55);
      }
    }
  }
  colour = vec4(paint, 1.0);
}`;

const STRIP_VERTEX_SHADER = `${HEADER}
uniform usampler2D rects;
uniform vec2 size;
flat out int row;
void main() {${RECT_VERTEX}
  row = int(data.w & 0xffffu);
  vec2 at = vec2(x0, y0) + vec2(right, bottom) * extent;
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
  if ((style & 16u) == 0u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const STRIP_FRAGMENT_SHADER = `${HEADER}
uniform sampler2D strips;
flat in int row;
out vec4 colour;
void main() {
  colour = texelFetch(strips, ivec2(int(gl_FragCoord.x), row), 0);
  if (colour.a == 0.0) discard;
}`;

class Program {
  private readonly places = new Map<string, WebGLUniformLocation | null>();

  private constructor(private readonly gl: WebGL2RenderingContext, private readonly program: WebGLProgram) {}

  static make(gl: WebGL2RenderingContext, vertex: string, fragment: string): Program | null {
    const program = gl.createProgram();
    if (program === null) return null;
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const shader = gl.createShader(type);
      if (shader === null) return null;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    return gl.getProgramParameter(program, gl.LINK_STATUS) === true ? new Program(gl, program) : null;
  }

  use(): void {
    this.gl.useProgram(this.program);
  }

  at(name: string): WebGLUniformLocation | null {
    let place = this.places.get(name);
    if (place === undefined) {
      place = this.gl.getUniformLocation(this.program, name);
      this.places.set(name, place);
    }
    return place;
  }
}

export class GlRenderer implements Renderer {
  readonly kind = 'webgl2';
  private textureRows = 0;
  private stripWidth = 0;
  private stripImage = new Uint8Array(0);
  private readonly pixels = new StripPixels();
  private readonly onContextLost: (event: Event) => void;

  static create(canvas: HTMLCanvasElement, onLost: () => void): GlRenderer | null {
    const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, stencil: false });
    if (gl === null) return null;
    const bars = Program.make(gl, BAR_VERTEX_SHADER, BAR_FRAGMENT_SHADER);
    const strips = Program.make(gl, STRIP_VERTEX_SHADER, STRIP_FRAGMENT_SHADER);
    return bars === null || strips === null ? null : new GlRenderer(canvas, gl, bars, strips, onLost);
  }

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
    private readonly bars: Program,
    private readonly strips: Program,
    onLost: () => void,
  ) {
    this.onContextLost = () => onLost();
    canvas.addEventListener('webglcontextlost', this.onContextLost, { once: true });
    for (const unit of [gl.TEXTURE1, gl.TEXTURE0]) {
      gl.activeTexture(unit);
      gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    gl.bindVertexArray(gl.createVertexArray());
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
    const surface = palette.rgb.subarray(COLOUR_SURFACE * 3, COLOUR_SURFACE * 3 + 3);
    gl.clearColor(surface[0]!, surface[1]!, surface[2]!, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (buffer.count === 0) return;
    this.upload(buffer);
    const vertices = buffer.count * VERTICES_PER_RECT;
    this.bars.use();
    gl.uniform1i(this.bars.at('rects'), 0);
    gl.uniform2f(this.bars.at('size'), this.canvas.width, this.canvas.height);
    gl.uniform1f(this.bars.at('pixel'), Math.max(1, Math.round(this.canvas.width / Math.max(1, this.canvas.clientWidth))));
    gl.uniform3fv(this.bars.at('palette'), palette.rgb);
    gl.uniform3fv(this.bars.at('ink'), palette.rgb.subarray(25 * 3, 26 * 3));
    gl.drawArrays(gl.TRIANGLES, 0, vertices);
    if (strips.rows === 0) return;
    this.uploadStrips(strips, palette);
    this.strips.use();
    gl.uniform1i(this.strips.at('rects'), 0);
    gl.uniform1i(this.strips.at('strips'), 1);
    gl.uniform2f(this.strips.at('size'), this.canvas.width, this.canvas.height);
    gl.drawArrays(gl.TRIANGLES, 0, vertices);
  }

  private uploadStrips(strips: StripBuffer, palette: Palette): void {
    const gl = this.gl;
    gl.activeTexture(gl.TEXTURE1);
    if (this.stripWidth !== strips.width) {
      this.stripWidth = strips.width;
      this.stripImage = new Uint8Array(strips.width * MAX_STRIP_ROWS * 4);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, strips.width, MAX_STRIP_ROWS, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    }
    this.pixels.write(strips, palette, new Uint32Array(this.stripImage.buffer));
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, strips.width, strips.rows, gl.RGBA, gl.UNSIGNED_BYTE, this.stripImage);
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
