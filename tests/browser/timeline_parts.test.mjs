// Parts of the timeline in Chromium: two sessions aligned, curves of counters, steps and programs on the ruler, arrows of flows, files to
// keep, and the picture compared with the data on real sessions.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { corpus } from './harness.mjs';
import { BODY, close, comparePicture, key, near, openTimeline, pixel, pixelsOf, ready, sessionOf, settled, themeColour, tracks, untilKey, view, startOnMade } from './timeline_page.mjs';
import { COUNTER_PEAK, STEPS_A, STEPS_B, counters, twoRuns } from './timeline_sessions.mjs';

const real = corpus();
const onReal = { skip: real === null };
let server;
let browser;
let stop;

before(async () => {
  ({ server, browser, stop } = await startOnMade([twoRuns, counters], real ? [path.join(real, 'sessions')] : []));
});
after(() => stop?.());

// ---- two sessions ------------------------------------------------------------------------------------------------------

const below = (page) => page.evaluate(() => {
  const root = document.querySelector('[data-testid=timeline-second]');
  return { ready: root.dataset.ready, startPs: Number(root.dataset.viewStartPs), durationPs: Number(root.dataset.viewDurationPs), shiftPs: Number(root.dataset.shiftPs) };
});

async function aligned(page, shiftPs) {
  await page.waitForFunction((wanted) => {
    const root = document.querySelector('[data-testid=timeline-second][data-ready=true]');
    if (root === null) return false;
    const { view: at, settled: rests } = window.__strobeTimeline;
    return rests && Number(root.dataset.shiftPs) === wanted && Number(root.dataset.viewStartPs) === at.startPs + wanted && Number(root.dataset.viewDurationPs) === at.durationPs;
  }, shiftPs, { timeout: 20_000 });
}

test('two sessions stand one above the other, aligned by a step, and move as one', async () => {
  const one = await sessionOf(server, 'two-runs', '2026_01_01_00_00_00');
  const two = await sessionOf(server, 'two-runs', '2026_01_01_01_00_00');
  const page = await openTimeline(browser, server, one);
  await page.click('[data-testid=timeline-two]');
  await page.getByText('No baseline is chosen.').waitFor();
  await page.goto(`${server.url}/s/${one.id}/timeline?b=${two.id}&two=1`);
  await ready(page);
  const shift = (step) => STEPS_B.firstPs + (step - 1) * STEPS_B.lengthPs - STEPS_A.firstPs - (step - 1) * STEPS_A.lengthPs;
  await aligned(page, shift(1));
  await page.selectOption('[data-testid=timeline-align]', 'step:7');
  await untilKey(page, 'align', 'step:7');
  await aligned(page, shift(7));
  // A pan and a zoom above are those below.
  await page.locator(BODY).focus();
  for (const pressed of ['w', 'w', 'd']) await page.keyboard.press(pressed);
  await aligned(page, shift(7));
  // And the other way round: the wheel below moves above.
  const before = await view(page);
  const box = await page.locator('[data-testid=timeline-second-body]').boundingBox();
  await page.mouse.move(box.x + 500, box.y + 40);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -240);
  await page.keyboard.up('Control');
  await page.waitForFunction((old) => window.__strobeTimeline.view.durationPs < old, before.durationPs);
  await aligned(page, shift(7));
  // The step that both are aligned by begins at the same pixel.
  await page.evaluate(() => document.querySelector('[data-testid=timeline-body]').focus());
  await page.keyboard.press('0');
  await aligned(page, shift(7));
  const at = await view(page);
  const bottom = await below(page);
  const x = (ps, from) => ((ps - from) / at.durationPs) * 1000;
  assert.ok(Math.abs(x(STEPS_A.firstPs + 6 * STEPS_A.lengthPs, at.startPs) - x(STEPS_B.firstPs + 6 * STEPS_B.lengthPs, bottom.startPs)) < 0.01);
  // The link keeps all of it.
  await page.reload();
  await ready(page);
  await aligned(page, shift(7));
  assert.equal(await page.inputValue('[data-testid=timeline-align]'), 'step:7');
  await page.getByRole('button', { name: "Close the baseline's timeline" }).click();
  await page.waitForSelector('[data-testid=timeline-second]', { state: 'detached' });
  assert.equal(await key(page, 'two'), null);
  await close(page);
});

