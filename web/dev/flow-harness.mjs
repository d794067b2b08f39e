// What browser flows over the mock share: a mock server on a free port, one Chromium, pages whose faults and foreign requests count.
//   const flows = new Flows();  before(() => flows.start());  after(() => flows.stop());
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const mockPath = fileURLToPath(new URL('./mock-server.mjs', import.meta.url));
export const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const complete = 'k3v0w9m2c4000';
export const partial = 'k3v0w9m2c4001';
export const gpu = 'k3v0w9m2c4002';
export const cpu = 'k3v0w9m2c4003';

export class Flows {
  mocks = new Set();
  profileDir = mkdtempSync(join(tmpdir(), 'strobe-flows-'));

  async start() {
    this.mock = await this.startMock();
    this.browser = await chromium.launchPersistentContext(this.profileDir, {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      headless: true,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
      viewport: { width: 1280, height: 800 },
    });
    this.browser.setDefaultTimeout(15_000);
  }

  async stop() {
    await this.browser?.close();
    for (const stop of this.mocks) await stop();
    rmSync(this.profileDir, { recursive: true, force: true });
  }

  startMock(...args) {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [mockPath, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
      child.stdout.on('data', (chunk) => {
        const found = /mock at (\S+)/.exec(String(chunk));
        if (!found) return;
        const stop = () =>
          new Promise((done) => {
            if (child.exitCode !== null || child.signalCode !== null) return done();
            child.once('exit', done);
            child.kill();
          });
        this.mocks.add(stop);
        resolve({ url: found[1].replace(/\/$/, ''), port: new URL(found[1]).port, stop });
      });
      child.on('error', reject);
    });
  }

  async open(path, base = this.mock.url) {
    const page = await this.browser.newPage();
    page.faults = [];
    page.foreign = [];
    page.on('pageerror', (error) => page.faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !/^Failed to load resource/.test(message.text()) && page.faults.push(message.text()));
    page.on('request', (request) => /^https?:/.test(request.url()) && new URL(request.url()).origin !== new URL(base).origin && page.foreign.push(request.url()));
    await page.goto(base + path);
    return page;
  }
}

export async function close(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual(page.foreign, []);
  await page.close();
}

// Serious findings of axe on the page as it stands.
export async function seriousFindings(page, where) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  return violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${where} ${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(' | ')}`);
}

export const path = (page) => new URL(page.url()).pathname + new URL(page.url()).search;
