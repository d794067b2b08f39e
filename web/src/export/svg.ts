// A chart of the page as one SVG file that looks the same anywhere: every computed colour, line and font is written into the elements, the
// fonts themselves too. Works on whatever a chart is made of: SVG, HTML boxes with text (legends, bars, treemaps), canvas.
//
//   const picture = await svgOf(frame, { title: 'Step times', subtitle: 'mesh_2x2, Overview' });   // { text, width, height }
//
// Elements with data-export="leave" are left out, as are hidden ones. Cost: one look at the computed style of each element. Limits: CSS
// images are not drawn (high contrast loses the hatching of HTML boxes); canvas without a registered painting is an image inside.
import { xmlText } from './encode';
import { embeddedFonts, familiesOf } from './fonts';
import { paintingOf, type Painter, pictureOf } from './registry';

const svgNamespace = 'http://www.w3.org/2000/svg';

export interface Picture {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

export interface PictureWords {
  readonly title: string;
  readonly subtitle: string;
}

const headPx = 48;
const padPx = 12;

// What decides how an element of an SVG looks; the value that is the default everywhere is not written.
const shapeProperties: readonly (readonly [string, string])[] = [
  ['fill', ''], ['fill-opacity', '1'], ['stroke', 'none'], ['stroke-opacity', '1'], ['stroke-width', ''], ['stroke-dasharray', 'none'], ['stroke-linejoin', 'miter'], ['stroke-linecap', 'butt'],
  ['paint-order', 'normal'], ['shape-rendering', 'auto'],
];
const textProperties: readonly (readonly [string, string])[] = [['font-family', ''], ['font-size', ''], ['font-weight', '400'], ['font-style', 'normal'], ['text-anchor', 'start'], ['dominant-baseline', 'auto'], ['letter-spacing', 'normal']];
const shapes = new Set(['path', 'rect', 'line', 'circle', 'ellipse', 'polyline', 'polygon', 'text', 'tspan']);
const keptAttributes = new Set([
  'd', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'dx', 'dy', 'width', 'height', 'points', 'transform', 'viewBox', 'preserveAspectRatio', 'id', 'clip-path', 'marker-end', 'marker-start', 'refX', 'refY', 'markerWidth',
  'markerHeight', 'orient', 'offset', 'href', 'gradientUnits', 'clipPathUnits',
]);

interface Pen {
  readonly left: number;
  readonly top: number;
  readonly families: Set<string>;
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value);
  return made;
}

function invisible(style: CSSStyleDeclaration): boolean {
  return style.display === 'none' || style.visibility === 'hidden' || Number(style.opacity) === 0;
}

// A copy of an SVG element that needs no style sheet.
function bareCopy(source: Element, pen: Pen): SVGElement | null {
  if (source.getAttribute('data-export') === 'leave') return null;
  const name = source.localName;
  const style = getComputedStyle(source);
  const drawn = shapes.has(name) || name === 'g' || name === 'svg';
  if (drawn && invisible(style)) return null;
  const copy = document.createElementNS(svgNamespace, name);
  for (const { name: attribute, value } of source.attributes) if (keptAttributes.has(attribute)) copy.setAttribute(attribute, xmlText(value));
  if (drawn && style.opacity !== '1') copy.setAttribute('opacity', style.opacity);
  if (shapes.has(name)) {
    const write = (properties: typeof shapeProperties) => {
      for (const [property, usual] of properties) {
        const value = style.getPropertyValue(property);
        if (value && value !== usual) copy.setAttribute(property, value);
      }
    };
    write(shapeProperties);
    if (name === 'text' || name === 'tspan') {
      write(textProperties);
      // No attribute says this; the style goes along by way of the object model, which the page's content policy allows.
      if (style.fontVariantNumeric !== 'normal') copy.style.setProperty('font-variant-numeric', style.fontVariantNumeric);
      for (const family of familiesOf(style.fontFamily)) pen.families.add(family);
    }
  }
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(xmlText(child.nodeValue ?? ''));
    else if (child instanceof Element) {
      const inner = bareCopy(child, pen);
      if (inner) copy.append(inner);
    }
  }
  return copy;
}

