// The pages of runs in Chromium: a run is registered, found, looked through, changed and deleted; its profiles open and stay.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { samples, startBrowser, startServer } from './harness.mjs';

const MARKUP = '<img src=x onerror="document.title=\'owned\'">';
let server;
let browser;

before(async () => {
  server = await startServer({ roots: [samples()] });
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

async function send(method, address, body) {
  const response = await fetch(server.url + address, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}

const runsOf = (project, location = 'local') => `/v1alpha/projects/${project}/locations/${location}/machineLearningRuns`;
const create = (project, id, body) => send('POST', `${runsOf(project)}?machineLearningRunId=${id}`, body);

async function close(page) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors, []);
  await page.close();
}

const rows = (page) => page.locator('table[aria-label=Runs] tbody tr:not([aria-hidden])');

// One of the samples, copied where this server may look: a directory of a run with one profile.
function storageOfRun(name) {
  const [sample] = readdirSync(samples(), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const storage = path.join(server.captures, name);
  mkdirSync(storage, { recursive: true });
  cpSync(path.join(samples(), sample.name), storage, { recursive: true });
  return storage;
}

// acceptance: RL5
test('an empty list says how a first run comes', async () => {
  const page = await browser.open(server.url, { address: '/runs?project=nobody' });
  await page.getByRole('heading', { name: 'No run here yet' }).waitFor();
  assert.ok(Array.isArray(await server.json('/runs')), 'a program gets the list that XProf gives at this address');
  assert.match(await page.locator('.first-run').innerText(), new RegExp(`DIAGON_BASE_URL=${server.url}`));
  await close(page);
});

test('a directory becomes a run, whose profiles open', async () => {
  const storage = storageOfRun('old-job');
  const page = await browser.open(server.url, { address: '/' });
  await page.locator('table[aria-label=Sessions] tbody tr.link').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('u');
  await page.getByRole('button', { name: 'Register a run' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('old job');
  await page.getByLabel('Storage path').fill(storage);
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.waitForURL(/\/runs\/default\/local\//);
  await page.getByRole('heading', { name: 'old job' }).waitFor();
  const profile = page.locator('table[aria-label=Profiles] tbody tr.link');
  await profile.first().waitFor();
  assert.match(await profile.first().innerText(), /Found/);
  assert.equal(await page.getByRole('button', { name: 'Edit' }).isDisabled(), true);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/s\/[^/]+\/overview/);
  await page.getByRole('heading', { name: /Top operations|Operations/ }).first().waitFor();
  await close(page);
});

test('runs are searched and filtered on the server, and the address keeps it', async () => {
  await create('search', 'llama-1', { displayName: 'llama one', runSet: 'llama' });
  await create('search', 'llama-2', { displayName: 'llama two', runSet: 'llama', runPhase: 'FAILED', errorDetails: 'out of memory' });
  await create('search', 'moe', { displayName: 'other', runSet: 'moe "x"' });
  const page = await browser.open(server.url, { address: '/runs?project=search' });
  await rows(page).nth(2).waitFor();
  await page.getByLabel('Search runs').fill('llama');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] tbody tr').length === 2);
  await page.getByLabel('State').selectOption('FAILED');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] tbody tr').length === 1);
  assert.match(await rows(page).innerText(), /llama two[\s\S]*Failed/);
  const address = page.url().slice(server.url.length);
  await close(page);

  const again = await browser.open(server.url, { address });
  await rows(again).first().waitFor();
  assert.equal(await rows(again).count(), 1);
  await again.goto(server.url + '/runs?project=search');
  await again.getByRole('button', { name: 'moe "x"' }).click();
  await again.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] tbody tr').length === 1);
  assert.match(await rows(again).innerText(), /other/);
  await again.getByLabel('Project').selectOption('default');
  await close(again);
});

// acceptance: RN4
test('a new run and its end appear by themselves', async () => {
  await create('live', 'first', { displayName: 'first' });
  const page = await browser.open(server.url, { address: '/runs?project=live' });
  await rows(page).first().waitFor();
  await create('live', 'second', { displayName: 'second' });
  await rows(page).filter({ hasText: 'second' }).waitFor({ timeout: 5000 });
  await send('PATCH', `${runsOf('live')}/second?updateMask=runPhase`, { runPhase: 'COMPLETED' });
  await rows(page).filter({ hasText: 'second' }).filter({ hasText: 'Completed' }).waitFor({ timeout: 5000 });
  await close(page);
});

test('a run shows its settings, workers and events', async () => {
  await create('parts', 'r', {
    displayName: 'parts', labels: { team: 'vision' },
    configs: { userConfigs: { learning_rate: '0.003', batch: '512' }, hardwareConfigs: { chips: '64' } },
  });
  await send('POST', `${runsOf('parts')}/r/profilerTargets?profilerTargetId=worker-0`, { hostname: 'host0', isMaster: true });
  await send('POST', `${runsOf('parts')}/r/monitoredEvents?monitoredEventId=slow`, {
    displayName: 'Steps became slow', type: 'PERFORMANCE_DEGRADATION', startTime: '2026-11-30T10:00:00Z', endTime: '2026-11-30T10:05:00Z',
    analyzerReports: [{ analyzer: 'input', detectionState: 'DETECTED', details: 'the host waits' }],
  });
  const page = await browser.open(server.url, { address: '/runs/parts/local/r?tab=configs' });
  await page.getByLabel('Find a setting').fill('rate');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Configuration] tbody tr').length === 1);
  assert.match(await page.locator('table[aria-label=Configuration] tbody').innerText(), /learning_rate\s+0\.003/);
  await page.getByRole('tab', { name: /Workers/ }).click();
  assert.match(await page.locator('table[aria-label=Workers] tbody').innerText(), /worker-0\s+host0\s+0\s+Master/);
  await page.getByRole('tab', { name: /Events/ }).click();
  assert.match(await page.locator('table[aria-label=Events] tbody').innerText(), /Steps became slow\s+Performance degradation\s+.*\s+5 min\s+input/);
  await page.goBack();
  await page.locator('table[aria-label=Workers]').waitFor();
  await close(page);
});

