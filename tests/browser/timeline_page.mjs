// Steps that the timeline's browser tests share: open a session's timeline, wait until it rests, and compare the picture with the data.

import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT, samples, startBrowser, startServer, temporaryDirectory } from './harness.mjs';

export const BODY = '[data-testid=timeline-body]';
const tokens = JSON.parse(readFileSync(path.join(ROOT, 'web/src/theme/tokens.json'), 'utf8'));

// A server on the samples, `more` roots and a folder that `make` functions fill, and a browser. Files just made are served once they have settled.
export async function startOnMade(make, more = []) {
  const made = temporaryDirectory();
  for (const fill of make) fill(made);
  const server = await startServer({ roots: [samples(), made, ...more] });
  const browser = await startBrowser();
  while ((await server.json('/api/v1/sessions?page_size=1000')).sessions.some((one) => one.state === 'writing')) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const stop = async () => {
    await browser.stop();
    await server.stop();
    rmSync(made, { recursive: true, force: true });
  };
  return { server, browser, made, stop };
}

export const ready = (page) => page.waitForSelector('[data-testid=timeline][data-ready=true]', { timeout: 60_000 });
export const view = (page) => page.evaluate(() => window.__strobeTimeline.view);
export const rects = (page) => page.evaluate(() => window.__strobeTimeline.rects);
export const tracks = (page) => page.evaluate(() => window.__strobeTimeline.tracks);
export const key = (page, name) => page.evaluate((wanted) => new URLSearchParams(location.search).get(wanted), name);
export const untilKey = (page, name, value) =>
  page.waitForFunction(({ wanted, expected }) => {
    const found = new URLSearchParams(location.search).get(wanted);
    return expected === undefined ? found !== null : found === expected;
  }, { wanted: name, expected: value });

export async function sessionOf(server, run, name) {
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  const found = sessions.find((one) => one.run === run && (name === undefined || one.name === name));
  assert.ok(found, `no session of run ${run} ${name ?? ''}`);
  return found;
}

export async function openTimeline(browser, server, session, more = '', options = {}) {
  const page = await browser.open(server.url, { address: `/s/${session.id}/timeline${more}`, width: 1600, height: 1000, ...options });
  await ready(page);
  return page;
}

export async function close(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors, []);
  await page.close();
}

// Until the view rests, everything of it is drawn from its own tiles, and the address no longer changes.
export async function settled(page) {
  await page.waitForFunction(() => window.__strobeTimeline?.settled);
  await page.waitForFunction(() => {
    const now = JSON.stringify(window.__strobeTimeline.view) + location.search;
    const same = window.__lastSeen === now;
    window.__lastSeen = now;
    return same;
  }, null, { polling: 320 });
  await ready(page);
}

export async function pixelsOf(page, selector = BODY) {
  const png = (await page.locator(selector).screenshot()).toString('base64');
  const found = await page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { width, height, data: bytes } = context.getImageData(0, 0, image.width, image.height);
    const reader = new FileReader();
    await new Promise((resolve) => {
      reader.onload = resolve;
      reader.readAsDataURL(new Blob([bytes]));
    });
    return { width, height, text: reader.result.slice(reader.result.indexOf(',') + 1) };
  }, png);
  return { width: found.width, height: found.height, bytes: Buffer.from(found.text, 'base64') };
}

export const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
export const mix = (over, under, share) => over.map((value, i) => Math.round(under[i] + (value - under[i]) * share));
export const near = (a, b, slack) => a.every((value, i) => Math.abs(value - b[i]) <= slack);
export const themeColour = (scheme, name) => rgb(tokens.themes[scheme][name]);

export function pixel(image, x, y) {
  const at = (Math.floor(y) * image.width + Math.floor(x)) * 4;
  return [...image.bytes.subarray(at, at + 3)];
}

// Every wide bar on screen has the fill of its category where the data puts it, and the lane between two bars is empty. Returns how many of
// each were looked at.
export async function comparePicture(page, lines, scheme) {
  const derived = new Set(lines.hosts.flatMap((host) => host.planes).flatMap((plane) => plane.lines).filter((line) => line.derived).map((line) => line.id));
  const image = await pixelsOf(page);
  const all = await tracks(page);
  const planes = new Set(all.filter((track) => track.kind !== 'line').map((track) => track.id));
  const drawn = (await rects(page)).filter((rect) => !planes.has(rect.trackId) && rect.y > 0 && rect.y + rect.height < image.height);
  const surface = themeColour(scheme, 'surface');
  let bars = 0;
  for (const rect of drawn) {
    const right = Math.min(rect.x1, image.width);
    if (right - Math.max(0, rect.x0) < 14 || rect.count > 1) continue;
    const fill = mix(rgb(tokens.categories[rect.category].fill), surface, derived.has(rect.lineId) ? 0.6 : 1);
    const seen = pixel(image, right - 5, rect.y + 2);
    assert.ok(near(seen, fill, 4), `${rect.name} of ${rect.lineId} at ${right - 5},${rect.y + 2}: ${seen} is not ${fill}`);
    ++bars;
  }
  let gaps = 0;
  const byRow = new Map();
  for (const rect of drawn) {
    const row = `${rect.trackId}/${rect.row}`;
    if (!byRow.has(row)) byRow.set(row, []);
    byRow.get(row).push(rect);
  }
  for (const row of byRow.values()) {
    row.sort((a, b) => a.x0 - b.x0);
    row.slice(1).forEach((rect, i) => {
      const from = row[i].x1;
      if (rect.x0 - from < 24 || from < 0 || rect.x0 > image.width) return;
      const colours = [6, 9, 13, 16].map((dx) => pixel(image, from + dx, rect.y + 2));
      assert.ok(colours.filter((colour) => near(colour, surface, 4)).length >= 2, `gap after ${row[i].name}: ${colours.join(' | ')}`);
      ++gaps;
    });
  }
  return { bars, gaps };
}

const BUSY_BY_LINE = `() => {
  const busy = {};
  const width = document.querySelector('[data-testid=timeline-body]').clientWidth;
  for (const rect of window.__strobeTimeline.rects) {
    if (rect.row !== 0 || rect.trackId !== rect.lineId) continue;
    const seen = Math.min(width, rect.x1) - Math.max(0, rect.x0);
    if (seen > 0) busy[rect.lineId] = (busy[rect.lineId] ?? 0) + seen * rect.share;
  }
  return busy;
}`;

// Pixels of each line's top row in which it was busy, cut at the screen's edges; by line.
export const busyByLine = (page) => page.evaluate(`(${BUSY_BY_LINE})()`);

// The same right after a key, in the very frame that it leads to: no tile can have come since.
export const busyAfterKey = (page, name) => page.evaluate(`(async () => {
  const target = document.querySelector('[data-testid=timeline-body]');
  target.focus();
  for (const type of ['keydown', 'keyup']) target.dispatchEvent(new KeyboardEvent(type, { key: ${JSON.stringify(name)}, bubbles: true, cancelable: true }));
  await new Promise((done) => requestAnimationFrame(done));
  return { busy: (${BUSY_BY_LINE})(), settled: window.__strobeTimeline.settled };
})()`);

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
