import { afterEach, describe, expect, it } from 'vitest';
import { tableOfElement } from './domTable';
import { csvOf, type ExportTable, fileNameOf, jsonLinesOf, leftOut, markdownOf, pageNameOf } from './model';
import { pageHtml, staticTable } from './pageHtml';
import { type PageInfo, savedWords } from './pageInfo';
import { pageMarkdown } from './pageMarkdown';
import { parquetOf, rowsOfGroup } from './parquet';
import { registerExportable } from './registry';
import { svgPainter } from './svg';
import { xmlText } from './encode';

const table: ExportTable = {
  title: 'Ops',
  columns: [
    { id: 'name', label: 'Name', type: 'string' },
    { id: 'time_ps', label: 'Time, ms', type: 'number', whole: true, format: (value) => `${Number(value) / 1e9}` },
    { id: 'eager', label: 'Eager', type: 'boolean' },
  ],
  rows: [
    ['fusion, "3"', 12_500_000_000, true],
    ['a|b <c>', null, false],
  ],
};

afterEach(() => {
  document.body.replaceChildren();
  document.title = '';
});

describe('a table as text', () => {
  it('has exact values and quotes in CSV', () => {
    expect(csvOf(table)).toBe('name,time_ps,eager\n"fusion, ""3""",12500000000,true\na|b <c>,,false\n');
    expect(csvOf({ ...table, rows: [['x', Number.NaN, null], ['y', Infinity, null]] })).toBe('name,time_ps,eager\nx,,\ny,inf,\n');
  });
  it('is one object a row in JSON', () => {
    expect(jsonLinesOf(table).trim().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual([{ name: 'fusion, "3"', time_ps: 12500000000, eager: true }, { name: 'a|b <c>', time_ps: null, eager: false }]);
  });
  it('is what people read in Markdown, bounded, with a sentence about the rest', () => {
    const lines = markdownOf({ ...table, texts: [undefined, [null, null, 'no']] }).split('\n');
    expect(lines.slice(0, 3)).toEqual(['| Name | Time, ms | Eager |', '| --- | ---: | --- |', '| fusion, "3" | 12.5 | true |']);
    expect(lines[3]).toBe('| a\\|b \\<c> | 0 | no |');
    const cut = markdownOf({ ...table, totalRows: 900 }, 1);
    expect(cut.split('\n').filter((line) => line.startsWith('|'))).toHaveLength(3);
    expect(cut).toContain('899 further rows are left out: the first 1 of 900 are here.');
    expect(leftOut(table, 2)).toBe('');
  });
  it('is named by session, page and what it is', () => {
    const name = pageNameOf('Op stats - 2026-11-29 14:31:00 - llama/run1 - Strobe');
    expect(fileNameOf(name, 'Step times', 'svg')).toBe('2026-11-29-14-31-00_Op-stats_Step-times.svg');
    expect(fileNameOf(name, 'Op stats', 'html')).toBe('2026-11-29-14-31-00_Op-stats.html');
    expect(fileNameOf(pageNameOf('Sessions - Strobe'), '../../Ünïcode\u0000 name', 'csv')).toBe('Sessions_Unicode-name.csv');
    expect(fileNameOf(pageNameOf('Strobe'), '', 'csv')).toBe('strobe.csv');
  });
});

describe('Parquet', () => {
  const footerText = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);
  it('has its magic at both ends and a footer of the length it says', () => {
    const bytes = parquetOf(table);
    expect(footerText(bytes.subarray(0, 4))).toBe('PAR1');
    expect(footerText(bytes.subarray(-4))).toBe('PAR1');
    const length = new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
    const footer = footerText(bytes.subarray(bytes.length - 8 - length, bytes.length - 8));
    for (const column of table.columns) expect(footer).toContain(column.id);
    expect(footer).toContain('strobe.columns');
    // The integer is there as eight bytes, the truths as bits.
    const whole = new Uint8Array(new BigInt64Array([12500000000n]).buffer);
    expect(footerText(bytes)).toContain(footerText(whole));
  });
  it('is a file without rows too, and begins a group after so many rows', () => {
    expect(parquetOf({ ...table, rows: [] }).length).toBeGreaterThan(100);
    const many = { title: 't', columns: [{ id: 'n', label: 'n', type: 'number' as const, whole: true }], rows: Array.from({ length: rowsOfGroup + 1 }, (_, i) => [i]) };
    const bytes = parquetOf(many);
    expect(bytes.length).toBeGreaterThan(8 * (rowsOfGroup + 1));
  });
});

function elementOf(html: string): HTMLElement {
  document.body.innerHTML = html;
  return document.body.firstElementChild as HTMLElement;
}

