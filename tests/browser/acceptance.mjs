// Writes docs/console/acceptance.md: which point of the console's acceptance is shown by which test, and whether that test passed when it
// last ran. A test names its points in the line above it:
//
//   // acceptance: OP3 W9
//   test('a table sorts, filters ...', async () => {
//
//   node tests/browser/acceptance.mjs           writes the table from the tags and the reports in build/test-logs
//   node tests/browser/acceptance.mjs --check   fails when the table does not say what the tags say (results of runs are not compared)
//
// Reports are JUnit files of node --test and vitest. What is in no report was not run: the table says so instead of guessing.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { POINTS } from './acceptance_points.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const TABLE = path.join(ROOT, 'docs/console/acceptance.md');
const REPORTS = ['browser.xml', 'browser-check.xml', 'vitest.xml'];
const WORDS = { passed: 'holds', failed: '**fails**', skipped: 'not run', absent: 'not run' };

function* testFiles() {
  for (const folder of ['tests/browser', 'web/dev', 'web/src']) {
    for (const name of readdirSync(path.join(ROOT, folder), { recursive: true })) {
      if (name !== 'acceptance.test.mjs' && /(\.test\.(mjs|ts|tsx)|\.check\.mjs|flows\.mjs)$/.test(name) && !name.includes('node_modules')) yield path.join(folder, name);
    }
  }
}

const TAG = /^\s*\/\/ acceptance: ([A-Z]{1,2}\d+(?: [A-Z]{1,2}\d+)*)\s*$/;
const NAME = /^\s*(?:test|it)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/;

// Every tagged test: file, name as one reads it, and a pattern that the name in a report fits.
export function taggedTests(text, file) {
  const lines = text.split('\n');
  const found = [];
  lines.forEach((line, i) => {
    const tag = TAG.exec(line);
    if (!tag) {
      if (/^\s*\/\/ acceptance:/.test(line)) throw new Error(`${file}:${i + 1}: write "// acceptance: OP3 W9" on a line of its own`);
      return;
    }
    const name = NAME.exec(lines[i + 1] ?? '');
    if (!name) throw new Error(`${file}:${i + 2}: the line below a tag must begin a test with its name`);
    const parts = name[2].replace(/\\(.)/g, '$1').split(/\$\{[^}]*\}/);
    found.push({ file, points: tag[1].split(' '), name: parts.join('…'), pattern: new RegExp('^' + parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*') + '$') });
  });
  return found;
}

const plain = (text) => text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16))).replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&apos;/g, "'").replace(/&amp;/g, '&');

// Name -> results of a JUnit report; vitest writes "describe > it".
export function resultsOf(xml) {
  const results = [];
  for (const [, head, slash, body] of xml.matchAll(/<testcase\b((?:"[^"]*"|[^">])*?)(\/)?>(?:([^]*?)<\/testcase>)?/g)) {
    const name = plain(/\bname="([^"]*)"/.exec(head)?.[1] ?? '').split(' > ').at(-1);
    const inside = slash ? '' : (body ?? '');
    results.push({ name, result: /<(failure|error)\b/.test(inside) ? 'failed' : /<skipped\b/.test(inside) ? 'skipped' : 'passed' });
  }
  return results;
}

// The worst of all runs that fit the test: one failed theme is a failure.
export function resultFor(test, results) {
  const fitting = results.filter((one) => test.pattern.test(one.name)).map((one) => one.result);
  return ['failed', 'skipped', 'passed'].find((one) => fitting.includes(one)) ?? 'absent';
}

function statusOf(more, tests) {
  if (more?.missing) return `part not built yet: ${more.missing}`;
  if (tests.length === 0) return 'not shown';
  const worst = ['failed', 'absent', 'skipped', 'passed'].find((one) => tests.some((test) => test.result === one));
  return more?.open && worst === 'passed' ? `holds in part; open: ${more.open}` : WORDS[worst] + (more?.open ? `; open: ${more.open}` : '');
}

export function tableOf(tests, results) {
  const known = new Set(POINTS.flatMap(([, points]) => points.map(([id]) => id)));
  for (const test of tests) for (const id of test.points) if (!known.has(id)) throw new Error(`${test.file}: there is no point ${id}`);
  const sections = [];
  const counts = { holds: 0, part: 0, open: 0, missing: 0, notRun: 0, fails: 0 };
  for (const [page, points] of POINTS) {
    const rows = points.map(([id, sentence, more]) => {
      const its = tests.filter((test) => test.points.includes(id)).map((test) => ({ ...test, result: resultFor(test, results) }));
      const status = statusOf(more, its);
      counts[/^holds in part/.test(status) ? 'part' : /^holds/.test(status) ? 'holds' : /^part not/.test(status) ? 'missing' : /^not shown/.test(status) ? 'open' : /^not run/.test(status) ? 'notRun' : 'fails']++;
      const shown = its.map((test) => `${test.name.replace(/\|/g, '\\|')} (\`${path.basename(test.file)}\`)`).join('<br>') || '\u2013';
      return `| ${id} | ${sentence} | ${shown} | ${status} |`;
    });
    sections.push(`## ${page}\n\n| point | what must be true | shown by | state |\n|---|---|---|---|\n${rows.join('\n')}\n`);
  }
  const words = [[counts.holds, 'hold'], [counts.part, 'hold in part'], [counts.open, 'are shown by no test'], [counts.missing, 'wait for a part that is not built'], [counts.notRun, 'have tests that were not run'], [counts.fails, 'fail']].filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`);
  return `# What the console promises, and which tests show it

Made by \`node tests/browser/acceptance.mjs\` from the tests and their last run; not written by hand. Tests of speed, of pictures and of every page run with \`./dev check console\`, all
others with \`./dev test web browser\`.

Of ${known.size} points ${words.join(', ')}.

${sections.join('\n')}`;
}

// What does not depend on a run: the tests of each point, and what is open or missing.
const withoutResults = (table) => table.split('\n').filter((line) => line.startsWith('|') || line.startsWith('#')).map((line) => line.replace(/\| (holds in part|holds|\*\*fails\*\*|not run)(; open: [^|]*)? \|$/, (_, state, open) => `| ${open ?? ''} |`)).join('\n');

function main() {
  const tests = [...testFiles()].sort().flatMap((file) => taggedTests(readFileSync(path.join(ROOT, file), 'utf8'), file));
  const results = REPORTS.map((name) => path.join(ROOT, 'build/test-logs', name)).filter(existsSync).flatMap((name) => resultsOf(readFileSync(name, 'utf8')));
  const table = tableOf(tests, results);
  if (process.argv.includes('--check')) {
    const written = existsSync(TABLE) ? readFileSync(TABLE, 'utf8') : '';
    if (withoutResults(written) === withoutResults(table)) return;
    const [old, now] = [withoutResults(written).split('\n'), withoutResults(table).split('\n')];
    console.error('docs/console/acceptance.md does not say what the tests say; run node tests/browser/acceptance.mjs. It differs in:');
    for (const line of now.filter((one) => !old.includes(one)).slice(0, 10)) console.error(`  ${line}`);
    process.exit(1);
  }
  mkdirSync(path.dirname(TABLE), { recursive: true });
  writeFileSync(TABLE, table);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
