// The whole way through the built product in Chromium: real server, real profiles, a real JAX job.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { corpus, samples, startBrowser, startLiveJob, startServer, temporaryDirectory } from './harness.mjs';
import { line, plane, xspace } from './xspace.mjs';

const MARKUP = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
const BODY = '[data-testid=timeline-body]';
let server;
let browser;
const more = [];

before(async () => {
  const made = hostileProfiles();
  const real = corpus();
  server = await startServer({ roots: [samples(), made, ...(real ? [path.join(real, 'sessions')] : [])] });
  browser = await startBrowser();
  // Files just made are served once they have settled.
  while ((await server.json('/api/v1/sessions?page_size=1000')).sessions.some((one) => one.state === 'writing')) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});
after(async () => {
  for (const stop of more) await stop();
  await browser?.stop();
  await server?.stop();
});

function hostileProfiles() {
  const root = temporaryDirectory();
  const session = path.join(root, 'hostile <b>run</b>', 'plugins', 'profile', '2026_01_01_00_00_00');
  mkdirSync(session, { recursive: true });
  const names = [MARKUP, Buffer.from([0x66, 0xff, 0xfe, 0x67]), 'n'.repeat(1 << 20), 'plain'];
  const events = [[1, 0n, 4_000_000n], [2, 5_000_000n, 4_000_000n], [3, 10_000_000n, 4_000_000n], [4, 15_000_000n, 0n]];
  writeFileSync(path.join(session, 'node0.example.com.xplane.pb'), xspace([plane('/host:CPU', names, [line(1, MARKUP, 0n, events)])]));
  writeFileSync(path.join(session, '34.83.195.179_6003.xplane.pb'), xspace([plane('/host:CPU', ['only'], [line(-5n, 't', 0n, [[1, 0n, 1n]])])]));
  const cut = xspace([plane('/host:CPU', ['a'], [line(1, 'thread', 0n, Array.from({ length: 1000 }, (_, i) => [1, BigInt(i) * 1000n, 500n]))])]);
  const damaged = path.join(root, 'cut', 'plugins', 'profile', 'short');
  mkdirSync(damaged, { recursive: true });
  writeFileSync(path.join(damaged, 'host0.xplane.pb'), cut.subarray(0, 6000));
  return root;
}

async function sessionOf(run, name) {
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  const found = sessions.find((one) => one.run === run && (name === undefined || one.name === name));
  assert.ok(found, `no session of run ${run} ${name ?? ''}`);
  return found;
}

const ready = (page) => page.waitForSelector('[data-testid=timeline][data-ready=true]', { timeout: 30_000 });
const view = (page) => page.evaluate(() => window.__strobeTimeline.view);
const rects = (page) => page.evaluate(() => window.__strobeTimeline.rects);

async function settled(page) {
  await page.waitForFunction(() => window.__strobeTimeline?.settled);
  await page.waitForFunction(() => {
    const now = JSON.stringify(window.__strobeTimeline.view) + location.search;
    const same = window.__lastSeen === now;
    window.__lastSeen = now;
    return same;
  }, null, { polling: 320 });
  await ready(page);
}

function assertClean(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors, []);
}

test('the list shows every sample, and search narrows it', async () => {
  const page = await browser.open(server.url);
  await page.waitForSelector('tbody tr.link');
  for (const run of ['input-stall', 'four-devices', 'two-hosts', 'recompile', 'trace-only', 'idle']) {
    await page.locator('tbody tr', { hasText: run }).first().waitFor();
  }
  await page.keyboard.press('/');
  await page.keyboard.type('two-hosts');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  assertClean(page);
  await page.close();
});

test('the overview of a sample states what was planted in it', async () => {
  const truth = JSON.parse(readFileSync(path.join(samples(), 'input-stall/TRUTH.json'), 'utf8'));
  const session = await sessionOf('input-stall');
  const page = await browser.open(server.url, { address: `/s/${session.id}/overview` });
  const steps = truth.hosts[0].steps.items.length;
  await page.getByText(`${steps} steps`).first().waitFor();
  const overview = await server.json(`/api/v1/sessions/${session.id}/overview`);
  assert.equal(overview.steps.count, steps);
  // The three planted stalls are the three longest steps but the first, which compiles nothing here.
  const longest = [...overview.steps.items].sort((a, b) => b.duration_ps - a.duration_ps).slice(0, 3).map((one) => one.name.match(/\d+/)[0]);
  assert.deepEqual(longest.sort(), Object.keys(truth.hosts[0].planted.stalls_ms).sort());
  assertClean(page);
  await page.close();
});