test('two real sessions are aligned by what both have, and an event below is told beside the one above', onReal, async () => {
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  const [one, two] = sessions.filter((session) => session.run === 'cpu-jax-mlp-stall');
  const page = await openTimeline(browser, server, one, `?b=${two.id}&two=1`);
  await page.waitForSelector('[data-testid=timeline-second][data-ready=true]', { timeout: 30_000 });
  const { shiftPs } = await below(page);
  await aligned(page, shiftPs);
  const marks = await Promise.all([one, two].map((session) => server.json(`/api/v1/sessions/${session.id}/marks`)));
  const [upper, lower] = marks.map((answer) => answer.steps.items);
  const both = upper.find((step) => lower.some((other) => other.name === step.name));
  assert.ok(both, 'the two have no step in common');
  assert.equal(shiftPs, lower.find((other) => other.name === both.name).start_ps - both.start_ps);
  const box = await page.locator('[data-testid=timeline-second-body]').boundingBox();
  const rect = await page.evaluate(() => window.__strobeTimeline.rects.length);
  assert.ok(rect > 0 && box.height > 150);
  await close(page);
});

// ---- curves ------------------------------------------------------------------------------------------------------------

test('counters are curves with least, mean and most of every pixel', async () => {
  const session = await sessionOf(server, 'counters');
  const { counters: list } = await server.json(`/api/v1/sessions/${session.id}/counters`);
  assert.equal(list.length, 2);
  const page = await openTimeline(browser, server, session);
  await settled(page);
  const shown = (await tracks(page)).filter((track) => track.kind === 'counter');
  assert.deepEqual(new Set(shown.map((track) => track.id)), new Set(list.map((one) => `c:${one.id}`)));
  const charts = await page.evaluate(() => window.__strobeTimeline.charts);
  const queue = list.find((one) => one.samples > 100);
  const batch = list.find((one) => one !== queue);
  const at = await view(page);
  const chart = charts.find((one) => one.counter === queue.id);
  const column = (us) => Math.floor((us * 1e6 - at.startPs) / at.durationPs * chart.mean.length);
  assert.equal(queue.max, COUNTER_PEAK.value);
  // A ramp: the value is the millisecond; the peak is in its pixel's most and not in its least.
  for (const ms of [100, 333, 800]) assert.ok(Math.abs(chart.mean[column(ms * 1000 + 200)] - ms) <= 2, `${ms}: ${chart.mean[column(ms * 1000 + 200)]}`);
  const peak = chart.max.indexOf(COUNTER_PEAK.value);
  assert.ok(Math.abs(peak - column(COUNTER_PEAK.atUs)) <= 1);
  assert.ok(chart.min[peak] < 510);
  // A counter holds its value until the next sample, and has none before the first.
  const held = charts.find((one) => one.counter === batch.id);
  assert.equal(held.mean[column(5_000)], null);
  assert.equal(held.mean[column(600_000)], 32);
  assert.equal(held.mean[column(950_000)], 64);
  // In the picture: filled below the curve, empty above it.
  const image = await pixelsOf(page);
  const surface = themeColour('light', 'surface');
  const y = (value) => held.y + held.height - 4 - (value / 64) * (held.height - 8);
  assert.ok(!near(pixel(image, column(600_000), y(16)), surface, 6), 'nothing is drawn below the curve');
  assert.ok(near(pixel(image, column(600_000) + 1, y(48)), surface, 6), 'something is drawn above the curve');
  // Zoomed in, the same samples.
  await page.goto(`${server.url}/s/${session.id}/timeline?v=400.0ms,4ms`);
  await settled(page);
  const close4 = (await page.evaluate(() => window.__strobeTimeline.charts)).find((one) => one.counter === queue.id);
  const near4 = await view(page);
  const there = (us) => Math.floor(((us * 1e6 - near4.startPs) / near4.durationPs) * close4.mean.length);
  assert.equal(close4.mean[there(401_500)], 401);
  assert.equal(close4.mean[there(402_500)], 402);
  const box = await page.locator(BODY).boundingBox();
  await page.mouse.move(box.x + there(402_500), box.y + close4.y + 20);
  await page.getByTestId('timeline-tooltip').getByText(/402/).waitFor();
  await close(page);
});

