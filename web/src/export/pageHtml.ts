// The page as one HTML file that opens from a disk: all styles, fonts and pictures inside, tables written out, no script. Its own content
// policy forbids it to ask anyone for anything; only the links lead back to the server.
//
//   const html = await pageHtml(pageRoot()!, readPageInfo());
//
// Limits: mostRowsOfPage rows of each table and mostLinesOfPage lines of each text; a sentence says how many are left out.
import { formatCount, plural } from '../format/format';
import { embeddedFonts, familyName, rulesOf } from './fonts';
import { type ExportTable, leftOut, shownCell } from './model';
import { type PageInfo, savedWords } from './pageInfo';
import { type Exportable, exportableOf, paintingOf, pictureOf } from './registry';
import { svgPainter } from './svg';

export const mostRowsOfPage = 2000; // A table of that length is about 1 MB; more is what Parquet is for.
export const mostLinesOfPage = 5000;

const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'";

// What only works with the page around it.
const controls = '[data-export="leave"], .button, .visually-hidden, .filter, .graph-tools, .fold, script, template, [role="menu"], .tl-scroll, [data-part="corner"] .filter';

const savedStyle = `
html, body { height: auto; }
body { padding: 16px 20px 32px; }
.saved-head { margin-bottom: 16px; padding-bottom: 12px; border-bottom: 1px solid var(--line); }
.saved-head h1 { font-size: 20px; line-height: 28px; }
.saved-head p { color: var(--text2); overflow-wrap: anywhere; }
.page, .tool-layout, .tool-layout > .page { overflow: visible; height: auto; max-height: none; padding: 0; }
.tool-layout { display: block; }
.drawer { position: static; width: auto; max-width: 720px; height: auto; margin-top: 16px; }
.drawer-body { overflow: visible; height: auto; }
.data-panel { flex: none; min-height: 0; overflow: visible; }
.data-view-frame { position: static; }
.strip-list.cells { max-height: none; overflow: visible; }
.scroll-x, .saved-scroll { overflow-x: auto; }
.saved-table { width: 100%; border-collapse: collapse; }
.saved-table th, .saved-table td { height: auto; padding: 3px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.saved-table th { color: var(--muted); font: 500 12px/16px var(--sans); white-space: nowrap; }
.saved-table .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.saved-rest { padding: 8px 12px; color: var(--muted); }
.saved-text { padding: 8px 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
button { cursor: default; }
`;

function make<K extends keyof HTMLElementTagNameMap>(name: K, className: string, text = ''): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

export function staticTable(table: ExportTable, most = mostRowsOfPage): HTMLElement {
  const box = make('div', 'saved-scroll');
  const element = box.appendChild(make('table', 'saved-table'));
  element.setAttribute('aria-label', table.title);
  const classOf = (at: number) => (table.columns[at]!.type === 'number' ? 'number' : '');
  const head = element.appendChild(make('thead', '')).appendChild(make('tr', ''));
  table.columns.forEach((column, c) => head.append(make('th', classOf(c), column.label)));
  const body = element.appendChild(make('tbody', ''));
  const shown = Math.min(most, table.rows.length);
  for (let r = 0; r < shown; r++) {
    const row = body.appendChild(make('tr', ''));
    table.columns.forEach((_, c) => row.append(make('td', classOf(c), shownCell(table, r, c))));
  }
  const rest = leftOut(table, shown);
  if (rest) box.append(make('p', 'saved-rest', rest));
  if (table.rows.length === 0) box.append(make('p', 'saved-rest', 'This table has no rows.'));
  return box;
}

function staticText(text: string): HTMLElement {
  const lines = text.split('\n');
  const box = make('div', 'saved-scroll');
  box.append(make('pre', 'saved-text', lines.slice(0, mostLinesOfPage).join('\n')));
  if (lines.length > mostLinesOfPage) box.append(make('p', 'saved-rest', `${plural(lines.length - mostLinesOfPage, 'further line')} left out: the first ${formatCount(mostLinesOfPage)} of ${formatCount(lines.length)} are here.`));
  return box;
}

function staticCanvas(canvas: HTMLCanvasElement): Element | null {
  const box = canvas.getBoundingClientRect();
  const paint = paintingOf(canvas);
  let made: HTMLElement | SVGElement;
  if (paint) {
    made = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    paint(svgPainter(made));
  } else {
    const address = pictureOf(canvas);
    if (!address) return null;
    const image = make('img', canvas.className);
    image.src = address;
    image.alt = '';
    made = image;
  }
  // Placed as the canvas is, whether by a class or by its own style.
  const style = getComputedStyle(canvas);
  made.style.cssText = `position:${style.position};left:${style.left};top:${style.top};width:${box.width}px;height:${box.height}px;display:block`;
  return made;
}

