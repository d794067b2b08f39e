// What leaves the console: tables as CSV, JSON, Parquet and Markdown, charts as PNG and SVG, a page as one HTML file and as Markdown. Every
// kind is downloaded from real sessions and looked at by someone else: pyarrow, an XML parser, an image decoder, a browser without a network.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { corpus, ROOT, startBrowser, startServer, temporaryDirectory } from './harness.mjs';

const real = corpus();
const options = { skip: real ? false : 'the corpus of real profiles is absent' };
const python = path.join(ROOT, 'build/venv-test/bin/python');
let server;
let browser;
let sessions;
let folder;
let bench; // An empty page of no origin: what is parsed there meets no content policy of ours.

before(async () => {
  if (!real) return;
  folder = temporaryDirectory();
  server = await startServer({ roots: [path.join(real, 'sessions')] });
  browser = await startBrowser();
  ({ sessions } = await server.json('/api/v1/sessions?page_size=1000'));
  const first = await browser.open(server.url);
  bench = await first.context().newPage();
  await first.close();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function find(part) {
  const found = sessions.find((one) => `${one.run}/${one.path}`.includes(part));
  assert.ok(found, `no session of ${part}`);
  return found;
}

const quiet = (page) => page.waitForFunction(() => document.querySelector('#page') && !document.querySelector('.skeleton'));

async function open(session, where, more = {}) {
  const page = await browser.open(server.url, { address: session ? `/s/${session.id}/${where}` : where, ...more });
  page.setDefaultTimeout(60_000);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  await quiet(page);
  return page;
}

async function close(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors.filter((error) => !/Failed to load resource/.test(error)), []);
  await page.close();
}

// Does `action`, keeps what is downloaded, and says where.
async function download(page, action) {
  const [made] = await Promise.all([page.waitForEvent('download'), action()]);
  const file = path.join(folder, `${Math.random().toString(36).slice(2)}-${made.suggestedFilename()}`);
  await made.saveAs(file);
  return { file, name: made.suggestedFilename(), text: () => readFileSync(file, 'utf8') };
}

async function fromMenu(page, menu, item) {
  await menu.click();
  return download(page, () => page.getByRole('menuitem', { name: item }).click());
}

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

// The table of a Parquet file as pyarrow reads it, beside the same as CSV read by Python's own module.
const COMPARE = `
import csv, json, sys
import pyarrow.parquet
made = pyarrow.parquet.read_table(sys.argv[1])
rows = list(csv.reader(open(sys.argv[2], newline="", encoding="utf-8")))
columns = [made.column(at).to_pylist() for at in range(made.num_columns)]
different = []
for at, name in enumerate(rows[0]):
    for line, row in enumerate(rows[1:]):
        value = columns[at][line]
        same = (row[at] == "") if value is None else (row[at] == ("true" if value else "false")) if isinstance(value, bool) else float(row[at]) == value if isinstance(value, (int, float)) else row[at] == value
        if not same:
            different.append([name, line, row[at], repr(value)])
print(json.dumps({"names": made.column_names, "csv": rows[0], "rows": made.num_rows, "lines": len(rows) - 1, "types": [str(field.type) for field in made.schema], "different": different[:5]}))
`;

function compare(parquet, csv) {
  const said = JSON.parse(execFileSync(python, ['-c', COMPARE, parquet.file, csv.file], { encoding: 'utf8' }));
  assert.deepEqual(said.names, said.csv);
  assert.equal(said.rows, said.lines);
  assert.deepEqual(said.different, []);
  return said;
}

async function checkTable(page, menu, { least, number }) {
  assert.ok(existsSync(python), `${python} is missing; tests/python/setup_venv.sh makes it`);
  const csv = await fromMenu(page, menu, 'CSV');
  const lines = await fromMenu(page, menu, 'JSON, one row a line');
  const parquet = await fromMenu(page, menu, 'Parquet');
  assert.match(csv.name, /\.csv$/);
  assert.match(lines.name, /\.jsonl$/);
  assert.match(parquet.name, /\.parquet$/);
  const said = compare(parquet, csv);
  assert.ok(said.rows >= least, `${said.rows} rows`);
  assert.ok(said.types.includes(number), said.types.join());
  const rows = lines.text().trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(rows.length, said.rows);
  assert.deepEqual(Object.keys(rows[0]), said.names);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click();
  await page.waitForSelector('.toast:has-text("as Markdown copied")');
  const markdown = await clipboard(page);
  assert.match(markdown, /^\*\*.+\*\*\n\n\| .+ \|\n\| .*--- .*\|\n\| /);
  assert.ok(markdown.includes(page.url()));
  return { csv, parquet, said, markdown };
}

const exportOf = (page, panel) => page.locator(panel).getByRole('button', { name: 'Export this table' });

test('a table of a tool is the same as CSV, JSON, Parquet, and as the server has it', options, async () => {
  const session = find('tpu-v6e');
  const page = await open(session, 'hlo_stats');
  const { csv, said } = await checkTable(page, exportOf(page, '.data-panel'), { least: 10, number: 'double' });
  assert.match(csv.name, /^tpu-v6e-4-inference_.*hlo_stats.*\.csv$/);
  assert.ok(said.types.includes('int64'), 'counts are integers');
  // Filtered, sorted, with other columns: the file follows.
  // A long one: the whole of it, not what is in sight.
  await page.goto(`${server.url}/s/${find('gpu-v100').id}/framework_op_stats`);
  await quiet(page);
  await checkTable(page, exportOf(page, '.data-panel'), { least: 400, number: 'double' });
  await page.goto(`${server.url}/s/${session.id}/hlo_stats?cols=hlo_op_name,occurrences,total_self_time&sort=-occurrences&f=occurrences>2`);
  await quiet(page);
  const chosen = await checkTable(page, exportOf(page, '.data-panel'), { least: 2, number: 'int64' });
  assert.deepEqual(chosen.said.names, ['hlo_op_name', 'occurrences', 'total_self_time']);
  const counts = chosen.csv.text().trim().split('\n').slice(1).map((line) => Number(line.split(',').at(-2)));
  assert.ok(counts.every((count, i) => count > 1 && (i === 0 || counts[i - 1] >= count)));
  await close(page);
});

test('tables that only the page has are files too: folded, trees, lists', options, async () => {
  const page = await open(find('tpu-v6e'), 'hlo_stats?group=category');
  await checkTable(page, exportOf(page, '.data-panel'), { least: 3, number: 'int64' });
  await page.goto(`${server.url}/s/${find('tpu-v6e').id}/op_profile`);
  await quiet(page);
  await checkTable(page, exportOf(page, '.profile-panel'), { least: 2, number: 'double' });
  await page.goto(`${server.url}/s/${find('tpu-v6e').id}/overview`);
  await quiet(page);
  const top = await checkTable(page, exportOf(page, '.topops'), { least: 10, number: 'int64' });
  assert.ok(top.said.names.includes('self_ps'), 'exact times, not the rounded ones');
  await page.goto(`${server.url}/s/${find('tpu-v6e').id}/files`);
  await quiet(page);
  await checkTable(page, exportOf(page, '.panel:has(table[aria-label="Hosts"])'), { least: 1, number: 'int64' });
  await page.goto(server.url);
  await page.waitForSelector('table[aria-label="Sessions"] .session-name');
  await checkTable(page, exportOf(page, '.page'), { least: 5, number: 'int64' });
  await close(page);
});

// Width, height, number of colours and whether some of them are there, of a PNG by the browser's own decoder.
function decode(bytes, colours = []) {
  return bench.evaluate(
    async ([data, wanted]) => {
      const raw = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([raw], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const context = canvas.getContext('2d');
      context.drawImage(bitmap, 0, 0);
      const { data: dots } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const counts = new Map();
      for (let i = 0; i < dots.length; i += 4) {
        const colour = (dots[i] << 16) | (dots[i + 1] << 8) | dots[i + 2];
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
      }
      const ground = Math.max(...counts.values());
      return { width: bitmap.width, height: bitmap.height, colours: counts.size, drawn: 1 - ground / (dots.length / 4), found: wanted.map((colour) => counts.get(colour) ?? 0) };
    },
    [bytes.toString('base64'), colours],
  );
}

function parseSvg(text) {
  return bench.evaluate((source) => {
    const made = new DOMParser().parseFromString(source, 'image/svg+xml');
    const root = made.documentElement;
    return {
      error: made.querySelector('parsererror')?.textContent ?? null,
      width: Number(root.getAttribute('width')),
      height: Number(root.getAttribute('height')),
      shapes: made.querySelectorAll('rect, path, circle, line').length,
      words: [...made.querySelectorAll('text')].map((one) => one.textContent).join(' '),
      classes: made.querySelectorAll('[class]').length,
      fonts: (made.querySelector('style')?.textContent.match(/@font-face/g) ?? []).length,
      images: [...made.querySelectorAll('image')].map((one) => one.getAttribute('href').slice(0, 15)),
    };
  }, text);
}

async function checkChart(page, title) {
  const frame = page.locator(`[data-chart="${title}"]`).first();
  await frame.scrollIntoViewIfNeeded();
  const menu = page.getByRole('button', { name: `Export ${title}` }).first();
  const svg = await fromMenu(page, menu, 'SVG');
  const text = svg.text();
  const parsed = await parseSvg(text);
  assert.equal(parsed.error, null, title);
  assert.equal(parsed.classes, 0, 'no class that a style sheet would have to explain');
  assert.ok(!/var\(--/.test(text), 'every colour is spelled');
  assert.ok(!/https?:\/\/(?!www\.w3\.org)/.test(text), 'nothing to fetch');
  assert.ok(parsed.fonts >= 1, 'the letters come along');
  assert.ok(parsed.shapes > 3, `${title}: ${parsed.shapes} shapes`);
  assert.ok(parsed.words.startsWith(title), parsed.words);
  const box = await frame.boundingBox();
  assert.ok(Math.abs(parsed.width - box.width - 24) <= 2, `${parsed.width} for ${box.width}`);
  const png = await fromMenu(page, menu, 'PNG');
  assert.equal(png.name.replace(/png$/, 'svg'), svg.name);
  const picture = await decode(readFileSync(png.file));
  assert.deepEqual([picture.width, picture.height], [parsed.width * 2, parsed.height * 2], title);
  assert.ok(picture.drawn > 0.01 && picture.colours > 20, `${title} is blank: ${JSON.stringify(picture)}`);
  return { svg, png, parsed, picture };
}

async function copyData(page, title) {
  await page.getByRole('button', { name: `Export ${title}` }).first().click();
  await page.getByRole('menuitem', { name: 'Copy data as Markdown' }).click();
  await page.waitForSelector('.toast:has-text("as Markdown copied")');
  return clipboard(page);
}

const CHARTS = [
  ['gpu-v100', 'overview', ['Step times', 'Devices busy']],
  ['gpu-v100', 'input', ['Step times']],
  ['gpu-mi300-attention', 'roofline', ['Roofline']],
  ['gpu-mi300-attention', 'hlo_stats', ['Self time by category']],
  ['tpu-v6e', 'memory_profile', ['Memory in use']],
  ['tpu-v6e', 'memory_viewer', ['Heap size', 'Buffers at the peak', 'Blocks of buffers in memory']],
];
for (const [part, where, titles] of CHARTS) {
  test(`charts of ${where} of ${part} are pictures that need nothing else`, options, async () => {
    const page = await open(find(part), where);
    for (const title of titles) {
      await page.waitForSelector(`[data-chart="${title}"]`);
      const { svg } = await checkChart(page, title);
      assert.match(svg.name, /^[\w.-]+_[\w.-]+\.svg$/);
      const data = await copyData(page, title);
      assert.match(data, /\| .*---.* \|\n\| /);
    }
    await close(page);
  });
}

test('a chart looks outside as it does inside', options, async () => {
  const page = await open(find('gpu-mi300-attention'), 'roofline', { colorScheme: 'dark' });
  await page.waitForSelector('[data-chart="Roofline"]');
  const { svg, png } = await checkChart(page, 'Roofline');
  const outside = await page.context().newPage();
  await outside.setViewportSize({ width: 1280, height: 700 });
  await outside.goto(pathToFileURL(svg.file).href);
  const { width, height } = await outside.evaluate(() => ({ width: document.documentElement.width.baseVal.value, height: document.documentElement.height.baseVal.value }));
  const alone = await outside.screenshot({ clip: { x: 0, y: 0, width, height } });
  const inside = await page.locator('[data-chart="Roofline"]').screenshot();
  // The same dots but for the heading above and the menu: counted where the plot is.
  const share = await bench.evaluate(async ([a, b]) => {
    const read = async (data) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext('2d').drawImage(bitmap, 0, 0);
      return canvas.getContext('2d').getImageData(0, 0, bitmap.width, bitmap.height);
    };
    const [own, other] = [await read(a), await read(b)];
    let same = 0;
    let all = 0;
    for (let y = 40; y < own.height - 40; y++) {
      for (let x = 20; x < own.width - 20; x++) {
        const at = (y * own.width + x) * 4;
        const there = ((y + 48) * other.width + x + 12) * 4;
        all++;
        if ([0, 1, 2].every((i) => Math.abs(own.data[at + i] - other.data[there + i]) <= 24)) same++;
      }
    }
    return same / all;
  }, [inside.toString('base64'), alone.toString('base64')]);
  assert.ok(share > 0.97, `${share} of the dots are the same`);
  assert.ok((await decode(readFileSync(png.file), [0x161a21])).found[0] > 1000, 'the dark ground');
  await outside.close();
  await close(page);
});

// Opens a saved page from the disk in a browser that reaches nothing, and notes whatever it asks for.
async function openSaved(page, file) {
  const saved = await page.context().newPage();
  const asked = [];
  const errors = [];
  saved.on('request', (request) => asked.push(request.url()));
  saved.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  saved.on('pageerror', (error) => errors.push(String(error)));
  await saved.route('**/*', (route) => (route.request().url().startsWith('file:') ? route.continue() : route.abort()));
  await saved.setViewportSize({ width: 1280, height: 800 });
  const address = pathToFileURL(file).href;
  await saved.goto(address);
  await saved.evaluate(() => document.fonts.ready);
  assert.deepEqual(asked.filter((url) => url !== address && !url.startsWith('data:')), []);
  assert.deepEqual(errors, []);
  assert.equal(await saved.locator('script').count(), 0);
  return saved;
}

test('the overview is one file that opens without a server and has the same figures', options, async () => {
  const session = find('tpu-v6e');
  const page = await open(session, 'overview', { colorScheme: 'dark' });
  await page.waitForSelector('.findings li');
  const figures = await page.locator('.kpis.figures').innerText();
  const findings = await page.locator('.findings').innerText();
  const rows = await page.locator('.topops tbody tr').count();
  const made = await download(page, () => page.keyboard.press('E'));
  assert.match(made.name, /_Overview\.html$/);
  const saved = await openSaved(page, made.file);
  assert.equal(await saved.locator('.kpis.figures').innerText(), figures);
  assert.match(figures, /86\.5/);
  assert.equal(await saved.locator('.findings').innerText(), findings);
  assert.equal(await saved.locator('.topops tbody tr').count(), rows);
  assert.equal(await saved.locator('html').getAttribute('data-theme'), 'dark');
  assert.equal(await saved.evaluate(() => getComputedStyle(document.body).backgroundColor), await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
  assert.ok(await saved.evaluate(() => document.fonts.check('13px Inter')), 'its own letters');
  assert.equal(await saved.locator('.saved-head a').getAttribute('href'), page.url());
  assert.match(await saved.locator('.saved-head').innerText(), /Saved \d{4}-\d\d-\d\d/);
  assert.match(await saved.title(), /^Overview - /);
  assert.equal(await saved.locator('.button').count(), 0);
  assert.ok(await saved.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'nothing is cut off sideways');
  await saved.close();
  await close(page);
});

test('long tables are written out, and what is left out is said', options, async () => {
  const page = await open(find('gpu-v100'), 'framework_op_stats');
  const all = Number((await page.locator('.data-view').getAttribute('aria-rowcount'))) - 1;
  await page.getByRole('button', { name: 'Export this page' }).click();
  const made = await download(page, () => page.getByRole('menuitem', { name: 'Save page as HTML' }).click());
  const saved = await openSaved(page, made.file);
  const written = await saved.locator('.saved-table tbody tr').count();
  assert.equal(written, Math.min(all, 2000));
  assert.ok(written > 100, 'more than what is in sight');
  assert.ok((await page.locator('.data-body .data-row').count()) < written, 'which the page itself does not hold');
  const seen = await page.locator('.data-body .data-row').first().locator('.data-cell').allInnerTexts();
  const kept = await saved.locator('.saved-table tbody tr').first().locator('td').allInnerTexts();
  const bare = (texts) => texts.map((text) => text.replace(/\s/g, ''));
  assert.deepEqual(bare(kept), bare(seen));
  await saved.close();
  await page.keyboard.press('M');
  await page.waitForSelector('.toast:has-text("as Markdown copied")');
  assert.match(await clipboard(page), new RegExp(`\\n${all - 20} further rows are left out: the first 20 of ${all} are here`));
  await close(page);
});

test('pages with charts, trees, texts and the timeline are files too', options, async () => {
  for (const [part, where, check] of [
    ['gpu-mi300-attention', 'roofline', '[data-chart] svg circle'],
    ['tpu-v6e', 'op_profile', '.saved-table tbody tr'],
    ['tpu-v6e', 'memory_viewer', '[data-chart="Blocks of buffers in memory"] svg rect'],
    ['tpu-v6e', 'timeline', 'img[src^="data:image/png"]'],
  ]) {
    const page = await open(find(part), where);
    if (where === 'timeline') await page.waitForSelector('[data-testid=timeline][data-ready=true]');
    else await page.waitForSelector('.panel');
    if (where === 'memory_viewer') await page.waitForSelector('[data-chart="Blocks of buffers in memory"]');
    const made = await download(page, () => page.keyboard.press('E'));
    const saved = await openSaved(page, made.file);
    assert.ok((await saved.locator(check).count()) > 0, where);
    await saved.close();
    await close(page);
  }
});

test('the timeline is a picture too, and not an empty one', options, async () => {
  const page = await open(find('gpu-mi300-attention'), 'timeline');
  await page.waitForSelector('[data-testid=timeline][data-ready=true]');
  const menu = page.getByRole('button', { name: 'Export', exact: true });
  const png = await fromMenu(page, menu, 'PNG');
  const picture = await decode(readFileSync(png.file));
  assert.ok(picture.colours > 50 && picture.drawn > 0.02, JSON.stringify(picture));
  await close(page);
});

test('a page is Markdown for a chat: title, link, figures, tables', options, async () => {
  const session = find('tpu-v6e');
  const page = await open(session, 'overview');
  await page.waitForSelector('.findings li');
  await page.keyboard.press('M');
  await page.waitForSelector('.toast:has-text("as Markdown copied")');
  const text = await clipboard(page);
  assert.match(text, /^# Overview\n\n.+  \n<http:\/\/127\.0\.0\.1:\d+\/s\/\w+\/overview>  \nSaved /);
  assert.match(text, /- \*\*Duty cycle\*\*: 86\.5 %/);
  assert.match(text, /96\.5 % of device op time .*\[These ops\]\(http:\/\/127\.0\.0\.1/);
  assert.match(text, /## Top operations\n/);
  assert.match(text, /\| Operation \| Category \|/);
  // From the palette too.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('markdown');
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.keyboard.press('Enter');
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('# Overview'));
  await close(page);
});