describe('a table of the page', () => {
  const html = `<table><thead><tr><th><span class="visually-hidden">Selected</span></th><th><button>Host</button></th><th class="number">Size, GiB</th><th class="number">Events</th><th>Note</th></tr></thead><tbody>
    <tr><td><input type="checkbox"></td><td>host0</td><td class="number" title="1,610,612,736 B">1.5</td><td class="number">2,304</td><td>fine <button class="button">Open</button></td></tr>
    <tr><td><input type="checkbox"></td><td>host1</td><td class="number" title="512 B">&lt;0.001</td><td class="number">\u2013</td><td></td></tr>
    <tr class="blank" aria-hidden="true"><td colspan="5"></td></tr></tbody></table>`;
  it('is read back with the exact values that its titles tell', () => {
    const read = tableOfElement(elementOf(html) as HTMLTableElement, 'Hosts');
    expect(read.columns.map((column) => [column.id, column.type])).toEqual([['host', 'string'], ['size_bytes', 'number'], ['events', 'number'], ['note', 'string']]);
    expect(read.rows).toEqual([['host0', 1610612736, 2304, 'fine'], ['host1', 512, null, null]]);
    expect(markdownOf(read)).toContain('| host0 | 1.5 | 2,304 | fine |');
  });
});

const info: PageInfo = { title: 'Overview', about: ['s1', 'llama/run1'], context: ['Hosts host0'], link: 'http://127.0.0.1:1/s/abc/overview?q=<x>', savedAt: new Date(Date.UTC(2026, 10, 29, 12)) };
const page = `<div class="page" id="page"><h1>Overview</h1><section class="kpis"><a class="kpi" href="/s/abc/input"><div class="label">Step time</div><div class="kpi-value">21.3 ms</div><div class="kpi-note">10 steps</div></a></section>
  <ul><li><strong>Host copies.</strong> 96.5 % of time</li></ul><p>A <code>word</code>.</p><button class="button">Do it</button><label class="filter"><input type="search" value="x"></label>
  <dl><dt>Run</dt><dd>llama</dd></dl><div class="rows"></div><div data-chart="Step times"><svg width="10" height="10"><rect width="5" height="5"></rect></svg></div><table aria-label="Small"><thead><tr><th>A</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table></div>`;

describe('a whole page', () => {
  const prepared = () => {
    const root = elementOf(page);
    registerExportable(root.querySelector('.rows')!, () => ({ kind: 'table', table: { ...table, rows: Array.from({ length: 157 }, (_, i) => [`op ${i}`, i, null]) } }));
    return root;
  };
  it('is an HTML file with its tables written out, without controls, and forbids itself to fetch', async () => {
    const root = prepared();
    const before = root.outerHTML;
    const html = await pageHtml(root, info, 50);
    expect(root.outerHTML).toBe(before);
    const made = new DOMParser().parseFromString(html, 'text/html');
    expect(made.title).toBe('Overview - s1 - llama/run1 - Strobe');
    expect(made.querySelector('meta[http-equiv]')!.getAttribute('content')).toContain("default-src 'none'");
    expect(made.querySelectorAll('script, link, .button, input')).toHaveLength(0);
    expect(made.querySelector('.kpi-value')!.textContent).toBe('21.3 ms');
    expect(made.querySelectorAll('.rows tbody tr')).toHaveLength(50);
    expect(made.querySelector('.saved-rest')!.textContent).toBe('107 further rows are left out: the first 50 of 157 are here.');
    expect(made.querySelector('.saved-head a')!.getAttribute('href')).toBe(info.link);
    expect(made.querySelector('time')!.getAttribute('datetime')).toBe('2026-11-29T12:00:00.000Z');
    expect(made.querySelector('[data-chart] svg')).not.toBeNull();
  });
  it('is Markdown with title, link, figures and tables', () => {
    const text = pageMarkdown(prepared(), info);
    expect(text.startsWith('# Overview\n\ns1, llama/run1, Hosts host0  \n<http://127.0.0.1:1/s/abc/overview?q=<x>>')).toBe(true);
    expect(text).toContain('- **Step time**: 21.3 ms (10 steps)');
    expect(text).toContain('- Host copies. 96.5 % of time');
    expect(text).toContain('- Run: llama');
    expect(text).toContain('_Chart: Step times_');
    expect(text).toContain('| op 19 |');
    expect(text).not.toContain('| op 20 |');
    expect(text).toContain('137 further rows are left out');
    expect(text).toContain('| A |\n| ---: |\n| 1 |');
    expect(text).not.toContain('Do it');
    expect(text.match(/# Overview/g)).toHaveLength(1);
  });
  it('writes a table without rows as such', () => {
    expect(staticTable({ ...table, rows: [] }).textContent).toContain('This table has no rows.');
  });
  it('tells the time with its zone', () => {
    expect(savedWords(info.savedAt)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(UTC.*\)$/);
  });
});

describe('pictures', () => {
  it('take what is painted as elements', () => {
    const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
    const painter = svgPainter(group);
    painter.fillStyle = 'var(--x)';
    painter.fillRect(1, 2, 3, 4);
    painter.strokeStyle = 'inherit';
    painter.strokeRect(0, 0, 9, 9);
    expect([...group.children].map((one) => one.getAttribute('fill'))).toEqual(['var(--x)', 'none']);
    expect(group.children[0]!.getAttribute('height')).toBe('4');
  });
  it('hold no character that XML has no place for', () => {
    expect(xmlText('a\u0000b\u001fc\td\n')).toBe('a\ufffdb\ufffdc\td\n');
  });
});