test('memory in use is a curve where the profile has allocations', onReal, async (t) => {
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  let found = 0;
  for (const session of sessions) {
    if (session.state === 'damaged' || session.state === 'empty') continue;
    await server.json(`/api/v1/sessions/${session.id}/lines?wait_ms=10000`);
    const { counters: list } = await server.json(`/api/v1/sessions/${session.id}/counters`);
    const memory = (list ?? []).filter((one) => one.kind === 'memory');
    if (memory.length === 0) continue;
    ++found;
    t.diagnostic(`${session.run}: ${memory.map((one) => `${one.name} ${one.samples}`).join(', ')}`);
    if (found > 1) continue;
    const page = await openTimeline(browser, server, session);
    const shown = (await tracks(page)).filter((track) => track.kind === 'counter' || track.kind === 'counters');
    assert.ok(shown.length > 0, `${session.run} shows no counter`);
    await close(page);
  }
  if (found === 0) t.diagnostic('no real session has memory events');
});

// ---- ruler -------------------------------------------------------------------------------------------------------------

test('steps and programs are on the ruler where the profile puts them', async () => {
  const session = await sessionOf(server, 'two-runs', '2026_01_01_00_00_00');
  const page = await openTimeline(browser, server, session);
  await page.waitForFunction(() => window.__strobeTimeline.modules.length > 0 && window.__strobeTimeline.steps.length > 0);
  const { steps, modules } = await page.evaluate(() => ({ steps: window.__strobeTimeline.steps, modules: window.__strobeTimeline.modules }));
  assert.deepEqual(steps.map((step) => step.startPs), Array.from({ length: 10 }, (_, i) => STEPS_A.firstPs + i * STEPS_A.lengthPs));
  assert.equal(modules.length, 10);
  assert.ok(modules.every((module) => module.name.startsWith('jit_step')));
  // Two bands of alternating colours above the times.
  const at = await view(page);
  const image = await pixelsOf(page, '.tl-ruler');
  const x = (ps) => ((ps - at.startPs) / at.durationPs) * image.width;
  for (const [top, share] of [[0, 0.97], [16, 0.87]]) {
    const colours = [2, 3].map((i) => pixel(image, x(STEPS_A.firstPs + (i + share) * STEPS_A.lengthPs), top + 3).join());
    assert.notEqual(colours[0], colours[1]);
  }
  const gap = pixel(image, x(STEPS_A.firstPs + 2.95 * STEPS_A.lengthPs), 16 + 3);
  assert.ok(near(gap, themeColour('light', 'surface'), 3), `between two programs: ${gap}`);
  await close(page);
});

// ---- flows -------------------------------------------------------------------------------------------------------------

test('arrows lead from launches to kernels, of the selection and of all that is in view', onReal, async () => {
  const session = await sessionOf(server, 'gpu-mi300-elementwise');
  const { flows } = await server.json(`/api/v1/sessions/${session.id}/flows?limit=5000`);
  const launch = flows.find((flow) => flow.from.line.split('.')[1] !== flow.to.line.split('.')[1]);
  const span = { from: Math.min(launch.from.start_ps, launch.to.start_ps), to: launch.to.start_ps + launch.to.duration_ps };
  const page = await openTimeline(browser, server, session, `?sel=${launch.to.event}&v=${span.from - 1e6}ps,${span.to - span.from + 2e6}ps`);
  await page.waitForFunction(() => window.__strobeTimeline.arrows.ofSelection > 0);
  assert.equal((await page.evaluate(() => window.__strobeTimeline.arrows)).betweenHosts, 0);
  await page.click('[data-testid=timeline-flows]');
  await page.waitForFunction(() => window.__strobeTimeline.arrows.ofView > 0);
  await close(page);
});

// ---- files -------------------------------------------------------------------------------------------------------------

