// All pages of the console on real sessions, and what is measured on each: controls, focus, overlaps. Functions named in-page run in
// the browser and see nothing of this file.
//
//   const world = await startWorld();
//   for (const page of world.pages) await world.visit(tab, page);

import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { corpus, samples, startBrowser, startServer } from './harness.mjs';

// Sessions in the order in which they are asked for a tool's page: the first that has data for it shows it.
const REAL = ['gpu-mi300-attention', 'tpu-v6e-4-inference', 'gpu-v100-multi-worker', 'cpu-jax-ring'];
const MADE = ['four-devices', 'input-stall', 'two-hosts'];

export async function startWorld() {
  const real = corpus();
  const server = await startServer({ roots: [samples(), ...(real ? [path.join(real, 'sessions')] : [])] });
  const browser = await startBrowser();
  const { sessions } = await server.json('/api/v1/sessions?page_size=1000');
  const wanted = [...(real ? REAL : []), ...MADE];
  const chosen = wanted.map((part) => sessions.find((one) => `${one.run}/${one.path}`.includes(part))).filter(Boolean);
  if (chosen.length === 0) throw new Error('no session to look at');
  await addRun(server);
  const { tools } = await server.json('/api/v1/tools');
  const applying = new Map();
  for (const session of chosen) {
    const answer = await server.json(`/api/v1/sessions/${session.id}/tools`);
    for (const tool of answer.tools ?? []) if (tool.applies && !applying.has(tool.id)) applying.set(tool.id, session);
  }
  const main = chosen[0];
  const pages = [
    { name: 'sessions', address: '/' },
    { name: 'sessions, none found', address: '/?q=no+such+session' },
    { name: 'runs', address: '/runs?project=pages' },
    { name: 'runs, none', address: '/runs?project=nobody' },
    ...['', 'metrics', 'configs', 'workers', 'events', 'operations'].map((tab) => ({ name: `run ${tab}`, address: `/runs/pages/local/r${tab ? `?tab=${tab}` : ''}` })),
    { name: 'a run that is not there', address: '/runs/pages/local/gone' },
    { name: 'administration, off', address: '/admin' },
    { name: 'account', address: '/account' },
    { name: 'overview', address: `/s/${main.id}/overview` },
    { name: 'timeline', address: `/s/${main.id}/timeline` },
    { name: 'files', address: `/s/${main.id}/files` },
    ...tools.filter((one) => one.listed && !/^trace_viewer|^streaming_trace|^overview_page$/.test(one.id)).map((tool) => ({ name: tool.id, address: `/s/${(applying.get(tool.id) ?? main).id}/${tool.id}` })),
    { name: 'no such page', address: '/nowhere' },
    { name: 'no such session', address: '/s/nope/overview' },
    { name: 'no such tool', address: `/s/${main.id}/magic` },
  ];
  const stop = async () => {
    await browser.stop();
    await server.stop();
  };
  const open = async (options = {}) => {
    const page = await browser.open(server.url, options);
    page.setDefaultTimeout(60_000);
    return page;
  };
  const visit = async (page, one) => {
    await page.goto(server.url + one.address);
    await rested(page);
  };
  return { server, browser, pages, main, open, visit, stop };
}

async function addRun(server) {
  const storage = path.join(server.captures, 'pages');
  mkdirSync(storage, { recursive: true });
  cpSync(path.join(samples(), 'two-hosts'), storage, { recursive: true });
  const response = await fetch(`${server.url}/v1alpha/projects/pages/locations/local/machineLearningRuns?machineLearningRunId=r`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ displayName: 'a run', artifacts: { gcsPath: storage }, configs: { userConfigs: { batch: '8', optimizer: 'adam' } } }),
  });
  if (response.status !== 200) throw new Error(`the run was refused: ${await response.text()}`);
}

// Until everything that the page asked for is there.
export async function rested(page) {
  await page.waitForFunction(() => document.querySelector('#page') && !document.querySelector('.skeleton, .page-fill > .page') && (!document.querySelector('[data-testid=timeline]') || document.querySelector('[data-testid=timeline][data-ready=true]')));
  await page.evaluate(() => document.fonts.ready);
  await twoFrames(page);
}

export const twoFrames = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

