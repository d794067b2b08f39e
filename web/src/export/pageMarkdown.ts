// The page as Markdown for a chat or an issue: title, figures, findings, tables, and the link. Reads what the page shows in its order;
// tables hold at most mostRowsOfMarkdown rows and say how many are left out. Charts are named, not drawn.
import { plural } from '../format/format';
import { tableOfElement, wordsOf } from './domTable';
import { type ExportTable, markdownOf, markdownText } from './model';
import { type PageInfo, savedWords } from './pageInfo';
import { exportableOf } from './registry';

export const mostRowsOfPageMarkdown = 20; // Of each table: a page has several.
const mostLinesOfText = 60;

const skipped = '[data-export="leave"], [aria-hidden="true"], .visually-hidden, .button, .options-bar, .tool-tabs, .filter, nav, form, input, select, textarea, canvas, svg, script, style, .skeleton, [role="toolbar"], [role="menu"]';
const inline = new Set(['A', 'SPAN', 'STRONG', 'B', 'EM', 'I', 'CODE', 'SMALL', 'LABEL', 'TIME', 'KBD', 'BUTTON', 'SUP', 'SUB']);
const headings: Readonly<Record<string, string>> = { H1: '##', H2: '##', H3: '###' };

const words = (element: Element | null | undefined) => (element ? markdownText(wordsOf(element)) : '');

// The words of an item or a paragraph, with its links as links.
function linked(element: Element): string {
  const parts: string[] = [];
  for (const child of element.childNodes) {
    if (child instanceof HTMLAnchorElement && child.hasAttribute('href') && !child.matches(skipped)) parts.push(` [${words(child)}](${child.href}) `);
    else if (child instanceof Element) parts.push(child.matches(skipped) ? '' : child.querySelector('a[href]') ? linked(child) : ` ${markdownText(wordsOf(child))} `);
    else if (child.nodeType === Node.TEXT_NODE) parts.push(markdownText(child.nodeValue ?? '') === '' ? ' ' : (child.nodeValue ?? '').replace(/\S[\s\S]*\S|\S/, (core) => markdownText(core)));
  }
  return parts.join('').replace(/\s+/g, ' ').replace(/ ([.,:;])/g, '$1').trim();
}

class Writer {
  readonly blocks: string[] = [];
  add(text: string): void {
    if (text !== '' && text !== this.blocks[this.blocks.length - 1]) this.blocks.push(text);
  }
  // Items that follow each other are one list.
  item(text: string): void {
    if (text === '') return;
    const last = this.blocks[this.blocks.length - 1];
    if (last?.startsWith('- ')) this.blocks[this.blocks.length - 1] = `${last}\n- ${text}`;
    else this.blocks.push(`- ${text}`);
  }
  table(table: ExportTable): void {
    if (table.columns.length === 0) return;
    this.add(table.rows.length === 0 ? 'No rows.' : markdownOf(table, mostRowsOfPageMarkdown));
  }
}

function figureOf(kpi: Element): string {
  const value = words(kpi.querySelector('.kpi-value'));
  const note = words(kpi.querySelector('.kpi-note'));
  return `**${words(kpi.querySelector('.label'))}**: ${value}${note ? ` (${note})` : ''}`;
}

function facts(list: Element, out: Writer): void {
  let name = '';
  for (const element of list.querySelectorAll('dt, dd')) {
    if (element.tagName === 'DT') name = words(element);
    else out.item(`${name}: ${words(element)}`);
  }
}

function whole(element: Element, out: Writer): boolean {
  const known = exportableOf(element);
  if (known?.kind === 'table') out.table(known.table);
  else if (known?.kind === 'text') {
    const lines = known.text.split('\n');
    out.add('```\n' + lines.slice(0, mostLinesOfText).join('\n').replace(/```/g, "'''") + '\n```');
    if (lines.length > mostLinesOfText) out.add(`${plural(lines.length - mostLinesOfText, 'further line')} left out.`);
  } else if (element instanceof HTMLTableElement) out.table(tableOfElement(element, element.getAttribute('aria-label') ?? ''));
  return known !== null || element instanceof HTMLTableElement;
}

function write(element: Element, out: Writer): void {
  if (element.matches(skipped)) return;
  if (whole(element, out)) return;
  const heading = headings[element.tagName];
  if (heading) return out.add(`${heading} ${words(element)}`.trim());
  if (element.matches('.kpi')) return out.item(figureOf(element));
  if (element.tagName === 'DL') return facts(element, out);
  if (element.hasAttribute('data-chart')) out.add(`_Chart: ${markdownText(element.getAttribute('data-chart')!)}_`);
  if (element.tagName === 'LI' || element.matches('.strip, .meter')) return out.item(element.querySelector('a[href]') ? linked(element) : words(element));
  if (element.tagName === 'PRE') return out.add('```\n' + (element.textContent ?? '').trim().replace(/```/g, "'''") + '\n```');
  let line = '';
  const flush = () => {
    out.add(markdownText(line));
    line = '';
  };
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) line += child.nodeValue ?? '';
    else if (child instanceof Element) {
      if (child.matches(skipped)) continue;
      if (inline.has(child.tagName) && !child.querySelector('h1, h2, h3, li, table, .kpi, dl') && !child.matches('.kpi')) line += ` ${wordsOf(child)} `;
      else {
        flush();
        write(child, out);
      }
    }
  }
  flush();
}

export function pageMarkdown(root: Element, info: PageInfo): string {
  const out = new Writer();
  write(root, out);
  const own = new Set([`## ${markdownText(info.title)}`]);
  const blocks = out.blocks.filter((block) => !own.has(block));
  const about = [...info.about, ...info.context].map(markdownText).join(', ');
  return [`# ${markdownText(info.title)}`, [about, `<${info.link}>`, `Saved ${savedWords(info.savedAt)}`].filter(Boolean).join('  \n'), ...blocks].join('\n\n') + '\n';
}
