// The table of acceptance says what the tests say: tags are read, results of reports are joined, and nothing holds without a test that passed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultFor, resultsOf, tableOf, taggedTests } from './acceptance.mjs';

const SOURCE = `
// acceptance: OP1
test('fits', async () => {
});
for (const theme of themes)
  // acceptance: W12 W5
  test(\`looks right, \${theme}\`, async () => {});
test('has no tag', () => {});
`;
const REPORT = `<testsuites><testsuite>
<testcase name="fits" time="1"/>
<testcase name="looks right, light" time="1"></testcase>
<testcase name="looks right, dark"><failure message="a &gt; b">x</failure></testcase>
</testsuite></testsuites>`;

const lineOf = (table, id) => table.split('\n').find((line) => line.startsWith(`| ${id} |`));

test('tags and names are read, also names with parts that change', () => {
  assert.deepEqual(taggedTests(SOURCE, 'a.mjs').map((one) => [one.name, one.points]), [['fits', ['OP1']], ['looks right, …', ['W12', 'W5']]]);
  assert.throws(() => taggedTests('// acceptance: OP1\nconst x = 1;', 'a.mjs'), /must begin a test/);
  assert.throws(() => taggedTests('// acceptance: op one\n', 'a.mjs'), /write/);
});

test('a point holds only when every run of every test of it passed', () => {
  const tests = taggedTests(SOURCE, 'a.mjs');
  const results = resultsOf(REPORT);
  assert.deepEqual(tests.map((one) => resultFor(one, results)), ['passed', 'failed']);
  const table = tableOf(tests, results);
  assert.match(lineOf(table, 'OP1'), /\| holds \|$/);
  assert.match(lineOf(table, 'W12'), /\*\*fails\*\* \|$/);
  assert.match(lineOf(table, 'OP6'), /not shown \|$/);
  assert.match(lineOf(table, 'RP1'), /part not built yet/);
  assert.match(lineOf(tableOf(tests, []), 'OP1'), /not run \|$/);
  assert.match(lineOf(tableOf(tests, resultsOf('<testcase name="fits"><skipped/></testcase>')), 'OP1'), /not run \|$/);
});

test('a tag of a point that does not exist is refused', () => {
  assert.throws(() => tableOf(taggedTests("// acceptance: ZZ9\ntest('x', () => {});", 'a.mjs'), []), /no point ZZ9/);
});