// ---- in-page: which controls there are -------------------------------------------------------------------------------
// Installs window.__pages with the functions below.
export function installProbes() {
  const focusable = 'a[href],button:not(:disabled),input:not(:disabled):not([type=hidden]),select:not(:disabled),textarea:not(:disabled),[tabindex]:not([tabindex="-1"])';
  const widget = 'a[href],button,input:not([type=hidden]),select,textarea,[role=button],[role=menuitem]';
  const shown = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
  const word = (one) => `<${one.tagName.toLowerCase()}${one.className && typeof one.className === 'string' ? '.' + one.className.trim().split(/\s+/).join('.') : ''}> ${(one.getAttribute('aria-label') || one.innerText || one.title || one.getAttribute('placeholder') || '').trim().replace(/\s+/g, ' ').slice(0, 50)}`;

  // What of a box can be seen through its ancestors.
  function clipped(box, element) {
    let [left, top, right, bottom] = [Math.max(0, box.left), Math.max(0, box.top), Math.min(innerWidth, box.right), Math.min(innerHeight, box.bottom)];
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
      const edge = one.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, edge.left), Math.max(top, edge.top), Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
      if (style.position === 'fixed') break;
    }
    return { left, top, right, bottom };
  }
  const overlap = (a, b) => [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];

  const opaque = (one) => {
    const found = /rgba?\(([^)]+)\)/.exec(getComputedStyle(one).backgroundColor);
    return found !== null && Number(found[1].split(',')[3] ?? 1) > 0.5;
  };
  // Whether the upper one hides the lower one where they meet: a sticky header over rows, a drawer over a page.
  function hides(a, b, x, y) {
    const stack = document.elementsFromPoint(x, y);
    const at = (one) => stack.findIndex((hit) => hit === one || one.contains(hit));
    const [first, second] = [at(a), at(b)];
    if (first < 0 || second < 0) return true; // One of them is not there at all.
    return stack.slice(Math.min(first, second), Math.max(first, second)).some(opaque);
  }

  const LEAST_PX = 3; // Less is a border or a descender.
  function collisions(items) {
    const found = [];
    const sorted = items.filter((one) => one.box.right - one.box.left > 0 && one.box.bottom - one.box.top > 0).sort((a, b) => a.box.top - b.box.top);
    sorted.forEach((a, i) => {
      for (let j = i + 1; j < sorted.length && sorted[j].box.top < a.box.bottom; ++j) {
        const b = sorted[j];
        if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        const [wide, tall] = overlap(a.box, b.box);
        if (wide < LEAST_PX || tall < LEAST_PX) continue;
        const x = Math.max(a.box.left, b.box.left) + wide / 2;
        const y = Math.max(a.box.top, b.box.top) + tall / 2;
        if (!hides(a.element, b.element, x, y)) found.push(`${a.text} over ${b.text}, ${Math.round(wide)} x ${Math.round(tall)} px`);
      }
    });
    return found;
  }

  window.__pages = {
    word,
    focusables: () => [...document.querySelectorAll(focusable)].filter((one) => one.tabIndex >= 0 && shown(one)),
    shown,
    overlappingControls: () => collisions([...document.querySelectorAll(widget)].filter((one) => shown(one) && !one.closest('.skip')).map((element) => ({ element, text: word(element), box: clipped(element.getBoundingClientRect(), element) }))),
    overlappingTexts() {
      const items = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!element || node.data.trim() === '' || element.closest('.visually-hidden, .skip, option, noscript, script, style') || !shown(element)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const rect of range.getClientRects()) items.push({ element, text: `"${node.data.trim().slice(0, 40)}"`, box: clipped(rect, element) });
      }
      return collisions(items);
    },
    // Controls that stick out of the window or of a box that cannot be scrolled that way.
    cutControls() {
      return [...document.querySelectorAll(widget)].filter((one) => shown(one) && !one.closest('.skip') && !one.closest('svg')).flatMap((element) => {
        const box = element.getBoundingClientRect();
        if (box.width < 2) return [];
        if (box.right > innerWidth + 1 && !scrollsSideways(element)) return [`${word(element)} ends ${Math.round(box.right - innerWidth)} px outside the window`];
        for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
          const style = getComputedStyle(one);
          if (style.overflowX === 'auto' || style.overflowX === 'scroll') return [];
          const edge = one.getBoundingClientRect();
          if (style.overflowX !== 'visible' && (box.right > edge.right + 2 || box.left < edge.left - 2) && edge.width > 0 && one.tagName !== 'BUTTON') return [`${word(element)} is cut by ${word(one)}`];
        }
        return [];
      });
    },
    sideways() {
      const boxes = [document.documentElement, document.body, document.querySelector('.page')].filter(Boolean);
      return boxes.filter((one) => one.scrollWidth > one.clientWidth && (one === document.querySelector('.page') || one.scrollWidth > innerWidth)).map((one) => `${one.className || one.tagName} is ${one.scrollWidth - one.clientWidth} px too wide`);
    },
  };
  function scrollsSideways(element) {
    for (let one = element.parentElement; one; one = one.parentElement) if (['auto', 'scroll'].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth && !one.matches('.page')) return true;
    return false;
  }
}
