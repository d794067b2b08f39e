// What every browser test needs: the built server on a free port with a log directory of its own, a JAX job to capture, and Debian's
// Chromium driven by playwright-core, with every request to another origin noted and refused.
//
//   const server = await startServer({ roots: [samples()] });
//   const browser = await startBrowser();
//   const page = await browser.open(server.url, { width: 1280, height: 800 });
//   ...
//   assert.deepEqual(page.foreignRequests, []);
//   await browser.stop(); await server.stop();

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const require = createRequire(path.join(ROOT, 'web/package.json'));
const { chromium } = require('playwright-core');

const START_TIMEOUT_MS = 60_000;
const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--hide-scrollbars'];

export const samples = () => path.join(ROOT, 'samples');

// The corpus of real profiles, or null (said loudly) where it is absent.
export function corpus() {
  const directory = process.env.STROBE_CORPUS ?? path.join(ROOT, '../shared/data');
  if (existsSync(directory)) return directory;
  console.error('STROBE_NOTICE the corpus of real profiles is absent; tests that need it are skipped');
  return null;
}

export function temporaryDirectory() {
  return mkdtempSync(path.join(tmpdir(), 'strobe-browser-'));
}

// Resolves with the first match of `pattern` in what the program prints; rejects when it ends or is silent for too long.
function waitForLine(child, pattern, what) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`${what} said nothing usable in time:\n${text}`)), START_TIMEOUT_MS);
    const look = (chunk) => {
      text += chunk;
      const found = pattern.exec(text);
      if (found) {
        clearTimeout(timer);
        resolve(found);
      }
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`${what} ended with ${code}:\n${text}`));
    });
  });
}

async function stopChild(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

// `port` 0 picks a free one. The server's cache and captures live in a temporary directory that is removed on stop. With `access`, one has
// to sign in, and `adminCode` is the one-time code of the administrator ada.
export async function startServer({ roots = [], port = 0, extra = [], access = false } = {}) {
  const scratch = temporaryDirectory();
  const captures = path.join(scratch, 'captures');
  const binary = process.env.STROBE_BINARY ?? path.join(ROOT, 'build/strobe');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(captures);
  const catalog = path.join(scratch, 'catalog.db');
  const adminCode = access ? execFileSync(binary, ['access', 'create-admin', 'ada', '--catalog', catalog], { encoding: 'utf8' }).trim() : null;
  const child = spawn(binary, ['serve', captures, ...roots, '--listen', `127.0.0.1:${port}`, '--cache', path.join(scratch, 'cache'),
    '--catalog', catalog, ...(access ? ['--access'] : []), ...extra],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  const [url] = await waitForLine(child, /http:\/\/127\.0\.0\.1:\d+/, 'strobe serve');
  return {
    url,
    captures,
    adminCode,
    process: child,
    async json(address) {
      const response = await fetch(url + address);
      return response.json();
    },
    async stop() {
      await stopChild(child);
      rmSync(scratch, { recursive: true, force: true });
    },
    // Ends the process at once, as a crash would.
    async kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

// A small JAX training job with its profiler server; `target` is host:port.
export async function startLiveJob() {
  const python = path.join(ROOT, 'build/venv-test/bin/python');
  const child = spawn(python, [path.join(ROOT, 'tests/jobs/live_job.py'), '--light', '--seconds', '300'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const found = await waitForLine(child, /PROFILER READY (\S+)/, 'the live job');
  return { target: found[1], stop: () => stopChild(child) };
}

// With `alone`, no host but this one exists for the browser, and pages are opened with open(url, { watched: false }): their requests are not
// looked at one by one, so that the browser may keep compiled scripts between pages.
export async function startBrowser({ alone = false } = {}) {
  const profile = temporaryDirectory();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.STROBE_CHROMIUM ?? '/usr/bin/chromium',
    args: alone ? [...CHROMIUM_ARGUMENTS, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'] : CHROMIUM_ARGUMENTS,
    headless: true,
  });
  return {
    // A page whose console errors, page errors and requests to other origins are collected; foreign requests never leave.
    async open(url, { width = 1280, height = 800, colorScheme = 'light', address = '/', watched = true, prepare = null } = {}) {
      const page = await context.newPage();
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      page.foreignRequests = [];
      page.pageErrors = [];
      const origin = new URL(url).origin;
      if (watched) await page.route('**/*', (route) => {
        const target = route.request().url();
        if (target.startsWith(origin) || target.startsWith('data:') || target.startsWith('blob:')) return route.continue();
        page.foreignRequests.push(target);
        return route.abort();
      });
      page.on('pageerror', (error) => page.pageErrors.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') page.pageErrors.push(message.text());
      });
      if (prepare) await prepare(page);
      await page.goto(url + address);
      return page;
    },
    // As another person's browser, or after a restart of this one.
    forgetCookies: () => context.clearCookies(),
    takeCookie: (url, text) => context.addCookies([{ name: text.slice(0, text.indexOf('=')), value: text.slice(text.indexOf('=') + 1), url, httpOnly: true, sameSite: 'Lax' }]),
    allowClipboard: (origin) => context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin }),
    async stop() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
