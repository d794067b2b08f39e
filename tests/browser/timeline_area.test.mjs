// The timeline's panels and tracks in Chromium on real sessions: totals, gaps, flows, marks, pinned and filtered tracks.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { corpus, samples, startBrowser, startServer } from './harness.mjs';

const real = corpus();
const onReal = { skip: real === null };
let server;
let browser;

before(async () => {
  server = await startServer({ roots: [samples(), ...(real ? [path.join(real, 'sessions')] : [])] });
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

async function sessionOf(run) {
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  const found = sessions.find((one) => one.run === run);
  assert.ok(found, `no session of run ${run}`);
  return found;
}

const ready = (page) => page.waitForSelector('[data-testid=timeline][data-ready=true]', { timeout: 60_000 });
const tracks = (page) => page.evaluate(() => window.__strobeTimeline.tracks);
const key = (page, name) => page.evaluate((wanted) => new URLSearchParams(location.search).get(wanted), name);
const untilKey = (page, name) => page.waitForFunction((wanted) => new URLSearchParams(location.search).get(wanted) !== null, name);

async function open(run, more = '', options = {}) {
  const session = await sessionOf(run);
  const page = await browser.open(server.url, { address: `/s/${session.id}/timeline${more}`, width: 1600, height: 1000, ...options });
  await ready(page);
  return { session, page };
}

async function close(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors, []);
  await page.close();
}

test('an area gives totals that count each moment once', onReal, async () => {
  const tpu = await sessionOf('tpu-v6e-4-inference');
  const lines = await server.json(`/api/v1/sessions/${tpu.id}/lines?wait_ms=10000`);
  const repeating = lines.hosts.flatMap((host) => host.planes).flatMap((plane) => plane.lines)
    .filter((line) => line.derived || ['steps', 'modules', 'scope'].includes(line.kind)).map((line) => line.id);
  const counted = await server.json(`/api/v1/sessions/${tpu.id}/totals?side=devices`);
  assert.ok(repeating.length > 0 && counted.lines.every((line) => !repeating.includes(line.line)));
  for (const plane of counted.planes) assert.ok(plane.busy_ps <= counted.to_ps - counted.from_ps);
  const session = await sessionOf('gpu-mi300-attention');
  const totals = await server.json(`/api/v1/sessions/${session.id}/totals`);
  // By name, by category and by line the same time is divided.
  const sum = (list, of) => list.reduce((all, one) => all + of(one), 0);
  assert.equal(sum(totals.names, (one) => one.self_ps) + totals.other_names.self_ps, totals.self_ps);
  assert.equal(sum(totals.categories, (one) => one.self_ps), totals.self_ps);
  assert.equal(sum(totals.lines, (one) => one.busy_ps), totals.self_ps);

  const { page } = await open('gpu-mi300-attention');
  const box = await page.locator('[data-testid=timeline-body]').boundingBox();
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 4, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 4, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const first = page.locator('[data-testid=timeline-totals] tbody tr').first();
  await first.waitFor();
  assert.match(await first.innerText(), new RegExp(totals.names[0].name.slice(0, 12).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  await untilKey(page, 'area');
  await page.getByRole('button', { name: 'By category' }).click();
  await page.waitForFunction((n) => document.querySelectorAll('[data-testid=timeline-totals] tbody tr').length === n, totals.categories.length);
  await page.reload();
  await page.locator('[data-testid=timeline-totals] tbody tr').first().waitFor();
  await page.keyboard.press('Escape');
  await page.waitForSelector('[data-testid=timeline-totals]', { state: 'detached' });
  await close(page);
});

test('gaps are listed longest first, with what the host did, and lead to their place', onReal, async () => {
  const { page } = await open('tpu-v6e-4-inference');
  await page.click('[data-testid=timeline-gaps-button]');
  const row = page.locator('[data-testid=timeline-gaps] tbody tr').first();
  await row.waitFor();
  const session = await sessionOf('tpu-v6e-4-inference');
  const { gaps } = await server.json(`/api/v1/sessions/${session.id}/gaps?plane=0.0`);
  assert.ok(gaps.every((gap, i) => i === 0 || gap.duration_ps <= gaps[i - 1].duration_ps));
  assert.ok(gaps[0].meanwhile.length > 0);
  assert.ok((await row.innerText()).includes(gaps[0].meanwhile[0].name.slice(0, 16)));
  await row.getByRole('button').first().click();
  await page.waitForFunction(({ start, end }) => {
    const { view, settled } = window.__strobeTimeline;
    return settled && view.startPs <= start && view.startPs + view.durationPs >= end && view.durationPs < 2 * (end - start);
  }, { start: gaps[0].start_ps, end: gaps[0].start_ps + gaps[0].duration_ps });
  await close(page);
});

test('a selected event shows what caused it, and following leads there', onReal, async () => {
  const session = await sessionOf('gpu-mi300-elementwise');
  const { flows } = await server.json(`/api/v1/sessions/${session.id}/flows?limit=5000`);
  const launch = flows.find((flow) => flow.from.line.split('.')[1] !== flow.to.line.split('.')[1]);
  assert.ok(launch, 'no flow from the host to the device');
  const { page } = await open('gpu-mi300-elementwise', `?sel=${launch.to.event}`);
  const list = page.locator('[data-testid=timeline-flow-list]');
  await list.waitFor();
  await list.getByRole('button', { name: launch.from.name }).first().click();
  await page.waitForFunction((id) => window.__strobeTimeline.selection === id, launch.from.event);
  await page.click('[data-testid=timeline-flows]');
  await untilKey(page, 'flows');
  await page.waitForFunction(() => /\d/.test(document.querySelector('[data-testid=timeline-flows]').textContent));
  await close(page);
});

test('tracks are pinned, reordered, filtered and hidden, and the link keeps it', onReal, async () => {
  const { page } = await open('gpu-mi300-attention');
  const all = await tracks(page);
  const lines = all.filter((track) => track.kind === 'line').slice(0, 2);
  for (const line of lines) {
    await page.locator(`[data-track="${line.id}"]`).hover();
    await page.locator(`[data-track="${line.id}"] button[aria-label^=Pin]`).click();
  }
  assert.deepEqual((await tracks(page)).slice(0, 3).map((track) => track.id), ['pinned', ...lines.map((line) => line.id)]);
  await page.locator(`[data-track="${lines[1].id}"]`).hover();
  await page.locator(`[data-track="${lines[1].id}"] button[aria-label$=" up"]`).click();
  const order = ['pinned', lines[1].id, lines[0].id];
  assert.deepEqual((await tracks(page)).slice(0, 3).map((track) => track.id), order);
  await page.getByRole('button', { name: 'Hide empty' }).click();
  assert.ok((await tracks(page)).length < all.length);
  await page.waitForFunction(() => new URLSearchParams(location.search).get('he') === '1');
  await page.reload();
  await ready(page);
  assert.deepEqual((await tracks(page)).slice(0, 3).map((track) => track.id), order);
  await page.fill('[data-testid=timeline-track-filter]', 'python');
  await page.waitForFunction(() => new URLSearchParams(location.search).get('tf') === 'python');
  const left = (await tracks(page)).filter((track) => track.kind === 'line' && !order.includes(track.id));
  assert.ok(left.length > 0 && left.every((track) => /python/i.test(track.label)));
  await close(page);
});

test('marks and notes are part of the link', async () => {
  const { page } = await open('input-stall');
  const box = await page.locator('[data-testid=timeline-body]').boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + 5);
  await page.keyboard.press('m');
  await untilKey(page, 'marks');
  await page.getByRole('button', { name: 'Marks' }).click();
  const note = page.locator('[data-testid=timeline-marks] input');
  await note.fill('first stall');
  await note.press('Enter');
  await page.waitForFunction(() => new URLSearchParams(location.search).get('marks').endsWith(':first stall'));
  const marks = await key(page, 'marks');
  await page.reload();
  await ready(page);
  await page.getByRole('button', { name: 'Marks' }).click();
  assert.equal(await page.locator('[data-testid=timeline-marks] input').inputValue(), 'first stall');
  assert.equal(await key(page, 'marks'), marks);
  await close(page);
});

test('a server that comes back is asked again, and the page says what happened', async () => {
  const lost = await startServer({ roots: [samples()] });
  const { sessions } = await lost.json('/api/v1/sessions?page_size=1000');
  const page = await browser.open(lost.url, { address: `/s/${sessions.find((one) => one.run === 'input-stall').id}/timeline` });
  await ready(page);
  await lost.kill();
  await page.evaluate(() => document.querySelector('[data-testid=timeline-flows]').click());
  await page.getByText('No connection to the server.').waitFor({ timeout: 10_000 });
  const again = await startServer({ roots: [samples()], port: Number(new URL(lost.url).port) });
  await page.getByText('No connection to the server.').waitFor({ state: 'detached', timeout: 20_000 });
  await page.keyboard.press('0');
  await ready(page);
  await page.close();
  await again.stop();
});