function valueOf(control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement): string {
  if (control instanceof HTMLSelectElement) return control.selectedOptions[0]?.textContent ?? '';
  if (control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio')) return control.checked ? '\u2713' : '\u2013';
  return control.value;
}

const deadAttributes = ['tabindex', 'contenteditable', 'aria-valuemin', 'aria-valuemax', 'aria-valuenow', 'aria-valuetext', 'aria-activedescendant', 'aria-controls', 'aria-describedby', 'autofocus'];

// Makes what stands for `source` in the file out of its copy. Returns what takes its place; null: nothing.
function settle(source: Element, copy: Element, mostRows: number): Element | null {
  if (source.matches(controls)) return null;
  const whole = exportableOf(source);
  if (whole) return settleWhole(whole, source, copy, mostRows);
  if (source instanceof HTMLCanvasElement) return staticCanvas(source);
  if (source instanceof HTMLInputElement || source instanceof HTMLSelectElement || source instanceof HTMLTextAreaElement) {
    return source instanceof HTMLInputElement && source.type === 'search' ? null : make('span', 'saved-value', valueOf(source));
  }
  for (const name of deadAttributes) copy.removeAttribute(name);
  for (const { name } of [...copy.attributes]) if (name.startsWith('on')) copy.removeAttribute(name);
  if (copy.getAttribute('role') === 'slider') copy.setAttribute('role', 'img');
  if (source instanceof HTMLAnchorElement && source.hasAttribute('href')) copy.setAttribute('href', source.href);
  if (source instanceof HTMLButtonElement) copy.setAttribute('type', 'button');
  if (source instanceof HTMLImageElement && !source.src.startsWith('data:')) return null;
  const children = [...source.children];
  const copies = [...copy.children];
  children.forEach((child, i) => {
    const at = copies[i]!;
    const made = settle(child, at, mostRows);
    if (made === null) at.remove();
    else if (made !== at) at.replaceWith(made);
  });
  // What fills the window on the page has no height of its own in a file.
  if (source.matches('.page-fill, .tl-stage, .graph-view')) (copy as HTMLElement).style.height = `${source.clientHeight}px`;
  return copy;
}

function settleWhole(whole: Exportable, source: Element, copy: Element, mostRows: number): Element {
  const made = whole.kind === 'table' ? staticTable(whole.table, mostRows) : staticText(whole.text);
  if (source instanceof HTMLTableElement) return made;
  copy.replaceChildren(made);
  return copy;
}

// The sheet as it was written: what the browser makes of its rules loses shorthands that hold variables.
async function sourceOf(sheet: CSSStyleSheet): Promise<string> {
  if (sheet.href === null) return sheet.ownerNode?.textContent ?? '';
  if (new URL(sheet.href).origin !== window.location.origin) return '';
  const response = await fetch(sheet.href);
  if (!response.ok) throw new Error(`A style sheet could not be read: ${response.status}`);
  return response.text();
}

// Every style of the page but its fonts, which come with their files inside.
async function stylesOf(): Promise<string> {
  const texts = await Promise.all([...document.styleSheets].map(sourceOf));
  // Nothing may be fetched, so nothing is named that could be.
  return texts.join('\n').replace(/@font-face\s*\{[^}]*\}|@import[^;]*;|@charset[^;]*;/g, '').replace(/url\((?!["']?(?:data:|#))[^)]*\)/g, 'none');
}

function familiesOfPage(): Set<string> {
  const found = new Set<string>();
  for (const sheet of document.styleSheets) {
    for (const rule of rulesOf(sheet)) if (rule instanceof CSSFontFaceRule) found.add(familyName(rule.style.getPropertyValue('font-family')));
  }
  return found;
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

export function resolvedTheme(): string {
  const chosen = document.documentElement.getAttribute('data-theme');
  if (chosen) return chosen;
  return typeof matchMedia === 'function' && matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function headOf(info: PageInfo): string {
  const about = [...info.about, ...info.context].map(escapeHtml).join(', ');
  return (
    `<header class="saved-head"><h1>${escapeHtml(info.title)}</h1>${about ? `<p>${about}</p>` : ''}` +
    `<p>Saved <time datetime="${info.savedAt.toISOString()}">${escapeHtml(savedWords(info.savedAt))}</time> from <a href="${escapeHtml(info.link)}">${escapeHtml(info.link)}</a></p></header>`
  );
}

export async function pageHtml(root: Element, info: PageInfo, mostRows = mostRowsOfPage): Promise<string> {
  const body = settle(root, root.cloneNode(true) as Element, mostRows);
  const fonts = await embeddedFonts(familiesOfPage());
  const title = escapeHtml([info.title, ...info.about, 'Strobe'].join(' - '));
  // A text of a style ends at the first "</": none of ours has one, but a rule is what the browser writes.
  const styles = `${fonts}\n${await stylesOf()}\n${savedStyle}`.replace(/<\//g, '<\\/');
  return (
    `<!doctype html>\n<html lang="${escapeHtml(document.documentElement.lang || 'en')}" data-theme="${resolvedTheme()}">\n<head>\n<meta charset="utf-8">\n` +
    `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n` +
    `<title>${title}</title>\n<style>\n${styles}\n</style>\n</head>\n<body>\n${headOf(info)}\n<main>${body?.outerHTML ?? ''}</main>\n</body>\n</html>\n`
  );
}
