// The timeline's acceptance points L1 to L10 in Chromium on the built server: real sessions, and generated ones where a point asks for a
// size that no real one has. Times are the best of a few: the machine may be shared, a regression is slow every time.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, corpus, startBrowser } from './harness.mjs';
import { BODY, busyAfterKey, busyByLine, close, comparePicture, key, near, openTimeline, percentile, pixel, pixelsOf, ready, rects, sessionOf, settled, themeColour, tracks, untilKey, view, startOnMade } from './timeline_page.mjs';
import { MANY_HOSTS, largeTpu, manyHosts } from './timeline_sessions.mjs';

const TPU = 'tpu-v6e-4-inference';
const MI300 = 'gpu-mi300-attention';
// On a machine that others use, times stretch; 1 on a quiet one.
// Times are judged where the machine is quiet (./dev check console); elsewhere only what is shown is.
const SLACK = process.env.STROBE_TIMED ? Number(process.env.STROBE_TIME_SLACK ?? 1) : Infinity;
const real = corpus();
const onReal = { skip: real === null };
let server;
let browser;
let stop;

before(async () => {
  ({ server, browser, stop } = await startOnMade([largeTpu, manyHosts], real ? [path.join(real, 'sessions')] : []));
});
after(() => stop?.());

// Milliseconds from the start of the navigation until the first view was whole, and what it took to get it.
async function firstView(session) {
  const page = await browser.open(server.url, {
    address: `/s/${session.id}/timeline`, width: 1600, height: 1000, watched: false,
    prepare: (fresh) => fresh.addInitScript(() => {
      new PerformanceObserver((list) => (window.__resources = [...(window.__resources ?? []), ...list.getEntries()])).observe({ type: 'resource', buffered: true });
      const watch = new MutationObserver(() => {
        if (window.__wholeAtMs !== undefined || document.querySelector('[data-testid=timeline][data-ready=true]') === null) return;
        window.__wholeAtMs = performance.now();
        window.__bytesThen = (window.__resources ?? []).filter((one) => one.name.includes('/api/')).reduce((sum, one) => sum + one.encodedBodySize, 0);
      });
      watch.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-ready'] });
    }),
  });
  await page.waitForFunction(() => window.__wholeAtMs !== undefined, null, { timeout: 60_000 });
  const result = await page.evaluate(() => ({ wholeMs: window.__wholeAtMs, bytes: window.__bytesThen }));
  await page.close();
  return result;
}

// acceptance: TL1
test('L1 the first view of 3.6 million events is whole within 2.5 s cold and 1 s warm, with at most 300 kB', async (t) => {
  const session = await sessionOf(server, 'large');
  const cold = await firstView(session);
  const warm = [await firstView(session), await firstView(session), await firstView(session)].sort((a, b) => a.wholeMs - b.wholeMs)[0];
  t.diagnostic(`cold ${Math.round(cold.wholeMs)} ms, warm ${Math.round(warm.wholeMs)} ms, ${cold.bytes} bytes`);
  assert.ok(cold.wholeMs <= 2500 * SLACK, `cold: ${cold.wholeMs} ms`);
  assert.ok(warm.wholeMs <= 1000 * SLACK, `warm: ${warm.wholeMs} ms`);
  assert.ok(cold.bytes > 0 && cold.bytes <= 300_000, `${cold.bytes} bytes`);
});

