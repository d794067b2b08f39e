// The list of sessions with more of them than one answer holds.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startBrowser, startServer, temporaryDirectory } from './harness.mjs';
import { line, plane, xspace } from './xspace.mjs';

const COUNT = 1150; // More than the 1,000 of the largest page.
let server;
let browser;
let root;

before(async () => {
  root = temporaryDirectory();
  const bytes = xspace([plane('/host:CPU', ['op'], [line(1, 'main', 0n, [[1, 0n, 1000n]])])]);
  for (let i = 0; i < COUNT; ++i) {
    const directory = path.join(root, `run${String(i).padStart(4, '0')}`, 'plugins/profile/2026_01_01_00_00_00');
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, 'host0.xplane.pb'), bytes);
  }
  server = await startServer({ roots: [root] });
  browser = await startBrowser();
  while ((await server.json('/api/v1/sessions?page_size=1')).total < COUNT) await new Promise((resolve) => setTimeout(resolve, 100));
});

after(async () => {
  await browser?.stop();
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

const current = (page) => page.locator('table[aria-label=Sessions] tr.current').getAttribute('aria-rowindex');

async function openList(address = '/') {
  const page = await browser.open(server.url, { address });
  const asked = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/api/v1/sessions' && url.searchParams.has('page_token')) asked.push(url.searchParams.get('page_token'));
  });
  await page.locator('table[aria-label=Sessions] tbody tr.link').first().waitFor();
  return { page, asked };
}

test('End loads on to the last session, and only the rows in sight are in the page', async () => {
  const { page, asked } = await openList();
  await page.keyboard.press('End');
  await page.locator(`table[aria-label=Sessions] tr.current[aria-rowindex="${COUNT + 1}"]`).waitFor();
  assert.ok(asked.length >= 5 && asked.length <= 6 && new Set(asked).size === asked.length, `${asked.length} pages asked for`);
  assert.ok((await page.locator('table[aria-label=Sessions] tbody tr').count()) < 150);
  const box = await page.locator('table[aria-label=Sessions] tr.current').boundingBox();
  assert.ok(box.y > 0 && box.y + box.height <= 800, 'the last row is in sight');
  await page.keyboard.press('Home');
  assert.equal(await current(page), '2');
  assert.deepEqual(page.pageErrors, []);
  await page.close();
});

test('PageDown goes on through what was not loaded yet', async () => {
  const { page } = await openList();
  let at = 0;
  for (let presses = 0; at < 450; ++presses) {
    assert.ok(presses < 60, `row ${at} after ${presses} presses`);
    await page.keyboard.press('PageDown');
    await page.waitForFunction((before) => Number(document.querySelector('table[aria-label=Sessions] tr.current')?.getAttribute('aria-rowindex')) > before, at);
    at = Number(await current(page));
  }
  assert.deepEqual(page.pageErrors, []);
  await page.close();
});

test('an order of the page is over all sessions', async () => {
  const { page } = await openList('/?sort=run');
  const rows = page.locator('table[aria-label=Sessions] tbody tr.link td:nth-child(2)');
  await page.waitForFunction((count) => document.querySelector('table[aria-label=Sessions]').getAttribute('aria-rowcount') === String(count + 1), COUNT);
  assert.equal(await rows.first().innerText(), 'run0000');
  await page.keyboard.press('End');
  await page.locator('table[aria-label=Sessions] tr.current', { hasText: `run${COUNT - 1}` }).waitFor();
  await page.close();
});

test('Enter in the search waits for the answer to the words', async () => {
  const { sessions } = await server.json('/api/v1/sessions?q=run0777');
  assert.equal(sessions.length, 1);
  const { page } = await openList();
  const newest = await page.locator('table[aria-label=Sessions] tbody tr.link a').first().getAttribute('href');
  assert.ok(!newest.includes(sessions[0].id));
  let held = 0;
  await page.route(/\/api\/v1\/sessions\?.*q=run0777/, async (route) => {
    ++held;
    await new Promise((resolve) => setTimeout(resolve, 600));
    await route.continue();
  });
  await page.keyboard.press('/');
  await page.keyboard.type('run0777');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/s\//);
  assert.equal(new URL(page.url()).pathname.split('/')[2], sessions[0].id);
  assert.ok(held > 0);
  assert.deepEqual(page.pageErrors, []);
  await page.close();
});
