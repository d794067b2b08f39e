// XProf's own page over our routes: every tool of every run of the real sessions is opened, and ours may give no error and be refused
// nothing that the page does not give, or is not refused, over XProf's own server. What happens there is recorded in
// xprof_frontend_expected.json, because the original needs a minute for what takes us a second. Charts come from another origin and stay
// empty with both.
//
//   STROBE_RECORD=1 node --test tests/browser/xprof_frontend.test.mjs     records anew, with build/venv-peers's xprof (minutes)

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, corpus, startBrowser, startServer, temporaryDirectory } from './harness.mjs';
import { frontendFiles, frontendVersion, isDataAddress, startFrontend } from './xprof_frontend.mjs';

const RECORD = process.env.STROBE_RECORD === '1';
const EXPECTED = path.join(ROOT, 'tests/browser/xprof_frontend_expected.json');
const PAGE_TIMEOUT_MS = RECORD ? 300_000 : 60_000;
const QUIET_MS = 700; // nothing asked for and nothing awaited for so long: the page has what it wants
const PAGES_AT_ONCE = RECORD ? 2 : 4;
const RECORDED_TIMES = 2; // an error that the original gives only now and then is still one of its own

const files = frontendFiles();
const real = corpus();
const skip = files === null ? 'NOT TESTED: tests/python/setup_xprof_page.sh did not fetch the page' : real === null ? 'NOT TESTED: no corpus of real profiles' : false;
const sessions = skip ? [] : readdirSync(path.join(real, 'sessions')).sort();
const recorded = skip || RECORD ? { version: frontendVersion(), everywhere: [], sessions: {} } : JSON.parse(readFileSync(EXPECTED, 'utf8'));
let browser;
let pages;
let scratch;
const stops = [];

function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

// The original reads what is not packed, and writes beside what it reads.
function copyUnpacked(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    if (entry.isDirectory()) copyUnpacked(source, path.join(to, entry.name));
    else if (entry.name.endsWith('.xz')) writeFileSync(path.join(to, entry.name.slice(0, -3)), execFileSync('xz', ['-dc', source], { maxBuffer: 2 ** 31 }));
    else copyFileSync(source, path.join(to, entry.name));
  }
}

async function startOriginal(logs) {
  const port = await freePort();
  const child = spawn(path.join(process.env.STROBE_PEERS ?? path.join(ROOT, 'build/venv-peers'), 'bin/xprof'),
    ['--logdir', logs, '--port', String(port), '--grpc_port', String(await freePort())], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  stops.push(() => new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 5000).unref();
  }));
  for (let tries = 0; ; ++tries) {
    try {
      if ((await fetch(`${url}/version`)).ok) return url;
    } catch (error) {
      if (tries > 300) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

before(async () => {
  if (skip) return;
  scratch = temporaryDirectory();
  if (RECORD) {
    copyUnpacked(path.join(real, 'sessions'), path.join(scratch, 'copy'));
    pages = await startFrontend(await startOriginal(path.join(scratch, 'copy')));
  } else {
    mkdirSync(path.join(scratch, 'links'));
    for (const name of sessions) symlinkSync(path.join(real, 'sessions', name), path.join(scratch, 'links', name));
    const server = await startServer({ roots: [path.join(scratch, 'links')] });
    stops.push(() => server.stop());
    pages = await startFrontend(server.url);
  }
  stops.push(() => pages.stop());
  browser = await startBrowser({ alone: true });
  stops.push(() => browser.stop());
});

after(async () => {
  if (RECORD && !skip) {
    writeFileSync(EXPECTED, JSON.stringify(withoutCommon(recorded), null, 1) + '\n');
  }
  for (const stop of stops.reverse()) await stop();
  if (scratch) rmSync(scratch, { recursive: true, force: true });
});

// Addresses and numbers that differ from run to run say nothing about an error, nor do the places in the page's own script, nor which failure it
// was: where XProf's server breaks the connection, ours says 404.
const shape = (text) => text.split('\n')[0].replace(/a status of \d+ \([^)]*\)/, 'a failure').replaceAll(/https?:\/\/[^\s'")]+/g, '<address>').replaceAll(/\d+/g, 'N').slice(0, 300);

// What the page of a tool asked for, what it was refused, and its errors.
async function openPage(run, tool) {
  const seen = { asked: 0, waiting: 0, last: Date.now(), refused: new Set() };
  const watch = (page) => {
    const touch = (change) => (request) => {
      if (!isDataAddress(request.url())) return;
      seen.waiting += change;
      seen.last = Date.now();
      if (change > 0) ++seen.asked;
    };
    page.on('request', touch(1));
    page.on('requestfinished', touch(-1));
    page.on('requestfailed', touch(-1));
    page.on('response', (response) => {
      if (response.status() < 400 || !isDataAddress(response.url())) return;
      const { pathname, search } = new URL(response.url());
      seen.refused.add(shape(pathname + search));
    });
  };
  const page = await browser.open(pages.url, {
    address: `/data/plugin/profile/${encodeURIComponent(tool)}?run=${encodeURIComponent(run)}&tag=${encodeURIComponent(tool)}`,
    watched: false,
    prepare: watch,
    width: 640, // less to paint: it is the requests and errors that count
    height: 480,
  });
  const deadline = Date.now() + PAGE_TIMEOUT_MS;
  while (Date.now() < deadline && !(seen.asked > 0 && seen.waiting === 0 && Date.now() - seen.last > QUIET_MS)) await page.waitForTimeout(50);
  const late = Date.now() >= deadline;
  const errors = new Set(page.pageErrors.map(shape));
  await page.close();
  return { asked: seen.asked, late, errors, refused: seen.refused };
}

// Runs `work` over `items`, so many at once.
async function overAll(items, work) {
  const left = [...items];
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  }));
}

