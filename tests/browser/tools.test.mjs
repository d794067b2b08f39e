// The tool pages over the real server and real profiles: the figures a reader must see, without a click where that is promised.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { corpus, startBrowser, startServer } from './harness.mjs';

const real = corpus();
const options = { skip: real ? false : 'the corpus of real profiles is absent' };
let server;
let browser;
let sessions;
let tools;

before(async () => {
  if (!real) return;
  server = await startServer({ roots: [path.join(real, 'sessions')] });
  browser = await startBrowser();
  ({ sessions } = await server.json('/api/v1/sessions?page_size=1000'));
  ({ tools } = await server.json('/api/v1/tools'));
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

function find(part, at = 0) {
  const found = sessions.filter((one) => `${one.run}/${one.path}`.includes(part));
  assert.ok(found[at], `no session of ${part}`);
  return found[at];
}

async function open(session, where) {
  const page = await browser.open(server.url, { address: `/s/${session.id}/${where}` });
  page.setDefaultTimeout(60_000);
  await quiet(page);
  return page;
}

const quiet = (page) => page.waitForFunction(() => document.querySelector('#page') && !document.querySelector('.skeleton'));

async function close(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors.filter((error) => !/Failed to load resource/.test(error)), []);
  await page.close();
}

// acceptance: W1
test('every tool has a page on every kind of device that shows no fault', options, async () => {
  for (const part of ['tpu-v6e', 'gpu-mi300-attention', 'gpu-v100', 'cpu-jax-ring']) {
    const session = find(part);
    const page = await open(session, 'overview');
    for (const tool of tools.filter((one) => one.listed && !/^trace_viewer|^overview_page$/.test(one.id))) {
      await page.goto(`${server.url}/s/${session.id}/${tool.id}`);
      await quiet(page);
      await page.waitForSelector(`h1:has-text("${tool.title}")`);
      assert.deepEqual(await page.locator('.notice.error').allInnerTexts(), [], `${tool.id} of ${part}`);
    }
    await close(page);
  }
});

// acceptance: OV1
test('the TPU session shows host copies, peak memory and duty cycle without a click', options, async () => {
  const page = await open(find('tpu-v6e'), 'overview');
  await page.waitForSelector('.findings :text("96.5 % of device op time")');
  const figures = await page.locator('.kpis.figures').innerText();
  assert.match(figures, /Duty cycle\s+86\.5/);
  assert.match(figures, /Peak memory\s+20\.0\s*GiB\s+of 31\.2 GiB/);
  assert.doesNotMatch(figures, /NaN|nan/);
  await close(page);
});

// acceptance: OV2
test('the V100 session shows its step time and which GPUs worked without a click', options, async () => {
  const page = await open(find('gpu-v100'), 'overview');
  await page.waitForSelector('.findings :text("of 8 devices ran anything")');
  assert.match(await page.locator('.kpis.figures').innerText(), /Step time, mean\s+21\.3\s*ms/);
  await close(page);
});

// acceptance: DR3
test('the op drawer of the MI300 session holds the figures of one op', options, async () => {
  const page = await open(find('gpu-mi300-attention'), 'hlo_stats?q=gemm_fusion_dot_general.1');
  await page.click('.data-body .data-row');
  const drawer = page.locator('[data-testid=drawer]');
  await page.waitForSelector('[data-testid=drawer] :text("Roofline")');
  const words = await drawer.innerText();
  assert.match(words, /120 µs\s+mean of a run/);
  assert.match(words, /FLOP rate\s+21\.9 %/);
  assert.match(words, /Memory\s+57\.8 %/);
  assert.match(words, /:26\b/);
  await close(page);
});

// acceptance: IN1 IN3 OV3
test('a session without steps gets a verdict that names the missing fact', options, async () => {
  for (const part of ['tpu-v6e', 'gpu-mi300-attention']) {
    const page = await open(find(part), 'input');
    await page.waitForSelector('.verdict:has-text("no step was found")');
    assert.doesNotMatch(await page.locator('#page').innerText(), /num_parallel_calls/);
    await close(page);
  }
});

// acceptance: CP4
test('two sessions of one program match completely', options, async () => {
  const [a, b] = [find('gpu-1080ti-julia', 0), find('gpu-1080ti-julia', 1)];
  const page = await open(a, `kernel_stats?b=${b.id}`);
  await page.waitForSelector('.table-bar :text("matched, 0 new, 0 gone")');
  assert.match(await page.locator('.table-bar').innerText(), /[1-9]\d* matched/);
  await close(page);
});

// acceptance: OP1 OP4
test('op profile parts sum to its total and nothing scrolls sideways at 1280 px', options, async () => {
  const page = await open(find('gpu-mi300-attention'), 'op_profile');
  const shares = await page.locator('[role=treegrid] .data-body [aria-level="1"] .cell-bar > span:last-child').allInnerTexts();
  const sum = shares.reduce((all, share) => all + Number(share.replace(/[<%\s]/g, '')), 0);
  assert.ok(Math.abs(sum - 100) < 1, `${sum}`);
  assert.ok((await page.evaluate(() => document.querySelector('.data-view').scrollWidth - document.querySelector('.data-view').clientWidth)) <= 0);
  await close(page);
});