// acceptance: TL2
test('L2 60 zoom and 60 pan keys: no frame takes longer than a sixtieth of a second to make, no task more than 50 ms', async (t) => {
  const page = await openTimeline(browser, server, await sessionOf(server, 'large'));
  await settled(page);
  await page.evaluate(() => {
    window.__tasks = [];
    new PerformanceObserver((list) => window.__tasks.push(...list.getEntries().map((one) => one.duration))).observe({ type: 'longtask' });
  });
  await page.locator(BODY).focus();
  let best = null;
  for (let round = 0; round < 3; ++round) {
    const fromMs = await page.evaluate(() => {
      window.__tasks.length = 0;
      return performance.now();
    });
    for (const keys of ['wwwwwdwwwwwdwwwwwdwwwww', 'ssssssssssssssssssss', 'wwwwwwwwwwwwwwwwwwww', 'dddddddddddddddddddddddddddddd', 'aaaaaaaaaaaaaaaaaaaaaaaaaaa']) {
      for (const one of keys) await page.keyboard.press(one);
    }
    await page.keyboard.press('0');
    await settled(page);
    const seen = await page.evaluate((from) => ({
      work: window.__strobeTimeline.frames.filter((frame) => frame.atMs >= from).map((frame) => frame.workMs), tasks: window.__tasks,
    }), fromMs);
    const result = { frames: seen.work.length, p95: percentile(seen.work, 0.95), most: Math.max(...seen.work), task: Math.max(0, ...seen.tasks) };
    if (best === null || result.task + result.p95 < best.task + best.p95) best = result;
  }
  t.diagnostic(`${best.frames} frames, p95 ${best.p95.toFixed(1)} ms, longest ${best.most.toFixed(1)} ms, longest task ${Math.round(best.task)} ms`);
  assert.ok(best.frames >= 100);
  assert.ok(best.p95 <= 16.7 * SLACK, `p95 ${best.p95} ms`);
  assert.ok(best.task <= 50 * SLACK, `longest task ${best.task} ms`);
  await close(page);
});

// acceptance: TL3
test('L3 right after a zoom every track is as busy as when it has settled, and what is not loaded is drawn as such', onReal, async () => {
  const session = await sessionOf(server, TPU);
  const page = await openTimeline(browser, server, session);
  let fromCoarser = 0;
  let compared = 0;
  for (const pressed of ['w', 'w', 'w', 'd', 'w', 'w', 's', 'w', 'a', 'w']) {
    const at = await busyAfterKey(page, pressed);
    await settled(page);
    const then = await busyByLine(page);
    if (!at.settled) ++fromCoarser;
    for (const [line, px] of Object.entries(then)) {
      const early = at.busy[line] ?? 0;
      assert.ok(Math.abs(early - px) <= 0.02 * px + 2, `${line} after ${pressed}: ${early} px at once, ${px} px when settled`);
      ++compared;
    }
  }
  assert.ok(compared > 50, `${compared} comparisons`);
  assert.ok(fromCoarser > 0, 'no zoom was seen before its own tiles came');
  await close(page);

  // No tile at all: hatched ground, no bar, and no word of emptiness.
  const bare = await browser.open(server.url, { address: '/', width: 1600, height: 1000 });
  await bare.route('**/tiles/**', (route) => route.abort());
  await bare.goto(`${server.url}/s/${session.id}/timeline?v=40s,5s`);
  await bare.getByRole('button', { name: /not loaded/ }).waitFor({ timeout: 20_000 });
  assert.equal((await rects(bare)).length, 0);
  assert.equal(await bare.getByTestId('timeline-no-events').count(), 0);
  const line = (await tracks(bare)).find((track) => track.kind === 'line' && track.y > 0);
  const image = await pixelsOf(bare);
  const colours = new Set(Array.from({ length: 24 }, (_, i) => pixel(image, 300 + i, line.y + 10).join()));
  assert.ok(colours.has(themeColour('light', 'sunken').join()) && colours.has(themeColour('light', 'line').join()), [...colours].join(' | '));
  await bare.unroute('**/tiles/**');
  // They come by themselves, or at a press.
  const button = bare.getByRole('button', { name: /not loaded/ });
  if (await button.isVisible()) await button.click({ timeout: 1000 }).catch(() => undefined);
  await ready(bare);
  assert.ok((await rects(bare)).length > 0);
  await bare.close();
});

