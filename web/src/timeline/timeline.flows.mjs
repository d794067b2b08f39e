// Drives the built timeline in Chromium and compares the canvas with what the data says must be there.
//   npm run build && node --test src/timeline/timeline.flows.mjs
// Against the mock server, or against STROBE_URL=http://127.0.0.1:8080 (with STROBE_SESSION=<id>).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const tokens = JSON.parse(readFileSync(new URL('../theme/tokens.json', import.meta.url), 'utf8'));
const session = process.env.STROBE_SESSION ?? 'k3v0w9m2c4000';
const profileDir = mkdtempSync(join(tmpdir(), 'strobe-timeline-'));
const BODY = '[data-testid=timeline-body]';
let base = process.env.STROBE_URL;
let mock;
let browser;

before(async () => {
  if (!base) {
    const path = fileURLToPath(new URL('../../dev/mock-server.mjs', import.meta.url));
    mock = spawn(process.execPath, [path, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    base = await new Promise((resolve, reject) => {
      mock.on('error', reject);
      mock.stdout.on('data', (chunk) => {
        const found = /mock at (\S+)/.exec(String(chunk));
        if (found) resolve(found[1].replace(/\/$/, ''));
      });
    });
  }
  browser = await chromium.launchPersistentContext(profileDir, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, viewport: { width: 1280, height: 800 },
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
  browser.setDefaultTimeout(20_000);
});
after(async () => {
  await browser?.close();
  mock?.kill();
  rmSync(profileDir, { recursive: true, force: true });
});

async function open(search = '', scheme = 'light') {
  const page = await browser.newPage();
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto(`${base}/s/${session}/timeline${search}`);
  await ready(page);
  return page;
}

const ready = (page) => page.waitForSelector('[data-testid=timeline][data-ready=true]');
const hook = (page, read) => page.evaluate(read);
const rects = (page) => hook(page, () => window.__strobeTimeline.rects);
const view = (page) => hook(page, () => window.__strobeTimeline.view);

/** Waits until the view rests and the address holds it. */
async function settled(page) {
  await page.waitForFunction(() => window.__strobeTimeline?.settled && new URLSearchParams(location.search).has('v'));
  await page.waitForFunction(() => {
    const now = JSON.stringify(window.__strobeTimeline.view) + location.search;
    const same = window.__lastSeen === now;
    window.__lastSeen = now;
    return same;
  }, null, { polling: 320 });
  await ready(page);
}

async function pixelsOf(page) {
  const png = (await page.locator(BODY).screenshot()).toString('base64');
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { width, height, data: bytes } = context.getImageData(0, 0, image.width, image.height);
    return { width, height, bytes: Array.from(bytes) };
  }, png);
}

const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
const mix = (over, under, share) => over.map((value, i) => Math.round(under[i] + (value - under[i]) * share));
const near = (a, b, slack) => a.every((value, i) => Math.abs(value - b[i]) <= slack);

function pixel(image, x, y) {
  const at = (Math.floor(y) * image.width + Math.floor(x)) * 4;
  return image.bytes.slice(at, at + 3);
}

async function derivedLines(page) {
  const answer = await page.evaluate(async (id) => (await fetch(`/api/v1/sessions/${id}/lines`)).json(), session);
  return new Set(answer.hosts.flatMap((host) => host.planes).flatMap((plane) => plane.lines).filter((line) => line.derived).map((line) => line.id));
}

for (const [search, renderer] of [['', 'webgl2'], ['renderer=2d&', '2d']]) {
  for (const scheme of ['light', 'dark']) {
    test(`${renderer}, ${scheme}: bars have their category's colour where the data puts them, and gaps are empty`, async () => {
      const page = await open(`?${search}v=45.4ms,6ms`, scheme);
      assert.equal(await page.getAttribute('[data-testid=timeline]', 'data-renderer'), renderer);
      const derived = await derivedLines(page);
      const image = await pixelsOf(page);
      const drawn = await rects(page);
      const surface = rgb(tokens.themes[scheme].surface);
      let checked = 0;
      for (const rect of drawn) {
        const right = Math.min(rect.x1, image.width);
        const wide = right - Math.max(0, rect.x0) >= 14;
        if (!wide || rect.count > 1 || rect.y < 0 || rect.y + rect.height > image.height) continue;
        const fill = mix(rgb(tokens.categories[rect.category].fill), surface, derived.has(rect.lineId) ? 0.6 : 1);
        const seen = pixel(image, right - 5, rect.y + 2);
        assert.ok(near(seen, fill, 4), `${rect.name} of ${rect.lineId} at ${right - 5},${rect.y + 2}: ${seen} is not ${fill}`);
        ++checked;
      }
      assert.ok(checked > 30, `only ${checked} bars were wide enough`);
      // Between two bars of a row that are far apart lies the lane and nothing else.
      let gaps = 0;
      const byRow = new Map();
      for (const rect of drawn) {
        if (rect.y <= 0 || rect.y + 20 >= image.height) continue;
        const key = `${rect.trackId}/${rect.row}`;
        byRow.set(key, [...(byRow.get(key) ?? []), rect]);
      }
      for (const row of byRow.values()) {
        row.sort((a, b) => a.x0 - b.x0);
        row.slice(1).forEach((rect, i) => {
          const from = row[i].x1;
          if (rect.x0 - from < 24) return;
          const colours = [6, 9, 13, 16].map((dx) => pixel(image, from + dx, rect.y + 2));
          assert.ok(colours.filter((colour) => near(colour, surface, 4)).length >= 3, `gap after ${row[i].name}: ${colours}`);
          ++gaps;
        });
      }
      assert.ok(gaps > 5, `only ${gaps} gaps`);
      await page.close();
    });
  }
}

test('zooming at the pointer keeps the time under it, and a reload gives the same picture within a pixel', async () => {
  const page = await open();
  const box = await page.locator(BODY).boundingBox();
  await page.mouse.move(box.x + 417, box.y + 60);
  const under = (at) => at.startPs + at.fractionPs + (417 / box.width) * at.durationPs;
  const first = await view(page);
  await page.keyboard.down('Control');
  for (let i = 0; i < 22; ++i) await page.mouse.wheel(0, -240);
  await page.keyboard.up('Control');
  await settled(page);
  const deep = await view(page);
  assert.ok(deep.durationPs < first.durationPs / 1e4);
  assert.ok(Math.abs(under(deep) - under(first)) < first.durationPs / box.width / 50);
  const before = await rects(page);
  await page.reload();
  await settled(page);
  const again = await rects(page);
  assert.equal(again.length, before.length);
  before.forEach((rect, i) => {
    assert.ok(Math.abs(rect.x0 - again[i].x0) < 1 && Math.abs(rect.x1 - again[i].x1) < 1 && rect.y === again[i].y, rect.name);
  });
  await page.close();
});

test('panning stops at the ends, and a view without events leads to the nearest one', async () => {
  const page = await open();
  const window_ = await hook(page, () => window.__strobeTimeline.window);
  await page.locator(BODY).focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press('Shift+A');
  await settled(page);
  assert.ok((await view(page)).startPs >= window_.startPs - (await view(page)).durationPs * 0.021);
  await page.goto(`${base}/s/${session}/timeline?v=0,3ns`);
  await page.waitForSelector('[data-testid=timeline-no-events]');
  await page.getByRole('button', { name: 'Nearest event after' }).click();
  await page.waitForSelector('[data-testid=timeline-details]');
  await page.waitForSelector('[data-testid=timeline-no-events]', { state: 'detached' });
  await page.close();
});

test('a click tells all about an event, and the mirror says it', async () => {
  const page = await open('?v=45.4ms,6ms');
  const box = await page.locator(BODY).boundingBox();
  const rect = (await rects(page)).find((one) => one.x1 - one.x0 > 20 && one.x0 > 0 && one.y > 40 && one.y < 250 && one.row > 0);
  await page.mouse.click(box.x + (rect.x0 + rect.x1) / 2, box.y + rect.y + 8);
  await page.getByTestId('timeline-details').getByRole('heading', { name: rect.name }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('sel'), `${rect.lineId}.${rect.event}`);
  await page.waitForFunction((name) => document.querySelector('[data-testid=timeline-mirror]').textContent.includes(name), rect.name);
  await page.locator('[data-testid=timeline-details] td').first().waitFor();
  await page.keyboard.press('f');
  await settled(page);
  // A tile's units are a few picoseconds at this zoom.
  assert.ok(Math.abs((await view(page)).durationPs - Math.ceil((rect.endPs - rect.startPs) * 1.2)) <= 24);
  await page.keyboard.press('Escape');
  await page.waitForSelector('[data-testid=timeline-details]', { state: 'detached' });
  await page.close();
});

test('search counts, dims the rest, and steps through hits', async () => {
  const page = await open();
  await page.keyboard.press('/');
  await page.keyboard.type('fusion');
  await page.waitForFunction(() => /hits? in/.test(document.querySelector('[data-testid=timeline-hits]')?.textContent ?? ''));
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /^\d+ of /.test(document.querySelector('[data-testid=timeline-hits]').textContent));
  const first = await hook(page, () => window.__strobeTimeline.selection);
  await page.locator(BODY).focus();
  await page.keyboard.press('n');
  await page.waitForFunction((old) => window.__strobeTimeline.selection !== old, first);
  await page.keyboard.press('N');
  await page.waitForFunction((old) => window.__strobeTimeline.selection === old, first);
  await page.close();
});

test('a lost GPU context is replaced by the 2-D canvas with the same bars', async () => {
  const page = await open('?v=45.4ms,6ms');
  const before = await rects(page);
  await page.evaluate(() => document.querySelector('canvas.tl-bars').getContext('webgl2').getExtension('WEBGL_lose_context').loseContext());
  await page.waitForSelector('[data-renderer="2d"]');
  assert.deepEqual(await rects(page), before);
  await page.close();
});

test('tiles that do not come are drawn as not loaded, said, and come by themselves once the server answers', async () => {
  const page = await browser.newPage();
  await page.route('**/tiles/**', (route) => route.abort());
  await page.goto(`${base}/s/${session}/timeline?v=45.4ms,6ms`);
  await page.getByRole('button', { name: /not loaded/ }).waitFor();
  assert.equal((await rects(page)).length, 0);
  assert.equal(await page.getByTestId('timeline-no-events').count(), 0, 'a view that is not loaded is not called empty');
  await page.unroute('**/tiles/**');
  await ready(page);
  assert.ok((await rects(page)).length > 0);
  await page.close();
});
