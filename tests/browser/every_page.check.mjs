// Every page of the console on real sessions: axe in three themes, keys alone, reduced motion, 200 % zoom and windows from 1024 to 2560 px.
// A zoom of 200 % is what it is for a page: half as many pixels of style, so 1280 x 800 becomes 640 x 400.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seriousFindings } from './axe.mjs';
import { installProbes, rested, startWorld, twoFrames } from './every_page.mjs';

const THEMES = ['light', 'dark', 'contrast'];
const SIZES = [[1024, 768], [1280, 800], [1920, 1080], [2560, 1440]];
const ZOOMED = [[512, 384], [640, 400]]; // 1024 x 768 and 1280 x 800 at 200 %.
const MOST_STOPS = 600; // Tab stops of one page; more is no way to work.
const LONGEST_REDUCED_MS = 100; // Longer than that, something moves.
// What only a pointer presses because keys do the same elsewhere.
const POINTER_TWINS = '.tl-minimap canvas'; // w, a, s, d, 0 and @ move the same view.
const BODY = '[data-testid=timeline-body]';

let world;
before(async () => {
  world = await startWorld();
});
after(() => world?.stop());

const openTab = (options = {}) => world.open({ prepare: (page) => page.addInitScript(installProbes), ...options });

// Faults are collected over all pages, so that one run names every one of its kind.
function judge(faults) {
  assert.equal(faults.length, 0, `${faults.length} faults:\n${faults.slice(0, 80).join('\n')}`);
}

async function themeByKey(page, theme) {
  for (let i = 0; i < 4 && (await page.evaluate(() => document.documentElement.dataset.theme)) !== theme; ++i) await page.keyboard.press('.');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
}

// acceptance: W5
test('axe has no serious finding on any page in any theme', async () => {
  const faults = [];
  const page = await openTab();
  for (const one of world.pages) {
    await world.visit(page, one);
    for (const theme of THEMES) {
      await themeByKey(page, theme);
      faults.push(...(await seriousFindings(page, `${one.name}, ${theme}:`)));
    }
  }
  await page.close();
  judge(faults);
});

const layers = [
  ['help', '?'],
  ['palette', 'Control+k'],
  ['capture', 'Control+Shift+C'],
  ['share', 'Y'],
];

// acceptance: W5
test('layers open by keys, keep the focus inside, and Escape gives it back; axe finds nothing serious in them', async () => {
  const faults = [];
  const page = await openTab();
  await world.visit(page, world.pages.find((one) => one.name === 'overview'));
  for (const [name, key] of layers) {
    await page.locator('.rail a').first().focus();
    await page.keyboard.press(key);
    await page.waitForSelector('[role=dialog]');
    await twoFrames(page);
    for (const theme of name === 'palette' ? THEMES.slice(0, 1) : THEMES) {
      if (name !== 'palette') await page.evaluate((choice) => document.documentElement.setAttribute('data-theme', choice), theme);
      faults.push(...(await seriousFindings(page, `${name}, ${theme}:`)));
    }
    for (let i = 0; i < 30; ++i) {
      await page.keyboard.press('Tab');
      if (!(await page.evaluate(() => document.querySelector('[role=dialog]').contains(document.activeElement)))) faults.push(`${name}: Tab ${i + 1} leaves the layer`);
    }
    await page.keyboard.press('Escape');
    await page.waitForSelector('[role=dialog]', { state: 'detached' });
    if (!(await page.evaluate(() => document.activeElement?.matches('.rail a')))) faults.push(`${name}: the focus is not given back`);
  }
  await page.close();
  judge(faults);
});