test('a view and a session are kept as Chrome JSON and as a Perfetto trace', onReal, async () => {
  const session = await sessionOf(server, 'gpu-mi300-attention');
  const page = await openTimeline(browser, server, session, '?v=1ms,4ms');
  const keep = async (id) => {
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-testid=timeline-export-${id}]`)]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const whole = await keep('chrome-all');
  assert.match(whole.name, /\.json$/);
  const { traceEvents } = JSON.parse(whole.bytes.toString('utf8'));
  const lines = await server.json(`/api/v1/sessions/${session.id}/lines?wait_ms=10000`);
  const count = lines.hosts.flatMap((host) => host.planes).flatMap((plane) => plane.lines).reduce((sum, line) => sum + line.event_count, 0);
  assert.equal(traceEvents.filter((event) => event.ph === 'X').length, count);
  const part = await keep('chrome-view');
  assert.ok(part.bytes.length < whole.bytes.length && JSON.parse(part.bytes.toString('utf8')).traceEvents.length > 0);
  const perfetto = await keep('perfetto-all');
  assert.ok(perfetto.bytes.length > 1000 && perfetto.bytes[0] === 0x0a, perfetto.name); // TracePacket, field 1
  await close(page);
});

test('a picosecond has its own place, from 98 seconds down to a nanosecond', onReal, async () => {
  const session = await sessionOf(server, 'tpu-v6e-4-inference');
  const { hits } = await server.json(`/api/v1/sessions/${session.id}/search?q=copy-done&from_ps=60000000000000&limit=40`);
  // One with nothing right before it, so that its edge can be seen.
  let hit = null;
  for (const one of hits) {
    const { previous } = await server.json(`/api/v1/sessions/${session.id}/events?line=${one.line}&event=${one.event.split('.')[3]}`);
    const before = previous === null ? null : await server.json(`/api/v1/sessions/${session.id}/events/${previous}`);
    if (before !== null && before.start_ps + before.duration_ps < one.start_ps - 400) hit = one;
    if (hit !== null) break;
  }
  assert.ok(hit, 'every one follows another at once');
  const page = await openTimeline(browser, server, session, `?v=${hit.start_ps - 300}ps,1000ps&sel=${hit.event}`);
  await settled(page);
  const width = await page.evaluate(() => document.querySelector('[data-testid=timeline-body]').clientWidth);
  const at = await view(page);
  assert.deepEqual([at.startPs, at.durationPs], [hit.start_ps - 300, 1000]);
  const drawn = (await page.evaluate(() => window.__strobeTimeline.rects)).find((rect) => `${rect.lineId}.${rect.event}` === hit.event);
  assert.equal(drawn.startPs, hit.start_ps);
  assert.ok(Math.abs(drawn.x0 - 0.3 * width) < 0.01, `${drawn.x0} of ${width}`);
  // In the picture too: lane before that pixel, bar after it.
  const track = (await tracks(page)).find((one) => one.id === drawn.trackId);
  const image = await pixelsOf(page);
  const y = drawn.y + 3;
  assert.ok(track.height > 0 && !near(pixel(image, 0.3 * width + 4, y), pixel(image, 0.3 * width - 4, y), 20), 'no edge at the first picosecond');
  await close(page);
});

// ---- the picture -------------------------------------------------------------------------------------------------------

for (const [run, at] of [['tpu-v6e-4-inference', '40s,400ms'], ['gpu-mi300-elementwise', null], ['gpu-v100-multi-worker', null]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`the picture of ${run} is what the data says, ${colorScheme}`, onReal, async (t) => {
      const session = await sessionOf(server, run);
      const lines = await server.json(`/api/v1/sessions/${session.id}/lines?wait_ms=10000`);
      // Without a place of its own: around a kernel in the middle.
      const stream = lines.hosts.flatMap((host) => host.planes).flatMap((plane) => plane.lines).filter((line) => line.kind === 'stream').sort((a, b) => b.event_count - a.event_count)[0];
      const kernel = at !== null ? null : await server.json(`/api/v1/sessions/${session.id}/events/${stream.id}.${Math.floor(stream.event_count / 2)}`);
      const span = at ?? `${kernel.start_ps - 30_000_000}ps,100us`;
      const page = await openTimeline(browser, server, session, `?v=${span}`, { colorScheme });
      await settled(page);
      assert.equal(await page.getAttribute('[data-testid=timeline]', 'data-renderer'), 'webgl2');
      const seen = await comparePicture(page, lines, colorScheme);
      t.diagnostic(`${seen.bars} bars, ${seen.gaps} gaps`);
      assert.ok(seen.bars + seen.gaps >= 10, `${seen.bars} bars, ${seen.gaps} gaps`);
      await close(page);
    });
  }
}