test('the completeness record of a cut file says where it broke, and what was readable is shown', async () => {
  const session = await sessionOf('cut');
  const page = await browser.open(server.url, { address: `/s/${session.id}/files` });
  await page.getByText(/cut off|ends|truncated/i).first().waitFor();
  const record = await server.json(`/api/v1/sessions/${session.id}/completeness`);
  assert.equal(record.state, 'partial');
  assert.ok(record.hosts[0].events > 100 && record.hosts[0].events < 1000);
  await page.goto(`${server.url}/s/${session.id}/timeline`);
  await ready(page);
  assert.ok((await rects(page)).length > 0);
  assertClean(page);
  await page.close();
});

test('names with markup, bad UTF-8 and a megabyte of text are only text', async () => {
  const session = await sessionOf('hostile <b>run</b>');
  assert.deepEqual(session.hosts, ['34.83.195.179_6003', 'node0.example.com']);
  const page = await browser.open(server.url, { address: `/s/${session.id}/timeline` });
  await ready(page);
  const box = await page.locator(BODY).boundingBox();
  const rect = (await rects(page)).find((one) => one.name.startsWith('<img'));
  assert.ok(rect, 'the event with markup is drawn');
  await page.mouse.click(box.x + (rect.x0 + rect.x1) / 2, box.y + rect.y + 8);
  await page.getByTestId('timeline-details').getByText('<img src=x', { exact: false }).first().waitFor();
  await page.goto(`${server.url}/s/${session.id}/overview`);
  await page.getByText('Top operations').waitFor();
  assert.notEqual(await page.title(), 'owned');
  assert.equal(await page.locator('img[src=x]').count(), 0);
  assertClean(page);
  await page.close();
});

// acceptance: CA5
test('a running JAX job is captured from the console and its session opens', async () => {
  const job = await startLiveJob();
  more.push(job.stop);
  const page = await browser.open(server.url);
  await page.waitForSelector('tbody tr.link');
  await page.keyboard.press('Control+Shift+C');
  await page.fill('[role=dialog] textarea', job.target);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.capture-target');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role=dialog]', { state: 'detached' });
  const link = page.locator('.toast a').first();
  await link.waitFor({ timeout: 90_000 });
  await link.click();
  await page.waitForURL(/\/s\/[^/]+\/overview/);
  await page.getByText(/\d+ steps/).first().waitFor({ timeout: 30_000 });
  const id = new URL(page.url()).pathname.split('/')[2];
  const overview = await server.json(`/api/v1/sessions/${id}/overview`);
  assert.ok(overview.steps.count >= 2, 'steps of the job are inside');
  await page.goto(`${server.url}/s/${id}/timeline`);
  await ready(page);
  assert.ok((await rects(page)).length > 10);
  // A file is served once it has stood still for a second; until then the page is told 503 and opens it by itself.
  page.pageErrors = page.pageErrors.filter((text) => !text.includes('503'));
  assertClean(page);
  await page.close();
  await job.stop();
});

