// Drives the tool pages of the built console in Chromium against the mock: every tool of the registry, tables, drawer, op profile,
// roofline, memory, graph, comparison, accessibility, widths. Part of `npm run flows`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { close, complete, cpu, Flows, gpu, partial, path, seriousFindings } from './flow-harness.mjs';
import { registry } from './mock-tools.mjs';

const flows = new Flows();
before(() => flows.start());
after(() => flows.stop());
const open = (where) => flows.open(where);
const quiet = (page) => page.waitForFunction(() => document.querySelector('#page') && !document.querySelector('.skeleton'));
const parameter = (page, key) => new URL(page.url()).searchParams.get(key);
const rowTexts = (page) => page.locator('.data-body .data-row').allInnerTexts();

test('every tool of the registry has a page, on every kind of session', async () => {
  for (const session of [complete, gpu, cpu]) {
    const page = await open(`/s/${session}/overview`);
    for (const tool of registry) {
      await page.goto(`${flows.mock.url}/s/${session}/${tool.id}`);
      await quiet(page);
      await page.waitForSelector(`h1:has-text("${tool.title}")`);
      assert.equal(await page.locator('.notice.error').count(), 0, `${tool.id} of ${session}`);
      const words = await page.locator('#page').innerText();
      assert.ok(words.replace(tool.title, '').replace(tool.question, '').trim().length > 12, `${tool.id} of ${session} says nothing`);
    }
    await close(page);
  }
});

// acceptance: XT1
test('a tool without data says why, what would bring it, and is dimmed in the rail', async () => {
  const page = await open(`/s/${cpu}/graph`);
  await page.waitForSelector('.notice:has-text("The profile has no HLO modules.")');
  assert.match(await page.locator('.notice').first().innerText(), /enable_hlo_proto/);
  assert.equal(await page.locator('.rail-item.without:has-text("Graph")').count(), 1);
  await page.goto(`${flows.mock.url}/s/${complete}/megascale_stats`);
  await page.waitForSelector('.notice:has-text("The job ran in one slice.")');
  await close(page);
});

