// Serious and critical findings of axe on a page as it stands, each with the elements it is about.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from './harness.mjs';

const source = readFileSync(createRequire(path.join(ROOT, 'web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');
const MOST_NODES = 3;

export async function seriousFindings(page, where) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  return violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${where} ${one.id}: ${one.nodes.slice(0, MOST_NODES).map((node) => `${node.target} ${node.failureSummary.replace(/\s+/g, ' ')}`).join(' | ')}`);
}