test('a change keeps what others changed meanwhile, and a delete says what stays', async () => {
  await create('edit', 'r', { displayName: 'before', labels: { team: 'a' } });
  const page = await browser.open(server.url, { address: '/runs/edit/local/r' });
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Labels').fill('nonsense');
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);
  await page.getByLabel('Labels').fill('team=b, owner=ann');
  await page.getByLabel('Name', { exact: true }).fill(MARKUP);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: MARKUP }).waitFor();
  const stored = await server.json(`${runsOf('edit')}/r`);
  assert.deepEqual(stored.labels, { team: 'b', owner: 'ann' });

  await page.getByRole('button', { name: 'Edit' }).click();
  await send('PATCH', `${runsOf('edit')}/r?updateMask=displayName`, { displayName: 'by somebody else' });
  await page.getByLabel('Group').fill('mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('ETAG_MISMATCH').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'by somebody else' }).waitFor();

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('What stays').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/runs$/);
  assert.equal((await server.json(`${runsOf('edit')}/r`)).error.code, 404);
  // The refused change is an error of the network to Chromium; nothing else went wrong.
  assert.deepEqual(page.pageErrors.filter((text) => !/status of 409/.test(text)), []);
  assert.equal(await page.title().then((title) => title.includes('owned')), false);
  await page.close();
});