const ask = async (address) => (await fetch(`${pages.url}/data/plugin/profile${address}`)).json();
const runsOf = async (name) => (await ask('/runs')).filter((run) => run.startsWith(name + '/')).sort();

// The errors of every page stand once, and a page without others not at all.
function withoutCommon({ version, sessions: all }) {
  const pages = Object.values(all).flatMap((runs) => Object.values(runs)).flatMap((run) => Object.values(run.pages));
  const everywhere = pages.map((page) => page.errors).reduce((some, errors) => some.filter((error) => errors.includes(error)), pages[0]?.errors ?? []);
  for (const run of Object.values(all).flatMap((runs) => Object.values(runs))) {
    for (const [tool, page] of Object.entries(run.pages)) {
      page.errors = page.errors.filter((error) => !everywhere.includes(error));
      if (page.errors.length + page.refused.length === 0) delete run.pages[tool];
    }
  }
  return { version, everywhere, sessions: all };
}

async function record(name) {
  const runs = {};
  for (const run of await runsOf(name)) {
    const tools = await ask(`/run_tools?run=${encodeURIComponent(run)}`);
    const found = {};
    for (const tool of tools) found[tool] = { errors: new Set(), refused: new Set() };
    await overAll(Array.from({ length: RECORDED_TIMES }, () => tools).flat(), async (tool) => {
      const seen = await openPage(run, tool);
      for (const error of seen.errors) found[tool].errors.add(error);
      for (const one of seen.refused) found[tool].refused.add(one);
    });
    runs[run] = { tools, pages: {} };
    for (const tool of tools) runs[run].pages[tool] = { errors: [...found[tool].errors].sort(), refused: [...found[tool].refused].sort() };
  }
  recorded.sessions[name] = runs;
}

async function compare(name) {
  const wanted = recorded.sessions[name];
  assert.equal(frontendVersion(), recorded.version, 'the page is of another version than what is recorded: STROBE_RECORD=1 records anew');
  assert.ok(wanted !== undefined, 'nothing is recorded of this session: STROBE_RECORD=1 does it');
  assert.deepEqual(await runsOf(name), Object.keys(wanted).sort());
  const faults = [];
  const opened = [];
  for (const [run, { tools }] of Object.entries(wanted)) {
    assert.deepEqual(await ask(`/run_tools?run=${encodeURIComponent(run)}`), tools);
    for (const tool of tools) opened.push([run, tool]);
  }
  assert.ok(opened.length > 0);
  await overAll(opened, async ([run, tool]) => {
    const theirs = wanted[run].pages[tool] ?? { errors: [], refused: [] };
    const seen = await openPage(run, tool);
    if (seen.asked === 0) faults.push(`${run} ${tool}: the page asked us nothing`);
    if (seen.late) faults.push(`${run} ${tool}: the page was not done in ${PAGE_TIMEOUT_MS / 1000} s`);
    for (const error of seen.errors) if (!recorded.everywhere.includes(error) && !theirs.errors.includes(error)) faults.push(`${run} ${tool}: an error that XProf's page does not give: ${error}`);
    for (const one of seen.refused) if (!theirs.refused.includes(one)) faults.push(`${run} ${tool}: refused what XProf answers: ${one}`);
  });
  assert.deepEqual(faults, []);
}

test("XProf's page over our routes", { skip, timeout: RECORD ? 7_200_000 : 600_000 }, async (all) => {
  for (const name of sessions) await all.test(`every page of ${name}`, () => (RECORD ? record(name) : compare(name)));
});