function addSvg(source: SVGSVGElement, pen: Pen, into: SVGElement): void {
  const copy = bareCopy(source, pen);
  if (!copy) return;
  const style = getComputedStyle(source);
  const box = source.getBoundingClientRect();
  // Turned by a style, as folded arrows are: its own box lies around the middle of the one that is seen.
  const turn = /^matrix\(([^,]+),([^,]+),/.exec(style.transform);
  const angle = turn ? (Math.atan2(Number(turn[2]), Number(turn[1])) * 180) / Math.PI : 0;
  const width = turn ? Number.parseFloat(style.width) || box.width : box.width;
  const height = turn ? Number.parseFloat(style.height) || box.height : box.height;
  const middle = { x: box.left + box.width / 2 - pen.left, y: box.top + box.height / 2 - pen.top };
  for (const [key, value] of [['x', middle.x - width / 2], ['y', middle.y - height / 2], ['width', width], ['height', height]] as const) copy.setAttribute(key, String(Math.round(value * 100) / 100));
  if (style.overflow === 'visible') copy.setAttribute('overflow', 'visible');
  if (angle === 0) into.append(copy);
  else into.appendChild(element('g', { transform: `rotate(${Math.round(angle)} ${middle.x} ${middle.y})` })).append(copy);
}

const transparent = /^(?:transparent|rgba\(\d+, \d+, \d+, 0\))$/;

function addBox(style: CSSStyleDeclaration, box: DOMRect, pen: Pen, into: SVGElement): void {
  const line = Number.parseFloat(style.borderTopWidth) || 0;
  const lined = line > 0 && style.borderTopStyle !== 'none' && !transparent.test(style.borderTopColor);
  const sides = [style.borderRightWidth, style.borderBottomWidth, style.borderLeftWidth].every((width) => Number.parseFloat(width) === line);
  const filled = !transparent.test(style.backgroundColor);
  const left = box.left - pen.left;
  const top = box.top - pen.top;
  const dashed: Record<string, string> = style.borderTopStyle === 'dashed' ? { 'stroke-dasharray': '4 3' } : {};
  if (filled || (lined && sides)) {
    const inset = lined && sides ? line / 2 : 0;
    const radius = Math.max(0, (Number.parseFloat(style.borderTopLeftRadius) || 0) - inset);
    if (box.width > 2 * inset && box.height > 2 * inset) {
      into.append(
        element('rect', {
          x: left + inset, y: top + inset, width: box.width - 2 * inset, height: box.height - 2 * inset, rx: radius, fill: filled ? style.backgroundColor : 'none',
          ...(lined && sides ? { stroke: style.borderTopColor, 'stroke-width': line, ...dashed } : {}),
        }),
      );
    }
  }
  if (lined && !sides) into.append(element('line', { x1: left, x2: left + box.width, y1: top + line / 2, y2: top + line / 2, stroke: style.borderTopColor, 'stroke-width': line, ...dashed }));
  const below = Number.parseFloat(style.borderBottomWidth) || 0;
  if (!sides && below > 0 && style.borderBottomStyle !== 'none' && !transparent.test(style.borderBottomColor)) {
    into.append(element('line', { x1: left, x2: left + box.width, y1: top + box.height - below / 2, y2: top + box.height - below / 2, stroke: style.borderBottomColor, 'stroke-width': below }));
  }
}

// The lines that a text is broken into: each with its words and its place.
function linesOf(node: Text): { text: string; box: DOMRect }[] {
  const range = document.createRange();
  range.selectNodeContents(node);
  const whole = [...range.getClientRects()].filter((box) => box.width > 0);
  const text = (node.nodeValue ?? '').replace(/\s+/g, ' ');
  if (whole.length <= 1) return whole.length === 1 ? [{ text: text.trim(), box: whole[0]! }] : [];
  const lines: { text: string; box: DOMRect }[] = [];
  for (const match of (node.nodeValue ?? '').matchAll(/\S+/g)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const box = range.getBoundingClientRect();
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.box.top - box.top) < 2) last.text += ' ' + match[0];
    else lines.push({ text: match[0], box });
  }
  return lines;
}

const baselineShare = 0.8; // Of the height of a line's letters, for the fonts of the console.

function addText(node: Text, style: CSSStyleDeclaration, pen: Pen, into: SVGElement): void {
  if (!node.nodeValue?.trim()) return;
  for (const { text, box } of linesOf(node)) {
    const made = element('text', {
      x: box.left - pen.left, y: box.top - pen.top + box.height * baselineShare, fill: style.color, 'font-family': style.fontFamily, 'font-size': style.fontSize, 'font-weight': style.fontWeight,
      ...(style.textDecorationLine.includes('line-through') ? { 'text-decoration': 'line-through' } : {}),
    });
    made.textContent = xmlText(style.textTransform === 'uppercase' ? text.toUpperCase() : text);
    for (const family of familiesOf(style.fontFamily)) pen.families.add(family);
    into.append(made);
  }
}