// acceptance: RL2
test('the list is ordered, grouped and filtered by the address, and a filter is kept under a name', async () => {
  await create('order', 'b', { displayName: 'bravo', runSet: 'one' });
  await create('order', 'a', { displayName: 'alpha', runSet: 'two' });
  await create('order', 'c', { displayName: 'charlie', runSet: 'one', runPhase: 'FAILED' });
  const names = (page) => page.locator('table[aria-label=Runs] tbody tr .run-name').allInnerTexts();
  const page = await browser.open(server.url, { address: '/runs?project=order' });
  await rows(page).nth(2).waitFor();
  assert.deepEqual(await names(page), ['charlie', 'alpha', 'bravo']);
  await page.locator('th').getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForFunction(() => document.querySelector('table[aria-label=Runs] .run-name')?.textContent === 'alpha');
  await page.locator('th').getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForFunction(() => document.querySelector('table[aria-label=Runs] .run-name')?.textContent === 'charlie');
  assert.match(page.url(), /sort=-name/);
  await page.getByLabel('Grouping').selectOption('group');
  await page.locator('tr.run-group').nth(1).waitFor();
  assert.deepEqual(await names(page), ['charlie', 'bravo', 'alpha']);
  assert.deepEqual((await page.locator('tr.run-group').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()), ['one 2', 'two 1']);
  // Keys fold a group and open it again.
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] .run-name').length === 1);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] .run-name').length === 3);

  await page.getByLabel('State').selectOption('FAILED');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] .run-name').length === 1);
  await page.getByRole('button', { name: 'Saved filters' }).click();
  await page.getByRole('menuitem', { name: 'Save the filter as' }).click();
  await page.getByLabel(/^Name/).fill('what failed');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.goto(server.url + '/runs?project=order');
  await rows(page).nth(2).waitFor();
  await page.getByRole('button', { name: 'Saved filters' }).click();
  await page.getByRole('menuitemradio', { name: 'what failed' }).click();
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Runs] .run-name').length === 1);
  assert.match(page.url(), /state=FAILED/);
  assert.match(page.url(), /by=group/);
  await close(page);
});

// acceptance: RL4
test('two runs are selected and compared by keys, and their settings stand beside each other', async () => {
  const configs = (rate, more = {}) => ({ configs: { userConfigs: { learning_rate: rate, batch: '512', ...more } } });
  await create('compare', 'old', { displayName: 'old', ...configs('0.1') });
  await create('compare', 'mid', { displayName: 'mid', ...configs('0.1') });
  await create('compare', 'new', { displayName: 'new', ...configs('0.2', { warmup: '100' }) });
  const page = await browser.open(server.url, { address: '/runs?project=compare' });
  await rows(page).nth(2).waitFor();
  for (const key of ['j', 'j', 'x', 'k', 'x', 'c']) await page.keyboard.press(key);
  await page.waitForURL(/\/runs\/compare\/local\/mid\?tab=configs&with=local\/new/);
  const table = page.locator('table[aria-label=Configuration]');
  await table.locator('th', { hasText: 'new' }).waitFor();
  assert.deepEqual(await table.locator('thead th').allInnerTexts(), ['Part', 'Setting', 'mid', 'new']);
  assert.deepEqual((await table.locator('tr.differs').allInnerTexts()).map((text) => text.split(/\s+/)), [['User', 'learning_rate', '0.1', '0.2'], ['User', 'warmup', '\u2013', '100']]);
  await page.getByText('2 settings of 3 differ').waitFor();
  await page.getByLabel('Only differences').check();
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Configuration] tbody tr').length === 2);
  // Another one comes in by the menu, and the address opens the same in another browser.
  await page.getByRole('button', { name: 'Compare with another run' }).click();
  await page.getByRole('menuitem', { name: /old/ }).click();
  await table.locator('th', { hasText: 'old' }).waitFor();
  const address = page.url();
  await close(page);
  const again = await browser.open(server.url, { address: address.slice(server.url.length) });
  await again.locator('table[aria-label=Configuration] th', { hasText: 'old' }).waitFor();
  assert.equal(await again.locator('table[aria-label=Configuration] tbody tr').count(), 2);
  await again.getByRole('button', { name: 'Leave out old' }).click();
  await again.getByRole('button', { name: 'Leave out new' }).click();
  await again.waitForURL((url) => !url.search.includes('with='));
  await close(again);
});