// acceptance: W5
test('every control of every page is reached by Tab, shows its focus, and is in sight when it has it', async () => {
  const faults = [];
  const page = await openTab();
  for (const one of world.pages) {
    await world.visit(page, one);
    const count = await page.evaluate(() => {
      const looks = (element) => {
        const boxes = [element, element.parentElement, element.nextElementSibling, ...[...element.children].slice(0, 4)].filter(Boolean);
        return boxes.map((box) => {
          const style = getComputedStyle(box);
          return [style.outlineStyle, style.outlineWidth, style.outlineColor, style.boxShadow, style.backgroundColor, style.borderColor, style.textDecorationLine, style.top, style.stroke, style.strokeWidth].join();
        }).join('|');
      };
      document.activeElement?.blur();
      const all = window.__pages.focusables();
      const state = { all, rest: new Map(all.map((element) => [element, looks(element)])), reached: new Set(), blind: new Set() };
      window.__walk = state;
      document.addEventListener('focusin', (event) => {
        state.reached.add(event.target);
        if (state.rest.has(event.target) && looks(event.target) === state.rest.get(event.target)) state.blind.add(event.target);
      });
      return all.length;
    });
    if (count > MOST_STOPS) faults.push(`${one.name}: ${count} Tab stops`);
    for (let i = 0; i < Math.min(count, MOST_STOPS) + 6; ++i) await page.keyboard.press('Tab');
    faults.push(...(await page.evaluate((name) => {
      const { all, reached, blind } = window.__walk;
      const group = (element) => element.type === 'radio' && [...reached].some((other) => other.type === 'radio' && other.name === element.name);
      const found = [];
      for (const element of all) {
        if (!element.isConnected || !window.__pages.shown(element)) continue;
        if (!reached.has(element) && !group(element)) found.push(`${name}: Tab never reaches ${window.__pages.word(element)}`);
        if (blind.has(element)) found.push(`${name}: no focus is seen on ${window.__pages.word(element)}`);
        element.focus();
        const box = element.getBoundingClientRect();
        const [x, y] = [Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 2), Math.min(Math.max(box.top + box.height / 2, 1), innerHeight - 2)];
        const hit = document.elementFromPoint(x, y);
        if (box.bottom < 0 || box.right < 0 || box.top > innerHeight || box.left > innerWidth) found.push(`${name}: out of sight with the focus: ${window.__pages.word(element)}`);
        else if (hit && !element.contains(hit) && !hit.contains(element) && !hit.closest('label')?.contains(element) && getComputedStyle(element).position !== 'fixed') found.push(`${name}: under ${window.__pages.word(hit)} with the focus: ${window.__pages.word(element)}`);
      }
      return found;
    }, one.name)));
  }
  await page.close();
  judge(faults);
});

// acceptance: W5
test('what a pointer can press has a key: nothing that looks pressable is out of reach, and every table is walked from its own focus', async () => {
  const faults = [];
  const page = await openTab();
  for (const one of world.pages) {
    await world.visit(page, one);
    faults.push(...(await page.evaluate(([name, twins]) => {
      const focusable = new Set(window.__pages.focusables());
      const within = (element) => {
        for (let at = element; at; at = at.parentElement) if (focusable.has(at)) return true;
        // A name beside the button that unfolds it may be pressed as well.
        const beside = [...(element.parentElement?.children ?? [])].some((other) => focusable.has(other) && other.hasAttribute('aria-expanded'));
        return beside || [...focusable].some((other) => element.contains(other)) || element.closest('label') !== null || element.matches(twins);
      };
      return [...document.body.querySelectorAll('*')]
        .filter((element) => window.__pages.shown(element) && getComputedStyle(element).cursor === 'pointer' && (!element.parentElement || getComputedStyle(element.parentElement).cursor !== 'pointer') && !within(element))
        .slice(0, 5)
        .map((element) => `${name}: only a pointer presses ${window.__pages.word(element)}`);
    }, [one.name, POINTER_TWINS])));
    const tables = page.locator('.data-view[role=table]');
    for (let i = 0; i < (await tables.count()); ++i) {
      const table = tables.nth(i);
      if ((await table.locator('.data-body .data-row').count()) === 0) continue;
      await table.focus();
      await page.keyboard.press('ArrowDown');
      await twoFrames(page);
      if ((await table.locator('.data-row.current').count()) !== 1) faults.push(`${one.name}: arrows do not walk the table ${await table.getAttribute('aria-label')}`);
    }
  }
  await page.close();
  judge(faults);
});