test('keys go from tool to tool and keep the context', async () => {
  const page = await open(`/s/${complete}/overview?b=${partial}&h=host0`);
  await page.waitForSelector('.context-choice.set');
  for (const [key, where] of [['p', 'ops'], ['m', 'memory'], ['r', 'roofline'], ['h', 'graph'], ['i', 'input'], ['k', 'counters']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForURL(new RegExp(`/${where}\\?b=${partial}&h=host0$`));
  }
  await close(page);
});

// acceptance: OP3 W9
test('a table sorts, filters and chooses columns in the address, and a reload keeps all of it', async () => {
  const page = await open(`/s/${complete}/hlo_stats`);
  await page.waitForSelector('.data-body .data-row');
  const before = await page.locator('.data-body .data-row').count();
  await page.click('[role=columnheader] button:has-text("Runs")');
  await page.waitForURL(/sort=-occurrences/);
  await page.click('button:has-text("Filter")');
  await page.click('.menu-item:has-text("Category")');
  await page.click('.menu-item:has-text("loop fusion")');
  await page.waitForFunction((n) => document.querySelectorAll('.data-body .data-row').length < n, before);
  assert.equal(parameter(page, 'f'), 'category=loop fusion');
  await page.click('button:has-text("Columns")');
  await page.click('.menu-item:has-text("HLO text")');
  await page.keyboard.press('Escape');
  await page.waitForURL(/cols=/);
  const shown = await rowTexts(page);
  assert.ok(shown.every((text) => text.includes('loop fusion')));
  await page.reload();
  await page.waitForSelector('.data-body .data-row');
  assert.deepEqual(await rowTexts(page), shown);
  await page.click('.filter-chip');
  await page.waitForFunction((n) => document.querySelectorAll('.data-body .data-row').length === n, before);
  await page.goBack();
  await page.waitForFunction((n) => document.querySelectorAll('.data-body .data-row').length === n, shown.length);
  await close(page);
});

// acceptance: OP4
test('the sum row adds up what the table shows', async () => {
  const page = await open(`/s/${complete}/hlo_stats`);
  await page.waitForSelector('.data-foot');
  assert.match(await page.locator('.data-foot').innerText(), /Sum[^]*100\.0 %/);
  await page.keyboard.press('/');
  await page.keyboard.type('dot_general');
  await page.waitForFunction(() => !/100\.0 %/.test(document.querySelector('.data-foot').innerText));
  assert.equal(parameter(page, 'q'), 'dot_general');
  await close(page);
});

// acceptance: OP5
test('an export holds the rows that the table shows', async () => {
  const page = await open(`/s/${complete}/hlo_stats?q=dot_general&sort=hlo_op_name&cols=hlo_op_name,occurrences`);
  await page.waitForSelector('.data-body .data-row');
  const names = await page.locator('.data-body .data-row [role=cell]:first-child').allInnerTexts();
  await page.click('button:has-text("Export")');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.menu-item:has-text("CSV")')]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  assert.deepEqual(lines.map((line) => line.split(',')[0]), ['HLO op name', ...names.map((name) => name.replace(/\s/g, ''))]);
  await close(page);
});

// acceptance: OP2
test('100,000 rows are there, sort at once and scroll to the end', async () => {
  const page = await open(`/s/${complete}/perf_counters`);
  await page.waitForSelector('.table-bar :text("100,000 rows")');
  assert.ok((await page.locator('.data-body .data-row').count()) < 80);
  const tookMs = await page.evaluate(async () => {
    const header = [...document.querySelectorAll('[role=columnheader] button')].find((one) => one.textContent.startsWith('Value'));
    const from = performance.now();
    header.click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - from;
  });
  assert.ok(tookMs < 2000, `${tookMs} ms`);
  await page.keyboard.press('End');
  await page.waitForFunction(() => Number(document.querySelector('.data-body .data-row:last-child').getAttribute('aria-rowindex')) === 100_001);
  await page.waitForSelector('.data-row.current');
  await close(page);
});

// acceptance: DR1 DR2 DR4
test('the drawer opens from a row, arrows walk the list behind it, links go both ways, Escape closes it', async () => {
  const page = await open(`/s/${complete}/hlo_stats`);
  await page.waitForSelector('.data-body .data-row');
  await page.click('.data-body .data-row:has-text("fusion.3")');
  await page.waitForSelector('[data-testid=drawer] h2:has-text("fusion.3")');
  const text = await page.locator('[data-testid=drawer]').innerText();
  assert.match(text, /of op time[^]*mean of a run/);
  await page.waitForSelector('[data-testid=drawer] h3:has-text("Of peak: bound by HBM")');
  await page.waitForSelector('[data-testid=drawer] :text("/src/model.py:122")');
  await page.waitForSelector('[data-testid=drawer] .histogram');
  await page.waitForSelector('[data-testid=drawer] h3:has-text("Read by")');
  await page.keyboard.press('j');
  await page.waitForFunction(() => !document.querySelector('[data-testid=drawer] h2').textContent.includes('fusion.3'));
  await page.keyboard.press('k');
  await page.waitForSelector('[data-testid=drawer] h2:has-text("fusion.3")');
  await page.click('[data-testid=drawer] a:has-text("Graph")');
  await page.waitForURL(/graph_viewer\?.*node_name=fusion\.3/);
  await page.waitForSelector('.graph-node.center:has-text("fusion.3")');
  await page.goBack();
  await page.waitForSelector('[data-testid=drawer] h2:has-text("fusion.3")');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[data-testid=drawer]', { state: 'detached' });
  assert.equal(parameter(page, 'op'), null);
  await close(page);
});

test('the drawer says that one name stands in several programs', async () => {
  const page = await open(`/s/${complete}/hlo_stats?op=12190760917235803885/dot_general.41`);
  await page.waitForSelector('[data-testid=drawer] h3:has-text("Same name in 2 programs")');
  await page.click('[data-testid=drawer] button:has-text("program")');
  await page.waitForURL(/op=7716253410928341207/);
  await close(page);
});

test('HLO ops are folded by name on demand, and a group opens its rows', async () => {
  const page = await open(`/s/${complete}/hlo_stats`);
  await page.waitForSelector('.data-body .data-row');
  await page.selectOption('.option select', 'hlo_op_name');
  await page.waitForURL(/group=hlo_op_name/);
  await page.waitForSelector('.data-body .data-row:has-text("dot_general.41")');
  assert.equal(await page.locator('.data-body .data-row:has-text("dot_general.41")').count(), 1);
  await page.click('.data-body .data-row:has-text("dot_general.41")');
  await page.waitForURL(/f=hlo_op_name%3Ddot_general\.41/);
  await page.waitForFunction(() => document.querySelectorAll('.data-body .data-row').length === 2);
  await close(page);
});

// acceptance: OP3
test('the op profile folds, groups, finds, and opens an op', async () => {
  const page = await open(`/s/${complete}/op_profile`);
  await page.waitForSelector('[role=treegrid] .data-body [role=row]');
  const total = await page.locator('.kpi').first().innerText();
  await page.click('button:has-text("By category")');
  await page.waitForURL(/o\.group_by=category/);
  await page.waitForSelector('[role=treegrid] .data-body [role=row]:has-text("all-reduce")');
  assert.equal(await page.locator('.kpi').first().innerText(), total);
  const shares = await page.locator('[role=treegrid] .data-body [aria-level="1"] .cell-bar > span:last-child').allInnerTexts();
  const sum = shares.reduce((all, share) => all + Number(share.replace(' %', '')), 0);
  assert.ok(Math.abs(sum - 100) < 0.5, `${sum}`);
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('[role=treegrid] [aria-selected=true][aria-expanded=false]');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('[role=treegrid] [aria-selected=true][aria-expanded=true]');
  const opened = parameter(page, 'open');
  await page.reload();
  await page.waitForSelector('[role=treegrid] .data-body [aria-level="2"]');
  assert.equal(parameter(page, 'open'), opened);
  await page.keyboard.press('/');
  await page.keyboard.type('flash');
  await page.click('[role=treegrid] [role=row]:has-text("flash_fwd")');
  await page.waitForSelector('[data-testid=drawer] h2:has-text("flash_fwd")');
  await page.click('label:has-text("Count idle time")');
  await page.waitForURL(/idle=1/);
  await close(page);
});

// acceptance: RF1 RF2 RF3 DR1
test('a box on the roofline filters the table, a point opens its op, labels do not overlap', async () => {
  const page = await open(`/s/${complete}/roofline_model`);
  await page.waitForSelector('.roof-point');
  const boxes = await page.locator('.chart-box text.strong').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top: top + 3, bottom: bottom - 3 })));
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, 'two labels overlap')));
  assert.match(await page.locator('.chart-foot').innerText(), /without FLOPs or bytes/);
  const all = await page.locator('.data-body .data-row').count();
  const frame = await page.locator('.chart-box').boundingBox();
  await page.mouse.move(frame.x + 100, frame.y + 60);
  await page.mouse.down();
  await page.mouse.move(frame.x + 420, frame.y + 280, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/f=.*measured_flop_rate/);
  await page.waitForFunction((n) => document.querySelectorAll('.data-body .data-row').length < n, all);
  const point = await page.locator('.roof-point').last().boundingBox();
  await page.mouse.click(point.x + point.width / 2, point.y + point.height / 2);
  await page.waitForSelector('[data-testid=drawer] h3:has-text("Of peak")');
  await close(page);
});