function addCanvas(canvas: HTMLCanvasElement, pen: Pen, into: SVGElement): void {
  const box = canvas.getBoundingClientRect();
  if (box.width === 0 || box.height === 0 || canvas.width === 0) return;
  const place = { x: box.left - pen.left, y: box.top - pen.top, width: box.width, height: box.height };
  const paint = paintingOf(canvas);
  if (paint) {
    const group = element('svg', place);
    paint(svgPainter(group));
    into.append(group);
    return;
  }
  const address = pictureOf(canvas);
  if (address) into.append(element('image', { ...place, href: address }));
}

// Takes what a painting draws on a canvas as elements.
export function svgPainter(into: Element): Painter {
  return {
    fillStyle: 'none',
    strokeStyle: 'none',
    lineWidth: 1,
    fillRect(x, y, width, height) {
      into.append(element('rect', { x, y, width, height, fill: String(this.fillStyle) }));
    },
    strokeRect(x, y, width, height) {
      into.append(element('rect', { x, y, width, height, fill: 'none', stroke: String(this.strokeStyle), 'stroke-width': this.lineWidth }));
    },
  };
}

const leave = '[data-export="leave"], .visually-hidden, .icon, .button, input, select, textarea, .tl-scroll';

function add(source: Element, pen: Pen, into: SVGElement): void {
  if (source.matches(leave)) return;
  const style = getComputedStyle(source);
  if (invisible(style)) return;
  if (source instanceof SVGSVGElement) return addSvg(source, pen, into);
  if (source instanceof HTMLCanvasElement) return addCanvas(source, pen, into);
  const box = source.getBoundingClientRect();
  addBox(style, box, pen, into);
  let inner = into;
  let innerPen = pen;
  if (style.opacity !== '1') inner = into.appendChild(element('g', { opacity: style.opacity }));
  // What is cut at the edge on the page is cut there in the picture too.
  if (style.overflow !== 'visible' && (source.scrollWidth > source.clientWidth + 1 || source.scrollHeight > source.clientHeight + 1)) {
    inner = inner.appendChild(element('svg', { x: box.left - pen.left, y: box.top - pen.top, width: box.width, height: box.height }));
    innerPen = { ...pen, left: box.left, top: box.top };
  }
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) addText(child as Text, style, innerPen, inner);
    else if (child instanceof Element) add(child, innerPen, inner);
  }
}

// The colour behind an element: its own or that of what it stands on.
function groundOf(source: Element): string {
  for (let at: Element | null = source; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!transparent.test(colour)) return colour;
  }
  return getComputedStyle(document.documentElement).getPropertyValue('--surface').trim();
}

export async function svgOf(frame: Element, words: PictureWords): Promise<Picture> {
  const box = frame.getBoundingClientRect();
  const width = Math.ceil(box.width) + 2 * padPx;
  const height = Math.ceil(box.height) + headPx + padPx;
  const root = element('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
  const style = getComputedStyle(frame);
  const look = getComputedStyle(document.documentElement);
  const title = document.createElementNS(svgNamespace, 'title');
  title.textContent = xmlText(words.title);
  root.append(title, element('rect', { width, height, fill: groundOf(frame) }));
  const pen: Pen = { left: box.left - padPx, top: box.top - headPx, families: new Set(familiesOf(style.fontFamily)) };
  const heading = element('text', { x: padPx, y: 22, fill: look.getPropertyValue('--text').trim() || style.color, 'font-family': style.fontFamily, 'font-size': 14, 'font-weight': 600 });
  heading.textContent = xmlText(words.title);
  const below = element('text', { x: padPx, y: 39, fill: look.getPropertyValue('--muted').trim() || style.color, 'font-family': style.fontFamily, 'font-size': 12 });
  below.textContent = xmlText(words.subtitle);
  root.append(heading, below);
  add(frame, pen, root);
  const fonts = await embeddedFonts(pen.families);
  if (fonts) {
    const sheet = document.createElementNS(svgNamespace, 'style');
    sheet.textContent = fonts;
    title.after(sheet);
  }
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

// ---- dots ----------------------------------------------------------------------------------------------------------------

const sharpness = 2; // Dots a pixel: what a good screen has.
const mostDots = 16_384; // On a side; what browsers give a canvas.

export async function pngOf(picture: Picture): Promise<Blob> {
  const scale = Math.min(sharpness, mostDots / picture.width, mostDots / picture.height);
  const address = URL.createObjectURL(new Blob([picture.text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    const context = canvas.getContext('2d');
    if (!context) throw new Error('The browser gave no canvas to draw on.');
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (!made) throw new Error('The browser could not make a PNG.');
    return made;
  } finally {
    URL.revokeObjectURL(address);
  }
}