// acceptance: W5
test('every menu opens by Enter, is walked by arrows, and Escape closes it and gives the focus back', async () => {
  const faults = [];
  const page = await openTab();
  for (const one of world.pages) {
    await world.visit(page, one);
    const buttons = page.locator('[aria-haspopup=menu]');
    for (let i = 0; i < (await buttons.count()); ++i) {
      const button = buttons.nth(i);
      if (!(await button.isVisible()) || !(await button.isEnabled())) continue;
      const name = `${one.name}: ${await button.getAttribute('aria-label')}`;
      await button.focus();
      await page.keyboard.press('Enter');
      const menu = page.getByRole('menu');
      await menu.waitFor();
      // Choices that the server is asked for are there in a moment.
      const inside = () => page.waitForFunction(() => document.querySelector('[role=menu]')?.contains(document.activeElement) || !document.querySelector('[role=menu] .menu-item, [role=menu] input'), null, { timeout: 5000 }).then(() => true, () => false);
      if (!(await inside())) faults.push(`${name}: the focus does not enter the menu`);
      const at = () => page.evaluate(() => [...document.querySelectorAll('[role=menu] .menu-item')].indexOf(document.activeElement));
      const items = await page.locator('[role=menu] .menu-item').count();
      const first = await at();
      if (items > 1 && first >= 0) {
        await page.keyboard.press('ArrowDown');
        if ((await at()) === first) faults.push(`${name}: the arrow does not move`);
      }
      await page.keyboard.press('Escape');
      if (!(await menu.waitFor({ state: 'detached', timeout: 2000 }).then(() => true, () => false))) {
        faults.push(`${name}: Escape does not close it`);
        await page.mouse.click(2, 2);
      }
      if (!(await button.evaluate((element) => element === document.activeElement))) faults.push(`${name}: the focus is not given back`);
    }
  }
  await page.close();
  judge(faults);
});

// acceptance: W5
test('who wants less motion gets none: nothing on any page moves for longer than the bound', async () => {
  const faults = [];
  const page = await openTab(); // The harness asks for reduced motion.
  for (const one of world.pages) {
    await world.visit(page, one);
    faults.push(...(await page.evaluate(([name, most]) => {
      const running = document.getAnimations().filter((animation) => Number(animation.effect?.getComputedTiming().activeDuration) > most);
      const ms = (text) => Math.max(...text.split(',').map((part) => Number.parseFloat(part) * (part.trim().endsWith('ms') ? 1 : 1000)));
      const styled = [...document.querySelectorAll('*')].filter((element) => {
        const style = getComputedStyle(element);
        return ms(style.transitionDuration) > most || (style.animationName !== 'none' && ms(style.animationDuration) > most) || style.scrollBehavior === 'smooth';
      });
      return [...running.map(() => `${name}: an animation runs`), ...styled.slice(0, 5).map((element) => `${name}: ${window.__pages.word(element)} moves`)];
    }, [one.name, LONGEST_REDUCED_MS])));
  }
  // What is moved by code: a zoom of the timeline is done at once.
  await world.visit(page, world.pages.find((one) => one.name === 'timeline'));
  await page.locator(BODY).focus();
  const view = () => page.evaluate(() => JSON.stringify(window.__strobeTimeline.view));
  const start = await view();
  await page.keyboard.press('w');
  await twoFrames(page);
  const soon = await view();
  await page.waitForTimeout(LONGEST_REDUCED_MS * 3);
  if (soon === start) faults.push('timeline: w does nothing');
  if (soon !== (await view())) faults.push('timeline: a zoom glides');
  await page.close();
  judge(faults);
});

// acceptance: W10
test('windows from 1024 to 2560 px: no page scrolls sideways, no control or text overlaps another or is cut', async () => {
  const faults = [];
  const page = await openTab();
  for (const one of world.pages) {
    await page.setViewportSize({ width: SIZES[0][0], height: SIZES[0][1] });
    await world.visit(page, one);
    for (const [width, height] of SIZES) faults.push(...(await layoutFaults(page, one.name, width, height)));
  }
  await page.close();
  judge(faults);
});

async function layoutFaults(page, name, width, height) {
  await page.setViewportSize({ width, height });
  await rested(page);
  const found = await page.evaluate(() => [...window.__pages.sideways(), ...window.__pages.overlappingControls(), ...window.__pages.overlappingTexts(), ...window.__pages.cutControls()]);
  return found.slice(0, 8).map((fault) => `${name} at ${width}: ${fault}`);
}

// acceptance: W5
test('a zoom of 200 % loses nothing: each control is still there, nothing overlaps, nothing scrolls sideways', async () => {
  const faults = [];
  const page = await openTab();
  for (const one of world.pages) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await world.visit(page, one);
    // A table shows as many columns as fit, and its menu has them all.
    await page.evaluate(() => {
      window.__whole = window.__pages.focusables().filter((element) => !element.closest('.data-head'));
    });
    for (const [width, height] of ZOOMED) {
      faults.push(...(await layoutFaults(page, one.name, width, height)));
      faults.push(...(await page.evaluate(([name, at]) => window.__whole.filter((element) => element.isConnected && !window.__pages.shown(element)).slice(0, 5).map((element) => `${name} at ${at}: gone: ${window.__pages.word(element)}`), [one.name, width])));
    }
  }
  await page.close();
  judge(faults);
});