// acceptance: TL4
test('L4 a view without events leads to the nearest one, and panning stops at the ends', onReal, async () => {
  const session = await sessionOf(server, TPU);
  const { gaps } = await server.json(`/api/v1/sessions/${session.id}/gaps?plane=0.0`);
  const gap = gaps[0];
  const middle = gap.start_ps + Math.floor(gap.duration_ps / 2);
  const page = await openTimeline(browser, server, session, `?v=${middle}ps,1us&tf=XLA%20Ops`);
  await page.waitForSelector('[data-testid=timeline-no-events]');
  await page.getByRole('button', { name: 'Nearest event after' }).click();
  await page.waitForSelector('[data-testid=timeline-details]');
  await page.waitForSelector('[data-testid=timeline-no-events]', { state: 'detached' });
  const selected = await page.evaluate(() => window.__strobeTimeline.selection);
  const found = await server.json(`/api/v1/sessions/${session.id}/events/${selected}`);
  assert.ok(found.start_ps >= middle);
  assert.ok((await rects(page)).some((rect) => `${rect.lineId}.${rect.event}` === selected));

  const { startPs, endPs } = await page.evaluate(() => window.__strobeTimeline.window);
  for (const [pressed, beyond] of [['A', (at) => startPs - at.startPs], ['D', (at) => at.startPs + at.durationPs - endPs]]) {
    await page.keyboard.press('0');
    await page.keyboard.press('w');
    await page.locator(BODY).focus();
    for (let i = 0; i < 12; ++i) await page.keyboard.press(`Shift+${pressed}`);
    await settled(page);
    const at = await view(page);
    assert.ok(beyond(at) <= at.durationPs * 0.021, `${pressed}: ${beyond(at)} ps beyond the end`);
    assert.ok(beyond(at) >= 0, `${pressed} did not reach the end`);
  }
  await close(page);
});

// acceptance: TL5
test('L5 an area around the three kernels of one run totals their time once, without what is derived', onReal, async () => {
  const session = await sessionOf(server, MI300);
  const lines = await server.json(`/api/v1/sessions/${session.id}/lines?wait_ms=10000`);
  const streams = lines.hosts.flatMap((host) => host.planes).filter((plane) => plane.kind === 'device').flatMap((plane) => plane.lines).filter((line) => line.kind === 'stream' && line.event_count > 0);
  const { hits } = await server.json(`/api/v1/sessions/${session.id}/search?q=${encodeURIComponent('/^loop_convert_fusion.kd$/')}`);
  // Three that follow each other on one stream and last 175.76 us together: what a peer's page calls 703.04 us.
  const byStream = streams.map((line) => hits.filter((hit) => hit.line === line.id));
  const threes = byStream.flatMap((own) => own.map((_, i) => own.slice(i, i + 3))).filter((three) => three.length === 3);
  const run = threes.find((three) => {
    const numbers = three.map((hit) => Number(hit.event.split('.')[3]));
    return numbers[2] - numbers[0] === 2 && three.reduce((sum, hit) => sum + hit.duration_ps, 0) === 175_760_000;
  });
  assert.ok(run, 'no three kernels of 175.76 us in a row');
  const from = run[0].start_ps - 100;
  const to = run[2].start_ps + run[2].duration_ps + 100;
  const page = await openTimeline(browser, server, session, `?area=${from}ps,${to - from}ps`);
  const totals = page.locator('[data-testid=timeline-totals]');
  await totals.locator('tbody tr').first().waitFor();
  // What else ran on the device's streams in that span, event by event.
  let exact = 0;
  for (const line of streams) {
    for (let e = 0; e < line.event_count; ++e) {
      const one = await server.json(`/api/v1/sessions/${session.id}/events/${line.id}.${e}`);
      exact += Math.max(0, Math.min(to, one.start_ps + one.duration_ps) - Math.max(from, one.start_ps));
    }
  }
  assert.equal(await totals.locator('.tl-panel-summary [title]').first().getAttribute('title'), `${exact.toLocaleString('en-US')} ps`);
  const { lines: counted } = await server.json(`/api/v1/sessions/${session.id}/totals?from_ps=${from}&to_ps=${to}`);
  assert.equal(counted.find((line) => line.line === run[0].line).busy_ps, 175_760_000);
  await totals.getByRole('button', { name: 'By line' }).click();
  await totals.getByText('176 µs').first().waitFor();
  assert.ok(counted.every((line) => streams.some((one) => one.id === line.line)), 'something else than the streams is counted');
  await close(page);
});

