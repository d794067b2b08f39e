// The component gallery: every part in every state and theme looks as its stored picture, and no production build has it.
//
// Stored pictures are a quarter of the size, so that fonts' edges do not matter; a part differs when more than DIFFERING_SHARE of its
// pixels differ by more than CHANNEL_SLACK. `STROBE_RENEW_PICTURES=1 node --test tests/browser/gallery.check.mjs` stores what is seen
// now (only pictures that differ are written); look at them before you commit.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { seriousFindings } from './axe.mjs';
import { serveFolder } from './built_console.mjs';
import { ROOT, startBrowser } from './harness.mjs';
import { coarse, difference, readPng, shrink, writePng } from './png.mjs';

const THEMES = ['light', 'dark', 'contrast'];
const LAYERS = ['dialog', 'confirm', 'toast'];
const STORED = path.join(ROOT, 'tests/browser/pictures');
const SHRINK = 4;
const STEP = 16; // Colours are stored as multiples of it: a third of the bytes.
const CHANNEL_SLACK = 40; // Of 255: two such steps and what another version of the font library makes of an edge.
const DIFFERING_SHARE = 0.004;
const MOST_STORED_BYTES = 1_000_000;
const RENEW = process.env.STROBE_RENEW_PICTURES === '1';
const SEEN = path.join(ROOT, 'build/test-logs/pictures'); // What differed, to look at.

let site;
let browser;
before(async () => {
  site = await serveFolder(path.join(ROOT, 'build/console-gallery'));
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await site?.stop();
});

async function openGallery(theme) {
  const page = await browser.open(site.url, { address: '/gallery', width: 1900, height: 1000, prepare: (one) => one.addInitScript((choice) => localStorage.setItem('strobe.theme', choice), theme) });
  await page.waitForSelector('[data-picture]');
  await page.evaluate(() => document.fonts.ready);
  // Charts measure their box before they draw into it.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return page;
}

async function close(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors, []);
  await page.close();
}

// Lays the page out at its full height, with the pointer and the focus nowhere, and says where each box is.
async function boxesOf(page) {
  await page.mouse.move(0, 0);
  return page.evaluate(() => {
    document.activeElement?.blur();
    const gallery = document.querySelector('.gallery');
    gallery.style.height = 'auto';
    gallery.style.overflow = 'visible';
    for (const one of document.querySelectorAll('html, body, #root')) one.style.height = 'auto';
    document.querySelector('.gallery > header').style.position = 'static';
    return [...document.querySelectorAll('[data-picture]')].map((one) => {
      const box = one.getBoundingClientRect();
      return { name: one.dataset.picture.replaceAll(' ', '-'), x: Math.round(box.x + scrollX), y: Math.round(box.y + scrollY), width: Math.floor(box.width), height: Math.floor(box.height) };
    });
  });
}

// One picture of the whole page, cut into its boxes: a screenshot for each box would take minutes.
async function picturesOf(page) {
  const boxes = await boxesOf(page);
  const whole = readPng(await page.screenshot({ fullPage: true }));
  return new Map(boxes.map((box) => [box.name, small(cut(whole, box))]));
}

function cut({ width, rgb }, box) {
  const out = new Uint8Array(box.width * box.height * 3);
  for (let y = 0; y < box.height; ++y) out.set(rgb.subarray(((box.y + y) * width + box.x) * 3, ((box.y + y) * width + box.x + box.width) * 3), y * box.width * 3);
  return { width: box.width, height: box.height, rgb: out };
}

async function layersOf(page) {
  const pictures = new Map();
  for (const layer of LAYERS) {
    await page.click(`[data-layer=${layer}]`);
    const shown = page.locator(layer === 'toast' ? '.toast' : '[role=dialog]');
    await shown.waitFor();
    pictures.set(`Layers.${layer}`, small(readPng(await shown.screenshot())));
    if (layer !== 'toast') await page.keyboard.press('Escape');
  }
  await page.click('[aria-label="Close this message"]');
  await page.getByRole('button', { name: /an example of a menu/ }).click();
  const menu = page.getByRole('menu');
  await menu.waitFor();
  pictures.set('Menu.open', small(readPng(await menu.screenshot())));
  await page.keyboard.press('Escape');
  return pictures;
}

const small = (image) => coarse(shrink(image, SHRINK), STEP);
const stored = (theme) => path.join(STORED, theme);
const differs = (seen, wanted) => difference(seen, wanted, CHANNEL_SLACK) > DIFFERING_SHARE;

function readStored(theme) {
  if (!existsSync(stored(theme))) return new Map();
  return new Map(readdirSync(stored(theme)).filter((name) => name.endsWith('.png')).map((name) => [name.slice(0, -4), readPng(readFileSync(path.join(stored(theme), name)))]));
}