test('the 98 s TPU session zooms from everything to a microsecond without jitter or a lost event', { skip: corpus() === null }, async () => {
  const session = await sessionOf('tpu-v6e-4-inference');
  const { hits } = await server.json(`/api/v1/sessions/${session.id}/search?q=${encodeURIComponent('/^copy-start/')}&from_ps=40000000000000&limit=500`);
  const target = hits.find((hit) => hit.duration_ps > 0 && hit.duration_ps < 1_000_000);
  assert.ok(target, 'a sub-microsecond event in the middle of the session');
  const page = await browser.open(server.url, { address: `/s/${session.id}/timeline?v=${target.start_ps - 1_000_000},2000000` });
  await settled(page);
  const [hostIndex, planeIndex, lineIndex, event] = target.event.split('.');
  const mine = (one) => one.lineId === `${hostIndex}.${planeIndex}.${lineIndex}` && String(one.event) === event && one.count === 1;
  // From the whole session down to two microseconds around the event, at the pointer.
  await page.locator(BODY).focus();
  await page.keyboard.press('0');
  await settled(page);
  const box = await page.locator(BODY).boundingBox();
  const whole = await view(page);
  const x = ((target.start_ps - whole.startPs) / whole.durationPs) * box.width;
  await page.mouse.move(box.x + x, box.y + 40);
  await page.keyboard.down('Control');
  for (let i = 0; i < 80 && (await view(page)).durationPs > 2_000_000; ++i) {
    const now = await view(page);
    const at = ((target.start_ps - now.startPs - (now.fractionPs ?? 0)) / now.durationPs) * box.width;
    assert.ok(at > -1 && at < box.width + 1, `the event left the screen at ${now.durationPs} ps`);
    await page.mouse.move(box.x + Math.min(Math.max(at, 1), box.width - 1), box.y + 40);
    await page.mouse.wheel(0, -300);
  }
  await page.keyboard.up('Control');
  await settled(page);
  const deep = await view(page);
  assert.ok(deep.durationPs <= 2_000_000 * 1.01);
  const drawn = await page.evaluate(() => window.__strobeTimeline.rects);
  const rect = drawn.find(mine);
  if (rect) {
    const expected = ((target.start_ps - deep.startPs - (deep.fractionPs ?? 0)) / deep.durationPs) * box.width;
    assert.ok(Math.abs(rect.x0 - expected) < 1, `drawn at ${rect.x0}, the data says ${expected}`);
  } else {
    // The line is below the fold: its tile must still hold the event.
    await page.goto(`${server.url}/s/${session.id}/timeline?v=${target.start_ps - 1_000_000},2000000&sel=${target.event}`);
    await settled(page);
    assert.equal(await page.evaluate(() => window.__strobeTimeline.selection), target.event);
  }
  assertClean(page);
  await page.close();
});

test('search on the timeline counts what the server counts', { skip: corpus() === null }, async () => {
  const session = await sessionOf('gpu-mi300-attention');
  const answer = await server.json(`/api/v1/sessions/${session.id}/search?q=fusion`);
  const page = await browser.open(server.url, { address: `/s/${session.id}/timeline?q=fusion` });
  await page.waitForFunction((total) => (document.querySelector('[data-testid=timeline-hits]')?.textContent ?? '').replace(/\D+/g, ' ').split(' ').includes(String(total)), answer.total);
  assertClean(page);
  await page.close();
});

test('operations on a TPU have their category colours on the timeline', { skip: corpus() === null }, async () => {
  const session = await sessionOf('tpu-v6e-4-inference');
  const page = await browser.open(server.url, { address: `/s/${session.id}/timeline?v=40s,5s` });
  await settled(page);
  const categories = new Map();
  for (const rect of await rects(page)) categories.set(rect.name, rect.category);
  const copies = [...categories].filter(([name]) => name.startsWith('copy-done'));
  assert.ok(copies.length > 0);
  for (const [name, category] of copies) assert.equal(category, 5, `${name} is data movement`);
  await page.close();
});

// acceptance: W9 TL6
test('a view is the same after a reload and in another browser', async () => {
  const session = await sessionOf('four-devices');
  const first = await browser.open(server.url, { address: `/s/${session.id}/timeline` });
  await settled(first);
  await first.locator(BODY).focus();
  for (const key of ['w', 'w', 'w', 'd', 'd']) await first.keyboard.press(key);
  await settled(first);
  const seen = await rects(first);
  const other = await startBrowser();
  more.push(other.stop);
  const page = await other.open(server.url, { address: new URL(first.url()).pathname + new URL(first.url()).search });
  await settled(page);
  const again = await rects(page);
  assert.equal(again.length, seen.length);
  seen.forEach((rect, i) => assert.ok(Math.abs(rect.x0 - again[i].x0) < 1 && Math.abs(rect.x1 - again[i].x1) < 1, rect.name));
  await first.close();
  await other.stop();
});

// acceptance: W8
test('when the server dies the page says so, and goes on by itself when it is back', async () => {
  const root = samples();
  const first = await startServer({ roots: [root] });
  more.push(() => first.stop());
  const page = await browser.open(first.url);
  await page.waitForSelector('tbody tr.link');
  const port = Number(new URL(first.url).port);
  await first.kill();
  await page.waitForSelector('.banner:has-text("No connection")', { timeout: 15_000 });
  const second = await startServer({ roots: [root], port });
  more.push(() => second.stop());
  await page.waitForSelector('.banner', { state: 'detached', timeout: 30_000 });
  await page.locator('tbody tr', { hasText: 'input-stall' }).first().waitFor();
  assert.deepEqual(page.foreignRequests, []);
  await page.close();
});