// acceptance: TL6
test('L6 reload and another browser give the same view within a pixel', onReal, async () => {
  const session = await sessionOf(server, TPU);
  const page = await openTimeline(browser, server, session);
  const box = await page.locator(BODY).boundingBox();
  await page.mouse.move(box.x + 611, box.y + 200);
  await page.keyboard.down('Control');
  for (let i = 0; i < 9; ++i) await page.mouse.wheel(0, -180);
  await page.keyboard.up('Control');
  await page.mouse.wheel(0, 130);
  await settled(page);
  const before = await rects(page);
  const address = new URL(page.url());
  assert.ok(before.length > 0);
  const compare = (again, what) => {
    assert.equal(again.length, before.length, what);
    before.forEach((rect, i) => assert.ok(Math.abs(rect.x0 - again[i].x0) < 1 && Math.abs(rect.x1 - again[i].x1) < 1 && rect.y === again[i].y, `${what}: ${rect.name}`));
  };
  await page.reload();
  await settled(page);
  compare(await rects(page), 'reload');
  const other = await startBrowser();
  const there = await other.open(server.url, { address: address.pathname + address.search, width: 1600, height: 1000 });
  await settled(there);
  compare(await rects(there), 'another browser');
  await other.stop();
  await close(page);
});

// acceptance: TL7
test('L7 search counts what an independent reader counts over all hosts, within 300 ms, with a density strip', async (t) => {
  const session = await sessionOf(server, 'two-hosts');
  const truth = JSON.parse(readFileSync(path.join(ROOT, 'samples/two-hosts/TRUTH.json'), 'utf8'));
  const expected = (matches) => truth.hosts.reduce((sum, host) => sum + Object.entries(host.operation_totals).filter(([name]) => matches(name)).reduce((n, [, one]) => n + one.events, 0), 0);
  for (const [text, matches] of [['/^all-reduce\\.4$/', (name) => name === 'all-reduce.4'], ['/^bitcast_.*fus.*\\.\\d$/', (name) => /^bitcast_.*fus.*\.\d$/.test(name)]]) {
    const total = expected(matches);
    assert.ok(total > 0, `nothing planted for ${text}`);
    const page = await openTimeline(browser, server, session, `?q=${encodeURIComponent(text)}`);
    await page.waitForFunction((count) => new RegExp(`(^|\\D)${count} hits`).test(document.querySelector('[data-testid=timeline-hits]')?.textContent ?? ''), total);
    const { density } = await server.json(`/api/v1/sessions/${session.id}/search?q=${encodeURIComponent(text)}`);
    assert.equal(density.reduce((sum, one) => sum + one, 0), total);
    // The strip over the minimap has the accent's colour where hits are, and not where none are.
    const image = await pixelsOf(page, '.tl-minimap');
    const accent = themeColour('light', 'accent');
    const shown = (i) => [4, 5, 6, 7, 8, 9, 10, 11].some((y) => near(pixel(image, ((i + 0.3) * image.width) / density.length, y), accent, 40));
    const withHits = density.map((count, i) => [count, i]).filter(([count]) => count > 0);
    assert.ok(withHits.filter(([, i]) => shown(i)).length >= withHits.length * 0.7, 'hits are missing on the minimap');
    await close(page);
  }
  const large = await sessionOf(server, 'large');
  let best = Infinity;
  for (let i = 0; i < 4; ++i) {
    const fromMs = performance.now();
    const answer = await server.json(`/api/v1/sessions/${large.id}/search?q=fusion&limit=100`);
    best = Math.min(best, performance.now() - fromMs);
    assert.ok(answer.total > 500_000);
  }
  t.diagnostic(`search over 3.6 million events: ${Math.round(best)} ms`);
  assert.ok(best <= 300 * SLACK, `${best} ms`);
});