function renew(theme, seen, wanted) {
  mkdirSync(stored(theme), { recursive: true });
  for (const name of wanted.keys()) if (!seen.has(name)) rmSync(path.join(stored(theme), `${name}.png`));
  for (const [name, picture] of seen) if (!wanted.has(name) || differs(picture, wanted.get(name))) writeFileSync(path.join(stored(theme), `${name}.png`), writePng(picture));
}

function keepForTheEye(theme, names, seen) {
  mkdirSync(path.join(SEEN, theme), { recursive: true });
  for (const name of names) if (seen.has(name)) writeFileSync(path.join(SEEN, theme, `${name}.png`), writePng(seen.get(name)));
}

for (const theme of THEMES) {
  // acceptance: W12
  test(`every part in every state looks as its stored picture, ${theme}`, async () => {
    const page = await openGallery(theme);
    const layers = await layersOf(page);
    const seen = new Map([...(await picturesOf(page)), ...layers]);
    await close(page);
    const wanted = readStored(theme);
    if (RENEW) return renew(theme, seen, wanted);
    const changed = [...seen].filter(([name, picture]) => !wanted.has(name) || differs(picture, wanted.get(name))).map(([name]) => name);
    keepForTheEye(theme, changed, seen);
    assert.deepEqual(changed, [], `these look different now; see build/test-logs/pictures/${theme} beside tests/browser/pictures/${theme}`);
    assert.deepEqual([...wanted.keys()].filter((name) => !seen.has(name)), [], 'stored pictures of parts that are gone');
  });
}

test('a change that one can see is found, and only where it is', async () => {
  const before = readStored('light');
  // Each: what is done to the page, a picture that must differ by it, and one that must not.
  const changes = [
    ['the colour of an error', ':root { --crit: #0B6E8F !important; }', 'ErrorNotice.with-retry', 'StaleBanner.stale'],
    ['Retry is gone', '.notice.error .button { visibility: hidden; }', 'DataTable.error', 'DataTable.whole'],
    ['a loss has no mark any more', '.notice.lossy { border-left-color: var(--control); } .notice.lossy > .icon { color: var(--control); }', 'NoticeLine.loss', 'NoticeLine.note'],
    ['rows are higher', '.data-row { height: 32px; }', 'DataTable.whole', 'Histogram.whole'],
    ['labels are larger', '.chart .axis { font-size: 16px; }', 'StackedBars.whole', 'Treemap.whole'],
    ['bars are in the colour of another category', ':root { --fill-matmul: #DAAD17; }', 'StackedBars.whole', 'FactList.whole'],
    ['progress is not drawn', '.progress > div { background: transparent; }', 'LoadBanner.reading', 'StaleBanner.stale'],
  ];
  for (const [what, css, touched, untouched] of changes) {
    const page = await openGallery('light');
    // As a part of the built style sheet would: the content policy allows no inline style.
    await page.evaluate((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    }, css);
    const boxes = await boxesOf(page);
    const seen = async (name) => {
      const { x, y, width, height } = boxes.find((box) => box.name === name);
      return small(readPng(await page.screenshot({ fullPage: true, clip: { x, y, width, height } })));
    };
    assert.ok(before.has(touched) && before.has(untouched), what);
    const share = difference(await seen(touched), before.get(touched), CHANNEL_SLACK);
    assert.ok(share > DIFFERING_SHARE, `${what}: ${share} of ${touched} differs, not seen`);
    assert.ok(!differs(await seen(untouched), before.get(untouched)), `${what}: ${untouched} changed too`);
    await page.close();
  }
});

test('stored pictures are few bytes', () => {
  const bytes = THEMES.flatMap((theme) => readdirSync(stored(theme)).map((name) => statSync(path.join(stored(theme), name)).size)).reduce((a, b) => a + b, 0);
  assert.ok(bytes < MOST_STORED_BYTES, `${bytes} B`);
});

test('axe has no serious finding in the gallery, in any theme', async () => {
  const found = [];
  for (const theme of THEMES) {
    const page = await openGallery(theme);
    found.push(...(await seriousFindings(page, theme)));
    await close(page);
  }
  assert.deepEqual(found, []);
});

test('a production build has no gallery: no chunk, no word of it, and its address leads nowhere', async () => {
  const words = (folder) => readdirSync(path.join(ROOT, folder, 'assets')).filter((name) => /\.(js|css)$/.test(name) && (/gallery/i.test(name) || /gallery-(cell|picture)|data-picture/.test(readFileSync(path.join(ROOT, folder, 'assets', name), 'utf8'))));
  assert.ok(words('build/console-gallery').length > 0, 'the search finds it where it is');
  assert.deepEqual(words('build/console'), []);
  const production = await serveFolder(path.join(ROOT, 'build/console'));
  try {
    const page = await browser.open(production.url, { address: '/gallery' });
    await page.getByText('There is no such page').waitFor();
    await page.close();
  } finally {
    await production.stop();
  }
});
