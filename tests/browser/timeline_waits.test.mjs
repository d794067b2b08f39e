// The timeline in Chromium when the server is slow, or dies and comes back.

import assert from 'node:assert/strict';
import { createServer, request as forward } from 'node:http';
import { after, before, test } from 'node:test';
import { samples, startServer } from './harness.mjs';
import { BODY, ready, rects, sessionOf, settled, startOnMade } from './timeline_page.mjs';
import { largeTpu } from './timeline_sessions.mjs';

// Times are judged where the machine is quiet (./dev check console); elsewhere only what is shown is.
const SLACK = process.env.STROBE_TIMED ? Number(process.env.STROBE_TIME_SLACK ?? 1) : Infinity;
let server;
let browser;
let stop;

before(async () => {
  ({ server, browser, stop } = await startOnMade([largeTpu]));
});
after(() => stop?.());

// A server behind a wall that holds answers back.
async function startSlowly(target) {
  let holdMs = 0;
  let tiles = [];
  const wall = createServer((incoming, outgoing) => {
    const pass = () => {
      const onward = forward(target + incoming.url, { method: incoming.method, headers: { ...incoming.headers, host: new URL(target).host } }, (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    };
    if (incoming.url.includes('/tiles/')) tiles.push(incoming.url.replace(/^.*\/tiles\/|\?.*$/g, ''));
    if (incoming.url.includes('/tiles/') && holdMs > 0) setTimeout(pass, holdMs);
    else pass();
  });
  await new Promise((resolve) => wall.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${wall.address().port}`,
    hold: (ms) => (holdMs = ms),
    // The tiles that were asked for since this was called the last time.
    asked: () => {
      const since = tiles;
      tiles = [];
      return since;
    },
    stop: () => new Promise((resolve) => {
      wall.closeAllConnections();
      wall.close(resolve);
    }),
  };
}

test('a slow server is said, coarser tiles stand in, and the words go when the answer comes', async () => {
  const wall = await startSlowly(server.url);
  const session = await sessionOf(server, 'large');
  const page = await browser.open(wall.url, { address: `/s/${session.id}/timeline`, width: 1600, height: 1000 });
  await ready(page);
  wall.hold(6000);
  await page.locator(BODY).focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press('w');
  await page.getByTestId('timeline-waiting').waitFor({ timeout: 8000 });
  assert.match(await page.getByTestId('timeline-waiting').innerText(), /The server is slow: waiting \d+ s for \d+ piece/);
  assert.ok((await rects(page)).length > 0, 'nothing is shown meanwhile');
  wall.hold(0);
  await page.getByTestId('timeline-waiting').waitFor({ state: 'detached', timeout: 15_000 });
  await ready(page);
  await page.close();
  await wall.stop();
});

// acceptance: W8
test('a server that dies in the middle is said within two seconds, and the view fills by itself when it is back', async () => {
  const lost = await startServer({ roots: [samples()] });
  const session = await sessionOf(lost, 'four-devices');
  const page = await browser.open(lost.url, { address: `/s/${session.id}/timeline`, width: 1600, height: 1000 });
  await ready(page);
  await settled(page);
  await lost.kill();
  const diedMs = performance.now();
  await page.locator(BODY).focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press('w');
  await page.getByText('No connection to the server.').waitFor({ timeout: 10_000 });
  const saidMs = performance.now() - diedMs;
  assert.ok(saidMs <= 2000 * SLACK, `said after ${saidMs} ms`);
  assert.ok((await rects(page)).length > 0, 'what was known is gone');
  const before = await page.evaluate(() => window.__strobeTimeline.view);
  const again = await startServer({ roots: [samples()], port: Number(new URL(lost.url).port) });
  await page.getByText('No connection to the server.').waitFor({ state: 'detached', timeout: 20_000 });
  await ready(page);
  assert.deepEqual(await page.evaluate(() => window.__strobeTimeline.view), before);
  assert.equal(await page.getByRole('button', { name: /not loaded/ }).count(), 0);
  await page.close();
  await again.stop();
  await lost.stop();
});

test('a pan asks for each tile once, also while the answers are on their way', async (t) => {
  const wall = await startSlowly(server.url);
  t.after(() => wall.stop());
  const session = await sessionOf(server, 'large');
  const page = await browser.open(wall.url, { address: '/', width: 1600, height: 1000 });
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.goto(`${wall.url}/s/${session.id}/timeline?v=602ms,3ms`);
  await ready(page);
  await settled(page);
  wall.hold(1500);
  wall.asked();
  await page.locator(BODY).focus();
  for (const one of ['Shift+D', 'Shift+A', 'Shift+D']) {
    await page.keyboard.press(one);
    await page.waitForTimeout(180);
  }
  wall.hold(0);
  await settled(page);
  const asked = wall.asked();
  assert.ok(asked.length > 0, 'nothing was asked');
  assert.deepEqual(asked.filter((one, i) => asked.indexOf(one) !== i), [], 'asked again');
  await page.close();
});
