// Drives the built console in Chromium against the mock server: pages, keys, captures, a lost connection, a base path,
// wrong addresses, old XProf links, accessibility and size. `npm run flows` after `npm run build`.
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, test } from 'node:test';
import { close, complete, Flows, partial, path, seriousFindings } from './flow-harness.mjs';

const flows = new Flows();
before(() => flows.start());
after(() => flows.stop());
const open = (where, base) => flows.open(where, base);

function bytesOnTheWire(url) {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'Accept-Encoding': 'gzip' } }, (response) => {
      let size = 0;
      response.on('data', (chunk) => (size += chunk.length));
      response.on('end', () => resolve(size));
    }).on('error', reject);
  });
}

test('the list is walked and opened by keys, tools by g and a letter, and Back returns', async () => {
  const page = await open('/');
  await page.waitForSelector('tbody tr.link');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  assert.equal(await page.locator('tr.current').count(), 1);
  assert.match(await page.locator('tr.current').innerText(), /14:31:00/);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/s/${complete}/overview`);
  await page.waitForFunction(() => document.title === 'Overview - 2026-11-29 14:31:00 - llama-8b-142 - Strobe');
  await page.waitForSelector('.topops tbody tr.link');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.waitForURL('**/files');
  await page.goBack();
  await page.waitForURL('**/overview');
  await page.goBack();
  await page.waitForSelector('.sessions');
  await close(page);
});

// acceptance: W9
test('the search is in the address and survives a reload', async () => {
  const page = await open('/');
  await page.waitForSelector('tbody tr.link');
  await page.keyboard.press('/');
  await page.keyboard.type('vllm');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  assert.equal(path(page), '/?q=vllm');
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr.link').length === 1);
  await page.fill('input[type=search]', 'no such thing');
  await page.waitForSelector('text=No session has');
  await close(page);
});

test('top operations sort and filter in the address, and lead over the drawer to the timeline', async () => {
  const page = await open(`/s/${complete}/overview`);
  await page.click('th.c-count button');
  await page.waitForURL('**/overview?sort=-count');
  const counts = await page.locator('td.c-count').allInnerTexts();
  const numbers = counts.map((text) => Number(text.replace(/,/g, '')));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  await page.click('td.c-name a:has-text("flash_fwd")');
  await page.waitForURL(/op=\/flash_fwd/);
  await page.click('[data-testid=drawer] a:has-text("Longest on the timeline")');
  await page.waitForURL(/timeline\?sel=\d+\.\d+\.\d+\.\d+/);
  await close(page);
});

test('names of operations have room at every width, and a cut one keeps an ellipsis and its tail', async () => {
  const page = await open(`/s/${complete}/overview`);
  await page.waitForSelector('.topops tbody tr.link');
  for (const width of [1024, 1280, 1440, 1680, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const column = await page.evaluate(() => document.querySelector('.topops th.c-name').getBoundingClientRect().width);
    assert.ok(column >= 240, `${width} px: ${column}`);
  }
  // However little room there is, the head does not vanish: its ellipsis says that something is left out.
  const parts = await page.evaluate(() => {
    const name = document.querySelector('.topops tbody .middle');
    name.replaceChildren(...['truncate', 'nowrap'].map((of) => Object.assign(document.createElement('span'), { className: of, textContent: of === 'nowrap' ? 'add_fusion.1' : 'broadcast_' })));
    name.style.width = '90px';
    const [head, tail] = [...name.children].map((one) => ({ width: one.clientWidth, whole: one.scrollWidth, right: one.getBoundingClientRect().right }));
    return { head, tail, right: name.getBoundingClientRect().right };
  });
  assert.ok(parts.head.width >= 16 && parts.head.whole > parts.head.width, JSON.stringify(parts));
  assert.ok(Math.abs(parts.tail.right - parts.right) < 1, JSON.stringify(parts));
  await close(page);
});

test('a step opens its range on the timeline', async () => {
  const page = await open(`/s/${complete}/overview`);
  await page.waitForSelector('.steps-bars');
  await page.focus('.steps-bars');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('.steps-read strong:has-text("Step 2")');
  await page.keyboard.press('Enter');
  await page.waitForURL(/timeline\?v=[\d.]+ms,[\d.]+ms/);
  await close(page);
});

// acceptance: CA2 CA4 CA5
test('a capture runs on after its dialog is closed, and the toast opens the session', async () => {
  const page = await open(`/s/${complete}/overview`);
  await page.waitForSelector('.topops tbody tr.link');
  await page.keyboard.press('Control+Shift+C');
  await page.fill('[role=dialog] textarea', '127.0.0.1:9012, gone.example:1');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.capture-target.failed');
  assert.match(await page.locator('.capture-target.failed').innerText(), /refused the connection[^]*start_server/);
  await page.waitForSelector('.capture-target.recording');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role=dialog]', { state: 'detached' });
  await page.waitForSelector('.capture-running');
  await page.reload();
  await page.waitForSelector('.capture-running');
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForSelector('.toast a');
  assert.match(await page.locator('.toast').innerText(), /1 host\.[^]*1 target did not deliver/);
  await page.click('.toast a');
  await page.waitForURL('**/overview');
  await page.waitForSelector('.crumbs:has-text("live")');
  await close(page);
});

// acceptance: CA2
test('a capture can be cancelled, and a wrong target is refused in words', async () => {
  const page = await open('/');
  await page.click('header .button.primary');
  await page.fill('[role=dialog] textarea', 'nonsense');
  await page.click('[role=dialog] button[type=submit]');
  await page.waitForSelector('[role=dialog] :text("is not HOST:PORT")');
  await page.fill('[role=dialog] textarea', '127.0.0.1:9012');
  await page.click('[role=dialog] button[type=submit]');
  await page.click('text=Cancel capture');
  await page.waitForSelector('h1:has-text("Capture cancelled")');
  await close(page);
});

// acceptance: W8
test('a lost server is told within two seconds, the page stays, and it comes back by itself', async () => {
  let own = await flows.startMock();
  const page = await open(`/s/${complete}/overview`, own.url);
  await page.waitForSelector('.topops tbody tr.link');
  await own.stop();
  await page.waitForSelector('.banner:has-text("No connection")', { timeout: 2500 });
  assert.ok((await page.locator('.topops tbody tr.link').count()) > 3);
  own = await flows.startMock('--port', own.port);
  await page.waitForSelector('.banner', { state: 'detached', timeout: 8000 });
  await page.close();
  await own.stop();
});

// acceptance: W9
test('wrong addresses have a page that names them', async () => {
  for (const [where, words] of [['/s/nope/overview', /no such session[^]*nope/i], [`/s/${complete}/magic`, /no such tool[^]*magic/i], ['/nowhere', /no such page[^]*\/nowhere/i]]) {
    const page = await open(where);
    await page.waitForSelector('.lost-page');
    assert.match(await page.locator('.lost-page').innerText(), words);
    await close(page);
  }
});

test("XProf's old links lead to the same session", async () => {
  const page = await open('/?run=llama-8b-142/2026_11_29_14_31_00&tag=trace_viewer@');
  await page.waitForURL(`**/s/${complete}/timeline`);
  await close(page);
});

// acceptance: W4
test('everything works under a prefix', async () => {
  const own = await flows.startMock('--base', '/a/b/');
  const page = await open('/', own.url);
  await page.waitForSelector('tbody tr.link');
  await page.click('tbody tr.link >> nth=1');
  await page.waitForURL(`**/a/b/s/${complete}/overview`);
  await page.waitForSelector('.topops tbody tr.link');
  await page.reload();
  await page.waitForSelector('.topops tbody tr.link');
  await page.click('.rail a:has-text("Timeline")');
  await page.waitForURL('**/a/b/s/*/timeline**');
  await close(page);
  await own.stop();
});

// acceptance: RL5 CA1
test('the empty list offers two ways to a first profile', async () => {
  const own = await flows.startMock('--empty');
  const page = await open('/', own.url);
  await page.waitForSelector('text=No profile here yet');
  await page.click('text=Capture a profile');
  await page.click('[role=dialog] button[type=submit]');
  await page.waitForSelector('button:has-text("Open session")');
  await page.keyboard.press('Escape');
  await page.waitForSelector('tbody tr.link', { timeout: 3000 });
  await close(page);
  await own.stop();
});

test('the palette finds a session and Escape closes one layer at a time', async () => {
  const page = await open('/');
  await page.waitForSelector('tbody tr.link');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('conv-legacy');
  await page.waitForSelector('[role=option]:has-text("conv-legacy")');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/overview');
  await page.waitForSelector('text=Nothing of this session could be read');
  await page.keyboard.press('?');
  await page.waitForSelector('[role=dialog]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role=dialog]', { state: 'detached' });
  assert.match(path(page), /overview$/);
  await close(page);
});

test('a session with losses says each in a sentence', async () => {
  const page = await open(`/s/${partial}/files`);
  await page.waitForSelector('.losses li');
  assert.match(await page.locator('.losses').innerText(), /host1: cut off after 793 KiB of 1,008 KiB/);
  assert.match(await page.locator('table.damage').innerText(), /812,331[^]*\/host:CPU[^]*python/);
  await close(page);
});

// Every page in every theme: tests/browser/every_page.check.mjs.
test('no serious finding of axe', async () => {
  for (const where of ['/', `/s/${partial}/overview`, `/s/${partial}/files`]) {
    const page = await open(where);
    await page.waitForSelector('tbody tr td');
    await page.waitForFunction(() => !document.querySelector('.skeleton'));
    assert.deepEqual(await seriousFindings(page, where), []);
    await close(page);
  }
});

test('no page scrolls sideways from 1024 to 2560 px', async () => {
  const page = await open('/');
  for (const width of [1024, 1280, 1600, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    for (const where of ['/', `/s/${partial}/overview`, `/s/${complete}/files`]) {
      await page.goto(flows.mock.url + where);
      await page.waitForSelector('tbody tr td');
      const over = await page.evaluate(() => {
        const box = document.querySelector('.page');
        return [document.documentElement.scrollWidth - window.innerWidth, box.scrollWidth - box.clientWidth];
      });
      assert.deepEqual(over, [0, 0], `${where} at ${width}`);
    }
  }
  await close(page);
});

// acceptance: W2
test('the first visit stays within its weight', async () => {
  const page = await flows.browser.newPage();
  const urls = new Set();
  page.on('request', (request) => urls.add(request.url()));
  await page.goto(flows.mock.url + '/');
  await page.waitForSelector('tbody tr.link');
  await page.waitForLoadState('networkidle').catch(() => undefined);
  const sizes = { code: 0, fonts: 0 };
  for (const url of urls) {
    const kind = /\.(js|css)$/.test(url) ? 'code' : /\.woff2$/.test(url) ? 'fonts' : null;
    if (kind) sizes[kind] += await bytesOnTheWire(url);
  }
  assert.ok(sizes.code > 0 && sizes.code <= 250_000, `script and styles: ${sizes.code} B`);
  assert.ok(sizes.fonts <= 70_000, `fonts: ${sizes.fonts} B`);
  await page.close();
});
