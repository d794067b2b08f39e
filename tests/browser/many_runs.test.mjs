// Ten thousand runs in one list: they come while one scrolls, only those in sight are in the page, and no frame takes long.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { startBrowser, startServer } from './harness.mjs';

const COUNT = 10_000;
const AT_ONCE = 16; // Requests under way while the runs are made.
const MOST_ROWS = 150;
const FRAME_MS = 33;
let server;
let browser;

before(async () => {
  server = await startServer();
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let next = 0;
  const make = (i) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ displayName: `run ${String(i).padStart(5, '0')}`, runSet: `group ${i % 40}`, labels: { team: `team-${i % 7}` } });
      const asked = http.request(`${server.url}/v1alpha/projects/default/locations/local/machineLearningRuns?machineLearningRunId=run-${i}`, { method: 'POST', agent, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } }, (answer) => {
        answer.resume();
        answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`))));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < COUNT) await make(next++);
  }));
  agent.destroy();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('ten thousand runs scroll to the last one without a long frame', async () => {
  const page = await browser.open(server.url, { address: '/runs?sort=name', width: 1600, height: 1000 });
  await page.locator('table[aria-label=Runs] .run-name', { hasText: 'run 00000' }).waitFor();
  const measured = await page.evaluate(async ({ stepPx, mostMs }) => {
    const scroller = document.querySelector('#page');
    const frames = [];
    let most = 0;
    const end = performance.now() + mostMs;
    let before = await new Promise(requestAnimationFrame);
    while (performance.now() < end) {
      const last = document.querySelector('table[aria-label=Runs]').getAttribute('aria-rowcount');
      if (scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 2 && Number(last) >= 10_001) break;
      scroller.scrollTop += stepPx;
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - before);
      before = now;
      most = Math.max(most, document.querySelectorAll('table[aria-label=Runs] tbody tr').length);
    }
    frames.sort((a, b) => a - b);
    return { count: frames.length, p95: frames[Math.floor(frames.length * 0.95)], longest: frames.at(-1), most, rows: document.querySelector('table[aria-label=Runs]').getAttribute('aria-rowcount') };
  }, { stepPx: 400, mostMs: 120_000 });
  console.log(`frames ${measured.count}, 95 % within ${measured.p95.toFixed(1)} ms, longest ${measured.longest.toFixed(1)} ms, rows in the page at most ${measured.most}`);
  assert.equal(measured.rows, String(COUNT + 1), 'the last run was reached');
  assert.ok(measured.most <= MOST_ROWS, `${measured.most} rows in the page`);
  assert.ok(measured.p95 <= FRAME_MS + 1, `95 % of the frames within ${measured.p95} ms`);
  await page.locator('table[aria-label=Runs] .run-name', { hasText: 'run 09999' }).waitFor();

  // Keys reach the ends, and the search goes over all of them.
  await page.keyboard.press('Home');
  await page.locator('table[aria-label=Runs] .run-name', { hasText: 'run 00000' }).waitFor();
  await page.keyboard.press('End');
  await page.locator('table[aria-label=Runs] tr.current', { hasText: 'run 09999' }).waitFor();
  await page.getByLabel('Search runs').fill('run 0777');
  await page.getByText('10 found').waitFor();
  assert.deepEqual(page.pageErrors, []);
  await page.close();
});