// acceptance: IN1 IN3
test('the input page gives a verdict, or the fact that is missing', async () => {
  const page = await open(`/s/${complete}/input`);
  await page.waitForSelector('.verdict:has-text("The device waits for input.")');
  await page.focus('.chart-box');
  for (let i = 0; i < 7; i++) await page.keyboard.press('ArrowRight');
  await page.waitForSelector('.chart-read strong:has-text("Step 7")');
  await page.goto(`${flows.mock.url}/s/${gpu}/input`);
  await page.waitForSelector('.verdict:has-text("no step was found")');
  assert.doesNotMatch(await page.locator('#page').innerText(), /tf\.data\.Dataset|num_parallel_calls/);
  await close(page);
});

// acceptance: ME2
test('a moment of the memory curve lists what was alive, and is in the address', async () => {
  const page = await open(`/s/${complete}/memory`);
  await page.waitForSelector('h2:has-text("Alive at the peak")');
  const frame = await page.locator('.chart-box').boundingBox();
  await page.mouse.click(frame.x + frame.width / 2, frame.y + 100);
  await page.waitForURL(/at=/);
  await page.waitForSelector('h2:has-text("from the recorded moments")');
  await page.click('button:has-text("Back to the peak")');
  await page.waitForSelector('h2:has-text("Alive at the peak")');
  await close(page);
});