test('L7 next and previous go through hits beyond the first page, and say which one it is', async () => {
  const page = await openTimeline(browser, server, await sessionOf(server, 'large'), '?q=fusion');
  await page.waitForFunction(() => /hits? in/.test(document.querySelector('[data-testid=timeline-hits]')?.textContent ?? ''), null, { timeout: 30_000 });
  await page.locator(BODY).focus();
  await page.keyboard.press('N');
  // From the start backwards is the last one of all.
  const said = await page.waitForFunction(() => /^([\d,.]+)( M)? of /.exec(document.querySelector('[data-testid=timeline-hits]').textContent)?.[0]);
  const hits = await page.locator('[data-testid=timeline-hits]').innerText();
  const [, at, total] = /^(.+) of (.+) hits$/.exec(hits) ?? [];
  assert.ok(at !== undefined && at === total, `${hits} (${await said.jsonValue()})`);
  const last = await page.evaluate(() => window.__strobeTimeline.selection);
  await page.keyboard.press('N');
  await page.waitForFunction((old) => window.__strobeTimeline.selection !== old, last);
  await page.keyboard.press('n');
  await page.waitForFunction((old) => window.__strobeTimeline.selection === old, last);
  await close(page);
});

test('L7 an expression over stats counts and steps like a name', onReal, async () => {
  const session = await sessionOf(server, TPU);
  const expression = 'stat:bytes_accessed>1e9 and duration>1us';
  const answer = await server.json(`/api/v1/sessions/${session.id}/search?expression=${encodeURIComponent(expression)}`);
  assert.ok(answer.total > 0, 'nothing fits');
  for (const hit of answer.hits.slice(0, 10)) {
    const { stats, duration_ps: durationPs } = await server.json(`/api/v1/sessions/${session.id}/events/${hit.event}`);
    assert.ok(durationPs > 1e6 && stats.some((stat) => stat.name === 'bytes_accessed' && Number(stat.value) > 1e9), hit.event);
  }
  const page = await openTimeline(browser, server, session);
  await page.fill('[data-testid=timeline-search]', expression);
  await untilKey(page, 'q', expression);
  await page.waitForFunction((total) => (document.querySelector('[data-testid=timeline-hits]')?.textContent ?? '').replaceAll(',', '').includes(`${total} hits`), answer.total);
  await page.locator('[data-testid=timeline-search]').press('Enter');
  await page.waitForFunction(() => window.__strobeTimeline.selection !== null);
  const selected = await page.evaluate(() => window.__strobeTimeline.selection);
  const { near: place } = await server.json(`/api/v1/sessions/${session.id}/search?limit=1&near=${selected}&expression=${encodeURIComponent(expression)}`);
  assert.equal(place.is_hit, true);
  await page.fill('[data-testid=timeline-search]', 'stat:');
  await page.waitForFunction(() => document.querySelector('[data-testid=timeline-search]').getAttribute('aria-invalid') === 'true');
  page.pageErrors = page.pageErrors.filter((text) => !text.includes('400'));
  await close(page);
});

