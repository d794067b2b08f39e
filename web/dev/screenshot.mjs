// Takes a picture of a page with Debian's Chromium.
//   node dev/screenshot.mjs URL OUT.png [--size 1600x1000] [--theme light|dark|contrast] [--wait SELECTOR] [--do "press j; click .x; type text"]
// Steps of --do: press KEY, click SELECTOR, hover SELECTOR, type TEXT, wait MS, eval EXPRESSION. Console errors, failed
// requests and requests to another origin are printed, and make the exit code 1.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const args = process.argv.slice(2);
const take = (name, fallback) => {
  const at = args.indexOf(name);
  return at < 0 ? fallback : args.splice(at, 2)[1];
};
const [width, height] = take('--size', '1600x1000').split('x').map(Number);
const theme = take('--theme', 'light');
const waitFor = take('--wait', null);
const steps = take('--do', '');
const [url, out] = args;
if (!url || !out) {
  console.error('usage: screenshot.mjs URL OUT.png [--size WxH] [--theme light|dark|contrast] [--wait SELECTOR] [--do "press j; click .x"]');
  process.exit(2);
}

const profile = mkdtempSync(join(tmpdir(), 'strobe-shot-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage'],
  viewport: { width, height },
  colorScheme: theme === 'dark' ? 'dark' : 'light',
});
let faults = 0;
const report = (text) => {
  faults++;
  console.error(text);
};
const page = context.pages()[0] ?? (await context.newPage());
await page.addInitScript((choice) => localStorage.setItem('strobe.theme', choice), theme);
// A 404 that the page itself explains is no fault of the page.
page.setDefaultTimeout(8000);
page.on('console', (message) => message.type() === 'error' && !/^Failed to load resource/.test(message.text()) && report('console: ' + message.text()));
page.on('pageerror', (error) => report('page error: ' + error.message));
page.on('requestfailed', (request) => request.failure()?.errorText !== 'net::ERR_ABORTED' && report('failed: ' + request.url()));
page.on('request', (request) => {
  const foreign = /^https?:/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin;
  if (foreign) report('another origin: ' + request.url());
});

await page.goto(url, { waitUntil: 'load' });
if (waitFor) await page.waitForSelector(waitFor, { timeout: 15000 });
await page.waitForFunction(() => document.fonts.status === 'loaded' && !document.querySelector('.skeleton'), null, { timeout: 5000 }).catch(() => undefined);
for (const step of steps.split(';').map((text) => text.trim()).filter(Boolean)) {
  const [verb, ...words] = step.split(' ');
  const rest = words.join(' ');
  if (verb === 'press') await page.keyboard.press(rest);
  else if (verb === 'click') await page.click(rest);
  else if (verb === 'hover') await page.hover(rest);
  else if (verb === 'type') await page.keyboard.type(rest);
  else if (verb === 'wait') await page.waitForTimeout(Number(rest));
  else if (verb === 'eval') console.log(await page.evaluate(rest));
  else report('unknown step: ' + step);
}
await page.waitForTimeout(200);
await page.screenshot({ path: out });
await context.close();
rmSync(profile, { recursive: true, force: true });
process.exit(faults ? 1 : 0);