// acceptance: ME1 ME3 ME4
test('programs are ordered by peak, the largest is chosen, owners sum to the peak, a buffer leads to its op', async () => {
  const page = await open(`/s/${complete}/memory_viewer`);
  await page.waitForSelector('.treemap button');
  await page.click('button.context-choice:has-text("Program")');
  await page.waitForFunction(() => [...document.querySelectorAll('.menu-item .end')].every((one) => one.textContent !== ''));
  const sizes = await page.locator('.menu-item .end').allInnerTexts();
  const bytes = sizes.map((text) => Number(text.split(' ')[0]) * { MiB: 1, GiB: 1024 }[text.split(' ')[1]]);
  assert.deepEqual(bytes, [...bytes].sort((a, b) => b - a));
  assert.equal(await page.locator('.menu-item[aria-checked=true] .end').innerText(), sizes[0]);
  await page.keyboard.press('Escape');
  assert.match(await page.locator('.data-foot').innerText().catch(() => ''), /^$|Sum/);
  const owners = await page.locator('[aria-label="Owners at the peak"] .filter-chip strong').allInnerTexts();
  const sum = owners.reduce((all, share) => all + Number(share.replace(' %', '')), 0);
  assert.ok(Math.abs(sum - 100) < 0.3, `${sum}`);
  await page.click('.data-body .data-row >> nth=0');
  await page.waitForURL(/buffer=\d+/);
  await page.waitForSelector('[data-testid=drawer]');
  await close(page);
});

// acceptance: GH2 GH4
test('the graph follows a click, unfolds in place, finds, enters a fusion, and shows its text', async () => {
  const page = await open(`/s/${complete}/graph_viewer?o.program_id=12190760917235803885&o.node_name=all-reduce.7`);
  await page.waitForSelector('.graph-node.center:has-text("all-reduce.7")');
  const before = await page.locator('.graph-node').count();
  await page.click('.graph-badge:has-text("+")');
  await page.waitForURL(/[?&]x=/);
  await page.waitForFunction((n) => document.querySelectorAll('.graph-node').length > n, before);
  await page.locator('.graph-node:has-text("flash_fwd") [role=button]').first().click();
  await page.waitForSelector('.graph-node.center:has-text("flash_fwd")');
  await page.goBack();
  await page.waitForSelector('.graph-node.center:has-text("all-reduce.7")');
  await page.keyboard.press('/');
  await page.keyboard.type('fusion.3');
  await page.waitForSelector('[role=option]:has-text("fusion.3")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.graph-node.center:has-text("fusion.3")');
  await page.click('.graph-badge:has-text("in")');
  await page.waitForSelector('.graph-panel h2:has-text("fused_fusion_3")');
  await page.click('button:has-text("Text")');
  await page.waitForSelector('.text-line.here');
  assert.match(await page.locator('.text-view').innerText(), /HloModule jit_train_step/);
  await close(page);
});

test('the graph zooms and moves by keys, wheel and drag', async () => {
  const page = await open(`/s/${complete}/graph_viewer`);
  await page.waitForSelector('.graph-node.center');
  const transform = () => page.locator('.graph-view svg > g').getAttribute('transform');
  const first = await transform();
  await page.keyboard.press('+');
  await page.waitForFunction((old) => document.querySelector('.graph-view svg > g').getAttribute('transform') !== old, first);
  await page.keyboard.press('0');
  const box = await page.locator('.graph-view').boundingBox();
  const fitted = await transform();
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 130, box.y + 80, { steps: 3 });
  await page.mouse.up();
  assert.notEqual(await transform(), fitted);
  await close(page);
});

// acceptance: CP1 CP2 CP3
test('b and Enter compare with the session before; z swaps and flips every sign; the parts sum to the whole', async () => {
  const page = await open(`/s/${complete}/hlo_stats`);
  await page.waitForSelector('.data-body .data-row');
  await page.keyboard.press('b');
  await page.waitForSelector('.menu-item:focus');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`b=${partial}`));
  await page.waitForSelector('.difference');
  assert.match(await page.locator('.table-bar').innerText(), /matched, \d+ new, \d+ gone/);
  const deltas = () => page.locator('.data-body .data-row .delta').allInnerTexts();
  const here = (await deltas()).filter((text) => !text.includes('%'));
  const parts = await page.locator('.difference li .number').allInnerTexts();
  const number = (text) => Number(text.replace('\u2212', '-').replace(/[^\d.+-]/g, ''));
  const whole = number((await page.locator('.difference .delta').first().innerText()).split('(')[0]);
  assert.ok(Math.abs(parts.reduce((sum, text) => sum + number(text), 0) - whole) < 0.2, `${parts} against ${whole}`);
  await page.keyboard.press('z');
  await page.waitForURL(new RegExp(`/s/${partial}/hlo_stats\\?b=${complete}`));
  await page.waitForSelector('.difference');
  await page.waitForFunction((n) => document.querySelectorAll('.data-body .data-row .delta').length >= n, 1);
  const there = (await deltas()).filter((text) => !text.includes('%'));
  assert.deepEqual(there.map(number).map((value) => -value).sort((a, b) => a - b), here.map(number).sort((a, b) => a - b));
  await close(page);
});

