// Ten thousand runs in one list: they come while one scrolls, only those in sight are in the page, and no frame takes long.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { startBrowser, startServer } from './harness.mjs';

const COUNT = 10_000;
const AT_ONCE = 16; // Requests under way while the runs are made.
const MOST_ROWS = 150;
const FRAMES = 10; // Of one measurement.
const STEP_PX = 1200;
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

// acceptance: RL1
test('ten thousand runs scroll to the last one and few rows are in the page', async () => {
  const page = await browser.open(server.url, { address: '/runs?sort=name', width: 1600, height: 1000 });
  await page.locator('table[aria-label=Runs] .run-name', { hasText: 'run 00000' }).waitFor();
  // Time of the page's own thread, which does not count what other programs on the machine take from it.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => (await devtools.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value * 1000;
  const perFrame = [];
  let state = { atEnd: false, most: 0 };
  while (!state.atEnd) {
    const before = await worked();
    state = await page.evaluate(async ({ stepPx, frames, count, most }) => {
      const scroller = document.querySelector('#page');
      const table = document.querySelector('table[aria-label=Runs]');
      let largest = most;
      for (let i = 0; i < frames; i++) {
        scroller.scrollTop += stepPx;
        await new Promise(requestAnimationFrame);
        largest = Math.max(largest, table.querySelectorAll('tbody tr').length);
      }
      return { atEnd: Number(table.getAttribute('aria-rowcount')) > count && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 2, most: largest };
    }, { stepPx: STEP_PX, frames: FRAMES, count: COUNT, most: state.most });
    perFrame.push(((await worked()) - before) / FRAMES);
  }
  perFrame.sort((a, b) => a - b);
  const longest = perFrame.at(-1);
  const measured = { most: state.most, rows: await page.locator('table[aria-label=Runs]').getAttribute('aria-rowcount') };
  console.log(`the page worked ${perFrame[perFrame.length >> 1].toFixed(1)} ms a frame in the middle, ${longest.toFixed(1)} ms at most; rows in the page at most ${measured.most}`);
  assert.equal(measured.rows, String(COUNT + 1), 'the last run was reached');
  assert.ok(measured.most <= MOST_ROWS, `${measured.most} rows in the page`);
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
