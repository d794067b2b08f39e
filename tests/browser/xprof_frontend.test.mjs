// XProf's own page over our routes: every tool that a session offers is opened over our server and over XProf's, and ours may give no
// error that XProf's does not give. Charts come from another origin and stay empty with both.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, corpus, startBrowser, startServer, temporaryDirectory } from './harness.mjs';
import { frontendFiles, startFrontend } from './xprof_frontend.mjs';

// Small ones of each kind of machine: the original computes for seconds on the large ones.
const SESSIONS = ['cpu-jax-on-demand', 'gpu-1080ti-julia', 'tpu-v6e-4-inference'];
const TOOL_TIMEOUT_MS = 60_000;
const QUIET_MS = 500; // nothing asked for so long: the page has what it wants

const files = frontendFiles();
const real = corpus();
const skip = files === null ? 'NOT TESTED: no xprof package in build/venv-peers' : real === null ? 'NOT TESTED: no corpus of real profiles' : false;
let browser;
let ours;
let theirs;
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

// The original, over a copy of the sessions because it writes beside them.
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
  for (const name of SESSIONS) {
    mkdirSync(path.join(scratch, 'copy', name), { recursive: true });
    mkdirSync(path.join(scratch, 'links'), { recursive: true });
    cpSync(path.join(real, 'sessions', name), path.join(scratch, 'copy', name), { recursive: true });
    symlinkSync(path.join(real, 'sessions', name), path.join(scratch, 'links', name));
  }
  const server = await startServer({ roots: [path.join(scratch, 'links')] });
  stops.push(() => server.stop());
  ours = await startFrontend(server.url);
  theirs = await startFrontend(await startOriginal(path.join(scratch, 'copy')));
  stops.push(() => ours.stop(), () => theirs.stop());
  browser = await startBrowser();
  stops.push(() => browser.stop());
});

after(async () => {
  for (const stop of stops.reverse()) await stop();
  if (scratch) rmSync(scratch, { recursive: true, force: true });
});

// Addresses of our two proxies and numbers that differ from run to run say nothing about an error.
const shape = (text) => text.replaceAll(/https?:\/\/[^\s'")]+/g, '<address>').replaceAll(/\d+/g, 'N').slice(0, 300);

// Errors that a page gives, and what it was refused.
async function errorsOf(pages, run, tool) {
  const begin = pages.asked.length;
  const page = await browser.open(pages.url, { address: `/data/plugin/profile/${encodeURIComponent(tool)}?run=${encodeURIComponent(run)}&tag=${encodeURIComponent(tool)}` });
  const deadline = Date.now() + TOOL_TIMEOUT_MS;
  let seen = -1;
  while (Date.now() < deadline) {
    await page.waitForLoadState('networkidle', { timeout: TOOL_TIMEOUT_MS }).catch(() => {});
    if (pages.asked.length === seen && pages.asked.length > begin) break;
    seen = pages.asked.length;
    await page.waitForTimeout(QUIET_MS);
  }
  const errors = new Set(page.pageErrors.map(shape));
  const refused = new Set(pages.asked.slice(begin).filter((one) => one.status >= 400).map((one) => `${one.status} ${shape(one.address)}`));
  const asked = pages.asked.length - begin;
  await page.close();
  return { errors, refused, asked };
}

const runsOf = async (pages) => (await (await fetch(`${pages.url}/data/plugin/profile/runs`)).json());

for (const name of SESSIONS) {
  test(`every page of ${name} works over our routes as over XProf's`, { skip, timeout: 900_000 }, async () => {
    const runs = (await runsOf(theirs)).filter((run) => run.startsWith(name + '/'));
    assert.ok(runs.length > 0);
    assert.deepEqual((await runsOf(ours)).filter((run) => run.startsWith(name + '/')), runs);
    const run = runs[0];
    const listed = async (pages) => (await (await fetch(`${pages.url}/data/plugin/profile/run_tools?run=${encodeURIComponent(run)}`)).json());
    const tools = await listed(theirs);
    assert.deepEqual(await listed(ours), tools);
    for (const tool of tools) {
      const wanted = await errorsOf(theirs, run, tool);
      const found = await errorsOf(ours, run, tool);
      assert.ok(found.asked > 0, `${tool}: the page asked us nothing`);
      assert.deepEqual([...found.errors].filter((error) => !wanted.errors.has(error)), [], `${tool}: errors that XProf's page does not give`);
      assert.deepEqual([...found.refused].filter((one) => !wanted.refused.has(one)), [], `${tool}: refused what XProf answers`);
    }
  });
}