// acceptance: CP5
test('the baseline is on every tool page', async () => {
  const page = await open(`/s/${complete}/op_profile?b=${partial}`);
  await page.waitForSelector('[role=treegrid] .delta');
  await page.goto(`${flows.mock.url}/s/${complete}/overview?b=${partial}`);
  await page.waitForSelector('.kpi-note:has-text("baseline")');
  await page.goto(`${flows.mock.url}/s/${complete}/framework_op_stats?b=${partial}`);
  await page.waitForSelector('.data-body .delta');
  await page.click('button:has-text("Reset")');
  await page.waitForSelector('.data-body .delta', { state: 'detached' });
  await close(page);
});

// acceptance: OV5 DR1
test('the overview answers first: figures with their proof, findings, and the drawer of an op', async () => {
  const page = await open(`/s/${complete}/overview`);
  await page.waitForSelector('.findings li');
  await quiet(page);
  const figures = await page.locator('.kpis.figures').innerText();
  for (const words of [/Step time[^]*9\.00[^]*ms/, /Duty cycle[^]*86\.5/, /Of peak FLOP rate[^]*%/, /Peak memory[^]*GiB/]) assert.match(figures, words);
  assert.match(await page.locator('.findings').innerText(), /input-bound/);
  for (const link of await page.locator('.kpis.figures a').all()) assert.ok(await link.getAttribute('href'));
  await page.click('.topops td.c-name a:has-text("flash_fwd")');
  await page.waitForSelector('[data-testid=drawer] h3:has-text("Of peak")');
  await page.goBack();
  await page.waitForSelector('[data-testid=drawer]', { state: 'detached' });
  await close(page);
});

test('options are in the address, and a partial answer says so', async () => {
  const page = await open(`/s/${complete}/framework_op_stats`);
  await page.waitForSelector('.options-bar');
  await page.click('.option.check');
  await page.waitForURL(/o\.include_idle=true/);
  await page.click('button:has-text("Defaults")');
  await page.waitForFunction(() => !location.search.includes('o.include_idle'));
  await page.goto(`${flows.mock.url}/s/${partial}/hlo_stats`);
  await page.waitForSelector('.notice.lossy:has-text("host1 was cut off")');
  await close(page);
});

test("XProf's old tool links keep module and node", async () => {
  const page = await open(`/?run=llama-8b-142/2026_11_29_14_31_00&tag=graph_viewer&module_name=jit_train_step(12190760917235803885)&node_name=fusion.3`);
  await page.waitForURL(new RegExp(`/s/${complete}/graph_viewer`));
  await page.waitForSelector('.graph-node.center:has-text("fusion.3")');
  assert.match(path(page), /o\.node_name=fusion\.3/);
  await close(page);
});

const pages = ['op_profile', 'hlo_stats?op=12190760917235803885/fusion.3', 'roofline_model', 'input', 'memory', 'memory_viewer', 'graph_viewer', 'smart_suggestion', `hlo_stats?b=${partial}`, 'perf_counters'];

// Every page in every theme: tests/browser/every_page.check.mjs.
test('no serious finding of axe on tool pages', async () => {
  const page = await open(`/s/${complete}/overview`);
  for (const where of pages) {
    await page.goto(`${flows.mock.url}/s/${complete}/${where}`);
    await quiet(page);
    assert.deepEqual(await seriousFindings(page, where), []);
  }
  await close(page);
});

test('no tool page scrolls sideways from 1024 to 2560 px', async () => {
  const page = await open(`/s/${complete}/overview`);
  for (const width of [1024, 1280, 1600, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    for (const where of pages.filter((one) => !one.includes('op='))) {
      await page.goto(`${flows.mock.url}/s/${complete}/${where}`);
      await quiet(page);
      const over = await page.evaluate(() => {
        const box = document.querySelector('.page');
        const views = [...document.querySelectorAll('.data-view')].map((view) => view.scrollWidth - view.clientWidth);
        return [document.documentElement.scrollWidth - window.innerWidth, box.scrollWidth - box.clientWidth, ...views];
      });
      assert.ok(over.every((one) => one <= 0), `${where} at ${width}: ${over}`);
    }
  }
  await close(page);
});
