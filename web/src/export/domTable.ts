// A table of the page that has all its rows in the page, read back from its elements: names from the header, values from the cells. Where
// every cell of a column says its exact value in its title ("1,234 ps", "512 B"), that is the value, and what is shown stays the text.
import type { ExportColumn, ExportTable, Value } from './model';

const silent = '.visually-hidden, [aria-hidden="true"], [data-export="leave"], .button, .kbd, input, select, textarea';

// What a reader reads in an element, without what is only for the eye or for screen readers.
export function wordsOf(element: Element): string {
  if (element.matches(silent)) return '';
  let text = '';
  // Parts that a style sheet sets apart have no blank between them; a name in two pieces is one name all the same.
  const apart = !element.matches('.middle') && /flex|grid/.test(getComputedStyle(element).display);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) text += child.nodeValue ?? '';
    else if (child instanceof Element) text += apart || child.matches('br, div, p, li') ? ` ${wordsOf(child)} ` : wordsOf(child);
  }
  return text;
}

const tidy = (text: string) => text.replace(/[\s\u00a0]+/g, ' ').trim();
const figure = /^[-\u2212]?\d{1,3}(?:,\d{3})*(?:\.\d+)?$|^[-\u2212]?\d+(?:\.\d+)?$/;

function idOf(label: string, taken: Set<string>): string {
  const base = label.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '') || 'column';
  let id = base;
  for (let n = 2; taken.has(id); n++) id = `${base}_${n}`;
  taken.add(id);
  return id;
}

export function tableOfElement(element: HTMLTableElement, title: string): ExportTable {
  const heads = [...(element.querySelector('thead > tr')?.children ?? [])];
  const lines = [...element.querySelectorAll('tbody > tr')].filter((row) => row.getAttribute('aria-hidden') !== 'true' && row.children.length >= heads.length && !row.querySelector('.skeleton'));
  const labels = heads.map((cell) => tidy(wordsOf(cell)));
  const cellText = (row: Element, at: number) => tidy(wordsOf(row.children[at]!));
  const titleOf = (row: Element, at: number) => row.children[at]!.getAttribute('title') ?? '';
  // Ticks and bars have a column but no word.
  const kept = heads.map((_, at) => at).filter((at) => labels[at] !== '' || lines.some((row) => cellText(row, at) !== ''));
  const taken = new Set<string>();
  const columns: ExportColumn[] = [];
  const reads: ((row: Element) => Value)[] = [];
  for (const at of kept) {
    const said = lines.filter((row) => !nothing.has(cellText(row, at)));
    const unit = exactUnit(said.map((row) => titleOf(row, at)));
    const isNumber = unit !== null || (said.length > 0 && said.every((row) => figure.test(cellText(row, at))));
    const id = unit === null ? labels[at]! : `${labels[at]!.split(',')[0]!} ${unit === 'B' ? 'bytes' : unit}`;
    columns.push({ id: idOf(id, taken), label: labels[at]!, type: isNumber ? 'number' : 'string', whole: isNumber });
    reads.push((row) => {
      const text = cellText(row, at);
      if (nothing.has(text)) return null;
      return unit !== null ? numberOf(exactTitle.exec(titleOf(row, at))![1]!) : isNumber ? numberOf(text) : text;
    });
  }
  return {
    title,
    columns,
    rows: lines.map((row) => reads.map((read) => read(row))),
    texts: lines.map((row) => kept.map((at) => cellText(row, at) || null)),
  };
}

const nothing = new Set(['', '\u2013']);
const exactTitle = /^([-\u2212]?\d[\d,]*(?:\.\d+)?) (ps|B)$/;

function numberOf(text: string): number {
  return Number(text.replace(/,/g, '').replace('\u2212', '-'));
}

// The unit that all of the titles tell an exact value in; null when they do not.
function exactUnit(titles: readonly string[]): string | null {
  const units = new Set(titles.map((title) => exactTitle.exec(title)?.[2] ?? ''));
  return units.size === 1 && !units.has('') ? [...units][0]! : null;
}