// acceptance: TL8
test(`L8 ${MANY_HOSTS} hosts open as strips with least, mean and most within 1.5 s`, async (t) => {
  const session = await sessionOf(server, 'many-hosts');
  const runs = [await firstView(session), await firstView(session)];
  const page = await openTimeline(browser, server, session, '', { height: 1800 });
  const hosts = (await tracks(page)).filter((track) => track.kind === 'host');
  assert.equal(hosts.length, MANY_HOSTS);
  assert.ok(hosts.every((host) => !host.open));
  const strips = await page.evaluate(() => window.__strobeTimeline.strips);
  assert.equal(strips.length, MANY_HOSTS);
  for (const [h, host] of hosts.entries()) {
    const strip = strips.find((one) => one.trackId === host.id);
    assert.equal(strip.devices, 2);
    assert.ok(strip.least <= strip.all && strip.all <= strip.most);
    strip.mean.forEach((mean, i) => {
      if (mean !== null && !Number.isNaN(mean)) assert.ok(strip.min[i] <= mean + 1e-6 && mean <= strip.max[i] + 1e-6);
    });
    // What the server says of the same time: the share in which the host's devices were busy.
    if (h % 16 !== 0) continue;
    const { window: all } = await server.json(`/api/v1/sessions/${session.id}/lines`);
    const { planes, from_ps: from, to_ps: to } = await server.json(`/api/v1/sessions/${session.id}/totals?side=devices&from_ps=${all.start_ps}&to_ps=${all.end_ps}`);
    const own = planes.filter((plane) => plane.plane.startsWith(`${host.id.slice(1)}.`));
    const mean = own.reduce((sum, plane) => sum + plane.busy_ps, 0) / own.length / (to - from);
    assert.ok(Math.abs(strip.all - mean) < 0.02, `${host.label}: ${strip.all} drawn, ${mean} counted`);
  }
  // The busier host has the higher strip, in pixels.
  const image = await pixelsOf(page);
  const surface = themeColour('light', 'app');
  const filled = (host) => {
    let count = 0;
    for (let x = 200; x < 600; x += 3) for (let y = 4; y < 20; ++y) if (!near(pixel(image, x, host.y + y), surface, 12)) ++count;
    return count;
  };
  assert.ok(filled(hosts[60]) > filled(hosts[1]) * 1.2, `${filled(hosts[60])} and ${filled(hosts[1])} pixels`);
  await page.locator(`[data-track="${hosts[5].id}"] button[aria-expanded]`).click();
  await untilKey(page, 'open', hosts[5].id);
  await ready(page);
  assert.ok((await tracks(page)).some((track) => track.kind === 'line'));
  const best = Math.min(...runs.map((one) => one.wholeMs));
  t.diagnostic(`first view of ${MANY_HOSTS} hosts: ${runs.map((one) => Math.round(one.wholeMs)).join(', ')} ms`);
  assert.ok(best <= 1500 * SLACK, `${best} ms`);
  await close(page);
});

// acceptance: TL9
test('L9 without WebGL a 2-D canvas shows what the data says', onReal, async () => {
  const session = await sessionOf(server, TPU);
  const lines = await server.json(`/api/v1/sessions/${session.id}/lines?wait_ms=10000`);
  for (const colorScheme of ['light', 'dark']) {
    const page = await openTimeline(browser, server, session, '?v=40s,400ms', {
      colorScheme,
      prepare: (fresh) => fresh.addInitScript(() => {
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function getContext(kind, ...rest) {
          return /webgl/.test(kind) ? null : original.call(this, kind, ...rest);
        };
      }),
    });
    await settled(page);
    assert.equal(await page.getAttribute('[data-testid=timeline]', 'data-renderer'), '2d');
    const seen = await comparePicture(page, lines, colorScheme);
    assert.ok(seen.bars >= 10, `${seen.bars} bars`);
    await close(page);
  }
});

// acceptance: TL10
test('L10 the canvas has a text of the selected event and its neighbours that keys reach', onReal, async () => {
  const session = await sessionOf(server, TPU);
  const page = await openTimeline(browser, server, session, '?v=40s,400ms');
  await page.locator(BODY).focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => window.__strobeTimeline.selection !== null);
  const first = await page.evaluate(() => window.__strobeTimeline.selection);
  const detail = await server.json(`/api/v1/sessions/${session.id}/events/${first}`);
  const mirror = page.locator('[data-testid=timeline-mirror]');
  await page.waitForFunction((name) => document.querySelector('[data-testid=timeline-mirror]').textContent.includes(name), detail.name);
  const text = await mirror.innerText();
  assert.ok(text.includes(detail.line) && text.includes(detail.plane), text);
  assert.ok(text.includes(`${detail.start_ps.toLocaleString('en-US')} ps`) && text.includes(`${detail.duration_ps.toLocaleString('en-US')} ps`), text);
  assert.equal(await page.getAttribute(BODY, 'aria-describedby'), 'tl-mirror');
  assert.equal(await page.locator('#tl-mirror [aria-live=polite]').count(), 1);
  await mirror.focus();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'tl-mirror');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForFunction((old) => window.__strobeTimeline.selection !== old, first);
  const { next } = await server.json(`/api/v1/sessions/${session.id}/events?line=${first.split('.').slice(0, 3).join('.')}&event=${first.split('.')[3]}`);
  assert.equal(await page.evaluate(() => window.__strobeTimeline.selection), next);
  assert.equal(await key(page, 'sel'), next);
  await close(page);
});