test('two sessions are selected by keys and compared, the older one as the baseline', async () => {
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  const page = await browser.open(server.url);
  const list = page.locator('table[aria-label=Sessions] tbody tr.link');
  await list.nth(1).waitFor();
  for (const key of ['j', 'x', 'j', 'x', 'c']) await page.keyboard.press(key);
  await page.waitForURL(/\/s\/[^/]+\/overview\?b=/);
  const url = new URL(page.url());
  const [newer, older] = [url.pathname.split('/')[2], url.searchParams.get('b')].map((id) => sessions.find((one) => one.id === id));
  assert.ok(newer && older && newer.modified_unix_ms >= older.modified_unix_ms);
  await close(page);
});

test('sessions are ordered and filtered by the address', async () => {
  const page = await browser.open(server.url, { address: '/?sort=-size' });
  const list = page.locator('table[aria-label=Sessions] tbody tr.link');
  await list.first().waitFor();
  const sizes = async () => (await list.locator('td.number').evaluateAll((cells) => cells.map((cell) => cell.title))).filter((title) => / B$/.test(title)).map((title) => Number(title.replace(/[^0-9]/g, '')));
  const descending = await sizes();
  assert.deepEqual(descending, [...descending].sort((a, b) => b - a));
  await page.locator('th').getByRole('button', { name: 'Size' }).click();
  await page.waitForURL(/sort=size/);
  const ascending = await sizes();
  assert.deepEqual(ascending, [...ascending].sort((a, b) => a - b));
  await page.getByLabel('State').selectOption('damaged');
  await page.getByText('No session fits.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await list.first().waitFor();
  await close(page);
});

test('what was changed in a run is listed', async () => {
  await create('done', 'r', { displayName: 'first name' });
  await send('PATCH', `${runsOf('done')}/r?updateMask=displayName`, { displayName: 'second name' });
  const page = await browser.open(server.url, { address: '/runs/done/local/r?tab=operations' });
  const operations = page.locator('table[aria-label=Operations] tbody tr');
  await operations.nth(1).waitFor();
  assert.deepEqual((await operations.allInnerTexts()).map((text) => text.split(/\s+/)[0]), ['Update', 'Create']);
  await close(page);
});

// acceptance: RN3
test('a session that lacks hosts says how many came', async () => {
  const storage = storageOfRun('three-hosts');
  await create('partial', 'r', { displayName: 'three hosts', artifacts: { gcsPath: storage } });
  const [found] = await (async () => {
    for (;;) {
      const { profilerSessions } = await server.json(`${runsOf('partial')}/r/profilerSessions?refresh=true`);
      if (profilerSessions?.some((one) => one.hosts)) return profilerSessions;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  const id = found.name.split('/').pop();
  const targetSessions = Object.fromEntries(['a', 'b', 'c'].map((host) => [host, { sessionPhase: 'SUCCEEDED' }]));
  await send('PATCH', `${runsOf('partial')}/r/profilerSessions/${id}?updateMask=targetSessions`, { targetSessions });
  const page = await browser.open(server.url, { address: '/runs/partial/local/r' });
  await page.locator('table[aria-label=Profiles] tbody tr').filter({ hasText: `${found.hosts.length}/3 hosts` }).waitFor();
  await close(page);
});

// What a person does who drags a file onto the page.
async function drop(page, file) {
  await page.evaluate(({ name, base64 }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
    for (const type of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, { name: path.basename(file), base64: readFileSync(file).toString('base64') });
}

const filesBelow = (directory) => readdirSync(directory, { recursive: true }).map((name) => path.join(directory, name));

for (const [ending, address] of [['.xplane.pb', '/runs'], ['.trace.json.gz', '/']]) {
  // acceptance: RL3
  test(`a dropped ${ending} opens in one action`, async () => {
    const file = filesBelow(samples()).find((name) => name.endsWith(ending));
    assert.ok(file, `no sample ends with ${ending}`);
    const page = await browser.open(server.url, { address });
    await page.getByRole('button', { name: 'Upload' }).waitFor();
    await drop(page, file);
    await page.waitForURL(/\/s\/[^/]+\/overview/, { timeout: 30_000 });
    await page.getByRole('heading', { name: /Top operations|Operations/ }).first().waitFor();
    await close(page);
  });
}

test('a dropped file that is no profile is refused with the reason', async () => {
  const page = await browser.open(server.url, { address: '/runs' });
  await page.getByRole('button', { name: 'Upload' }).waitFor();
  await drop(page, path.join(samples(), readdirSync(samples()).find((name) => /\.(md|json)$/.test(name)) ?? 'README.md'));
  await page.getByText('is neither a profile').waitFor();
  await close(page);
});

// Points of one metric as the ML Diagnostics SDK writes them.
async function record(project, run, name, unit, points) {
  const entries = points.map(({ ms, step, value }) => ({
    logName: `projects/${project}/logs/ml_diagnostics_metric`,
    resource: { type: 'generic_node', labels: { project_id: project, location: 'local', namespace: name, node_id: run } },
    timestamp: new Date(ms).toISOString(),
    jsonPayload: { values: [value], unit, ...(step === undefined ? {} : { step_index: step }) },
  }));
  await send('POST', '/v2/entries:write', { partialSuccess: true, entries });
}

// acceptance: RN1
test('metrics of several runs stand in one chart, by step and by time, with the profiles marked', async () => {
  await create('metrics', 'old', { displayName: 'old' });
  await create('metrics', 'new', { displayName: 'new', artifacts: { gcsPath: path.join(server.captures, 'metrics-run') } });
  storageOfRun('metrics-run'); // The profile is taken while the run goes on.
  const now = Date.now();
  for (const [run, first] of [['old', 8], ['new', 6]]) {
    await record('metrics', run, 'loss', '1', Array.from({ length: 40 }, (_, step) => ({ ms: now + step * 1000, step, value: first / (1 + step / 10) })));
  }
  await record('metrics', 'new', 'host_cpu_utilization', '%', Array.from({ length: 40 }, (_, i) => ({ ms: now + i * 1000, value: 40 + (i % 5) })));
  const page = await browser.open(server.url, { address: '/runs/metrics/local/new?tab=metrics&with=local/old', width: 1600 });
  const chart = page.getByRole('figure', { name: 'loss' });
  await chart.waitFor();
  assert.deepEqual(await chart.locator('.chart-legend button').allInnerTexts(), ['new', 'old']);
  assert.equal(await chart.locator('path.curve').count(), 2);
  // The keys read every curve at one place.
  await chart.getByRole('slider').focus();
  await page.keyboard.press('Home');
  assert.match(await chart.locator('.chart-read').innerText(), /^0\s*new 6\.00\s*old 8\.00/);
  await page.getByText('host_cpu_utilization: recorded without steps.').waitFor();
  await page.getByRole('button', { name: 'Show by time' }).click();
  await page.getByRole('figure', { name: 'host_cpu_utilization' }).waitFor();
  await chart.locator('path.curve').nth(1).waitFor({ state: 'attached' });
  // A profile that was taken meanwhile opens by one click on its mark; the address holds all of the view.
  const mark = chart.getByRole('link', { name: /Open profile/ });
  await mark.first().waitFor({ timeout: 15_000 });
  await mark.first().click();
  await page.waitForURL(/\/s\/[^/]+\/overview/);
  await page.goBack();
  await chart.waitFor();
  assert.match(page.url(), /x=time/);
  const [download] = await Promise.all([page.waitForEvent('download'), chart.getByRole('button', { name: 'CSV' }).click()]);
  assert.equal(download.suggestedFilename(), 'loss.csv');
  await close(page);
});

test('a run without metrics says how they would come', async () => {
  await create('metrics', 'silent', { displayName: 'silent' });
  const page = await browser.open(server.url, { address: '/runs/metrics/local/silent?tab=metrics' });
  await page.getByText('This run recorded no metric yet.').waitFor();
  await close(page);
});

test('a run that is not there says so', async () => {
  const page = await browser.open(server.url, { address: '/runs/nobody/local/none' });
  await page.getByText('The run none could not be shown.').waitFor();
  assert.deepEqual(page.pageErrors.filter((text) => !/status of 404/.test(text)), []);
  await page.close();
});
