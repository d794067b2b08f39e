import { describe, expect, it } from 'vitest';
import { joinTools, readAnswer, readTable, type WireTable } from './answer';
import { groupOf, resolveTool, toolGroups, toolsOf, moreGroup } from './catalog';
import { toolSearch } from './client';
import { cleanLabel, defaultColumns, headerOf, presentColumn, presentColumns, programText } from './columns';
import { deltaWord, readComparison, waterfallOf, worseSign } from './compare';
import { rankBaselines } from './ContextBar';
import { unitOf, viewDocument, wordsOf } from './documents';
import { drawerKeys, parseOpKey, parseRowKey } from './drawerKeys';
import { exportTableOf, serverFile } from './exportTable';
import { formatFact } from './Facts';
import { groupTable, sumRow, withOpShare } from './groupRows';
import { plainWords } from './Notices';
import { readOptions } from './options';
import { filterRows, formatFilters, parseFilters, parseSort, sortRows, toTsv } from './rows';
import { splitModules } from './useModules';

const wire: WireTable = {
  id: 'ops',
  title: 'Ops',
  columns: [
    { id: 'hlo_op_name', label: 'HLO op name', type: 'string' },
    { id: 'category', label: 'HLO op category', type: 'string' },
    { id: 'total_self_time', label: 'Total self time (us)', type: 'number', unit: 'us' },
    { id: 'total_self_time_percent', label: 'Total self time (%)', type: 'number', unit: 'percent' },
    { id: 'normalized_flop_rate', label: 'Normalized GFLOP/s', type: 'number', unit: 'GFLOP/s' },
    { id: 'autotuned', label: 'Autotuned', type: 'boolean' },
  ],
  rows: [
    ['fusion.10', 'loop fusion', 1500, 15, 2000, false],
    ['fusion.9', 'loop fusion', 500, 5, null, false],
    ['dot.1', 'convolution', 8000, 80, { value: 500_000, text: '500k' }, true],
  ],
  row_ids: [7, 3, 5],
  subjects: [{ hlo_module_id: '12190760917235803885', op_name: 'fusion.10', step: null }, null, { hlo_module_id: '0', op_name: '', step: -1 }],
};
const table = readTable(wire);

describe('answers from the wire', () => {
  it('keep row ids, subjects and the tool’s own text of a cell', () => {
    expect(table.rows.map((row) => row.index)).toEqual([7, 3, 5]);
    expect(table.rows[0]!.subject).toEqual({ moduleId: '12190760917235803885', opName: 'fusion.10', frameworkOp: '', step: null, host: '' });
    expect(table.rows[2]!.subject).toBeNull();
    expect(table.rows[2]!.cells[4]).toBe(500_000);
    expect(table.rows[2]!.texts![4]).toBe('500k');
    expect(table.rows[0]!.texts).toBeUndefined();
  });
  it('are empty, never undefined', () => {
    expect(readAnswer({ tool: 'x' })).toEqual({ tool: 'x', tables: [], document: null, text: null, contentType: '', notices: [], partial: false });
    expect(readAnswer({ tool: 'x', notices: [{ message: 'm', severity: 'strange' }] }).notices[0]).toEqual({ severity: 'info', name: '', message: 'm', hint: '' });
  });
});

describe('the registry', () => {
  const tools = joinTools(
    [{ id: 'op_profile', title: 'Op profile', aliases: ['hlo_op_profile'] }, { id: 'hlo_stats', title: 'HLO op stats' }, { id: 'brand_new', title: 'New' }, { id: 'hidden', title: 'H', listed: false }, { id: 'trace_viewer', title: 'T' }],
    [{ id: 'op_profile', title: '', applies: false, reason: 'No device.', hint: 'Capture one.' }, { id: 'hlo_stats', title: '', applies: true, reason: null }],
  );
  it('gives every tool its place, also one that no group names', () => {
    expect(toolsOf(moreGroup, tools).map((tool) => tool.id)).toEqual(['brand_new']);
    expect(groupOf('hlo_stats')!.id).toBe('ops');
    expect(new Set(toolGroups.flatMap((group) => group.tools)).size).toBe(toolGroups.flatMap((group) => group.tools).length);
  });
  it('resolves ids, aliases and groups; a group leads to the first tool with something to say', () => {
    expect(resolveTool(tools, 'hlo_op_profile')!.id).toBe('op_profile');
    expect(resolveTool(tools, 'ops')!.id).toBe('hlo_stats');
    expect(resolveTool(tools, 'memory')).toBeNull();
    expect(resolveTool(tools, 'more')!.id).toBe('brand_new');
    expect(tools[0]!.reason).toBe('No device.');
  });
  it('reads options from the address, defaults and impossible values left out', () => {
    const tool = joinTools([{ id: 't', title: 't', options: [{ name: 'group_by', type: 'string', default: 'program', choices: ['program', 'category'] }, { name: 'n', type: 'integer', default: '3' }] }], null)[0]!;
    expect(readOptions('?o.group_by=category&o.n=3', tool)).toEqual({ group_by: 'category' });
    expect(readOptions('?o.group_by=nonsense&o.n=9', tool)).toEqual({ n: '9' });
  });
  it('asks an option that is called like a parameter of ours by its long name', () => {
    expect(toolSearch({ hosts: 'a,b', options: { format: 'dot', group_by: 'x y' } }, [['limit', 5]])).toBe('?hosts=a%2Cb&option.format=dot&group_by=x%20y&limit=5');
  });
});

describe('columns', () => {
  it('write one unit in the header and numbers without it', () => {
    const time = presentColumn(table, 2);
    expect(headerOf(time)).toBe('Self time, ms');
    expect(time.format(1500)).toBe('1.50');
    expect(time.exact(1500)).toBe('1,500,000,000 ps');
    const rate = presentColumn(table, 4);
    expect(headerOf(rate)).toBe('FLOP rate, TFLOP/s');
    expect(rate.format(500_000)).toBe('500');
    expect(rate.format(null)).toBe('\u2013');
    expect(presentColumn(table, 3).format(15)).toBe('15.0 %');
    expect(presentColumn(table, 5).format(true)).toBe('yes');
  });
  it('lose XProf’s units in brackets', () => {
    expect(cleanLabel('Total Time (us)')).toBe('Total Time');
    expect(cleanLabel('TensorCore compute (in ms)')).toBe('TensorCore compute');
    expect(cleanLabel('HBM BW (GiB/s)')).toBe('HBM BW');
    expect(cleanLabel('Value (Hex)')).toBe('Value (Hex)');
  });
  it('of the first sight are those that say something, as many as fit', () => {
    const shown = presentColumns(table);
    expect(defaultColumns(table, shown, 10_000)).toEqual(table.columns.map((column) => column.id));
    expect(defaultColumns(table, shown, 320).length).toBeLessThan(4);
    expect(defaultColumns(table, shown, 10_000, ['total_self_time', 'no_such', 'hlo_op_name'])).toEqual(['total_self_time', 'hlo_op_name']);
    const empty = readTable({ ...wire, rows: [['a', '', 0, 0, null, false]] });
    expect(defaultColumns(empty, presentColumns(empty), 10_000)).toEqual(['hlo_op_name']);
  });
  it('tell programs apart by four hex digits', () => {
    expect(programText('12190760917235803885')).toBe('26ed');
    expect(programText('11')).toBe('11');
  });
});

describe('rows', () => {
  const names = (rows: readonly { cells: readonly unknown[] }[]) => rows.map((row) => row.cells[0]);
  it('sort numbers, names by their numbers, and keep unknown ones last both ways', () => {
    expect(names(sortRows(table.rows, 2, true))).toEqual(['dot.1', 'fusion.10', 'fusion.9']);
    expect(names(sortRows(table.rows, 0, false))).toEqual(['dot.1', 'fusion.9', 'fusion.10']);
    expect(names(sortRows(table.rows, 4, true))).toEqual(['dot.1', 'fusion.10', 'fusion.9']);
    expect(names(sortRows(table.rows, 4, false))).toEqual(['fusion.10', 'dot.1', 'fusion.9']);
    expect(sortRows(table.rows, -1, true)).toBe(table.rows);
  });
  it('sort by amount when asked', () => {
    const some = readTable({ id: 't', columns: [{ id: 'd', type: 'number' }], rows: [[1], [-5], [3], [null]] });
    expect(names(sortRows(some.rows, 0, true, true))).toEqual([-5, 3, 1, null]);
  });
  // acceptance: OP2
  it('sort 100,000 at once in far less than a second', () => {
    const many = readTable({ id: 't', columns: [{ id: 'n', type: 'number' }], rows: Array.from({ length: 100_000 }, (_, i) => [(i * 7919) % 100_003]) });
    const sorted = sortRows(many.rows, 0, false);
    expect(sorted).toHaveLength(100_000);
    for (let i = 1; i < sorted.length; i += 997) expect(sorted[i]!.cells[0] as number).toBeGreaterThanOrEqual(sorted[i - 1]!.cells[0] as number);
  });
  it('filter by column and by words anywhere', () => {
    expect(names(filterRows(table, parseFilters('category=loop fusion;total_self_time>600'), ''))).toEqual(['fusion.10']);
    expect(names(filterRows(table, [], 'LOOP 9'))).toEqual(['fusion.9']);
    expect(filterRows(table, parseFilters('no_such_column=1'), '')).toHaveLength(3);
    expect(names(filterRows(table, parseFilters('autotuned=true'), ''))).toEqual(['dot.1']);
  });
  it('keep filters and order in the address, whatever they hold', () => {
    const filters = [{ column: 'hlo_op_name', operator: '~' as const, value: 'a;b%3B=c' }];
    expect(parseFilters(formatFilters(filters))).toEqual(filters);
    expect(parseSort('-total')).toEqual({ column: 'total', descending: true });
    expect(parseSort('')).toBeNull();
  });
  it('copy as a spreadsheet takes them', () => expect(toTsv(['a', 'b'], [['x\ty', null], [1, true]])).toBe('a\tb\nx y\t\n1\ttrue'));
  it('sum what adds up, and fold by a column with weighted means', () => {
    expect(sumRow(table, table.rows)).toEqual([null, null, 10_000, 100, null, null]);
    const grouped = groupTable(table, 'category');
    expect(grouped.rows.map((row) => row.cells.slice(0, 4))).toEqual([['loop fusion', 2, 2000, 20], ['convolution', 1, 8000, 80]]);
    const rate = grouped.columns.findIndex((column) => column.id === 'normalized_flop_rate');
    expect(grouped.rows[0]!.cells[rate]).toBe(2000);
    expect(groupTable(table, 'no_such')).toBe(table);
  });
});

describe('a comparison', () => {
  const comparison = readComparison({
    tool: 'hlo_stats', table: { id: 'ops', title: 'Ops' }, keys: ['hlo_op_name'], sessions: [],
    key_columns: [{ id: 'hlo_op_name', label: 'Op', type: 'string' }],
    columns: [{ id: 'occurrences', type: 'number', unit: 'count' }, { id: 'total_self_time', type: 'number', unit: 'us' }],
    total_row_count: 3, row_count: 3,
    rows: [
      { key: ['a'], row_ids: [0, 0], values: [[1, 1], [100, 160]], absolute: [[null, 0], [null, 60]], relative: [[null, 0], [null, 0.6]] },
      { key: ['b'], row_ids: [1, null], values: [[1, null], [30, null]], absolute: [[null, null], [null, null]], relative: [[null, null], [null, null]] },
      { key: ['c'], row_ids: [null, 1], values: [[null, 2], [null, 12]], absolute: [[null, null], [null, null]], relative: [[null, null], [null, null]] },
    ],
  });
  it('counts what matched, what is new and what is gone', () => {
    expect([comparison.matched, comparison.onlyHere, comparison.onlyBaseline]).toEqual([1, 1, 1]);
    expect(comparison.main).toBe('total_self_time');
    expect(comparison.preferred).toEqual(['hlo_op_name', 'total_self_time', 'total_self_time.baseline', 'total_self_time.absolute', 'total_self_time.relative', 'in_sessions']);
  });
  // acceptance: CP3
  it('names the parts of the difference, and they sum to it', () => {
    const fall = waterfallOf(comparison)!;
    expect([fall.before, fall.after]).toEqual([130, 172]);
    expect(fall.steps).toEqual([{ name: 'a', value: 60 }, { name: 'b', value: -30 }, { name: 'c', value: 12 }]);
    expect(fall.steps.reduce((sum, step) => sum + step.value, 0)).toBe(fall.after - fall.before);
  });
  it('folds small parts into one, still summing to the whole', () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({ key: [`op${i}`], row_ids: [i, i], values: [[10, 10 + i]], absolute: [[null, i]], relative: [[null, i / 10]] }));
    const fall = waterfallOf(readComparison({ tool: 't', table: { id: 't' }, keys: [], sessions: [], key_columns: [{ id: 'operation', type: 'string' }], columns: [{ id: 'total_self_time', type: 'number', unit: 'us' }], total_row_count: 20, row_count: 20, rows }))!;
    expect(fall.steps.at(-1)!.name).toBe('14 others');
    expect(fall.steps.reduce((sum, step) => sum + step.value, 0)).toBe(190);
  });
  it('says better and worse by what the number means', () => {
    expect(worseSign('total_self_time.absolute')).toBe(1);
    expect(worseSign('hbm_bw.relative')).toBe(-1);
    expect(worseSign('occurrences.absolute')).toBe(0);
    const at = comparison.table.columns.findIndex((column) => column.id === 'total_self_time.absolute');
    const shown = presentColumn(comparison.table, at);
    expect(deltaWord(shown, 60)).toEqual({ text: '+60.0', direction: 'worse', up: true });
    expect(deltaWord(shown, -30)!.direction).toBe('better');
    expect(deltaWord(shown, 0)!.direction).toBe('same');
    expect(deltaWord(presentColumn(comparison.table, 0), 'a')).toBeNull();
  });
});

describe('documents', () => {
  it('become facts and tables', () => {
    const view = viewDocument({ deviceType: 'TPU', peak: { usedBytes: 2048 }, list: [{ name: 'a', stats: { timePs: '12' } }, { name: 'b', stats: { timePs: '13' } }], empty: [] });
    expect(view.facts).toEqual([['Device type', 'TPU', ''], ['Peak / Used bytes', 2048, 'bytes']]);
    expect(view.tables).toHaveLength(1);
    expect(view.tables[0]!.columns.map((column) => [column.id, column.type, column.unit])).toEqual([['name', 'string', ''], ['stats.timePs', 'number', 'ps']]);
    expect(view.tables[0]!.rows[1]!.cells).toEqual(['b', 13]);
  });
  it('have words and units from their names', () => {
    expect(wordsOf('totalBufferAllocationMib')).toBe('Total buffer allocation mib');
    expect(unitOf('peakHeapMib')).toBe('MiB');
    expect(unitOf('rawTimePs')).toBe('ps');
    expect(formatFact('2048', 'bytes')).toBe('2.00 KiB');
    expect(formatFact(null, 'bytes')).toBe('\u2013');
    expect(formatFact('7f3a', '')).toBe('7f3a');
  });
});

describe('the address of a drawer', () => {
  it('names a row, or an op with a name of any letters', () => {
    expect(drawerKeys(table, table.rows[0]!)).toEqual({ row: 'ops/7', op: '12190760917235803885/fusion.10' });
    expect(parseRowKey('a/b/12')).toEqual({ table: 'a/b', row: 12 });
    expect(parseRowKey('a/b')).toBeNull();
    expect(parseOpKey('12/jit(f)/add')).toEqual({ moduleId: '12', name: 'jit(f)/add' });
    expect(parseOpKey('/add')).toEqual({ moduleId: '', name: 'add' });
  });
});

describe('baselines', () => {
  const session = (id: string, run: string, modified: number, state = 'complete') => ({ id, run, name: id, hosts: [], host_count: 1, size_bytes: 1, modified_unix_ms: modified, state: state as 'complete', state_reason: null, root: '', path: '' });
  // acceptance: CP1
  it('offer the session before this one in its run first', () => {
    const all = [session('later', 'r', 30), session('own', 'r', 20), session('before', 'r', 10), session('other', 'x', 25), session('broken', 'r', 15, 'damaged'), session('oldest', 'r', 5)];
    expect(rankBaselines(all, 'own', 'r', 20).map((one) => one.id)).toEqual(['before', 'oldest', 'later', 'other']);
  });
});

describe('texts from XProf', () => {
  it('lose their links', () => expect(plainWords('use <a href="https://x.y" target="_blank">map()</a> &amp; more')).toBe('use map() & more'));
  it('lists modules whose names hold commas', () => {
    expect(splitModules('jit_f(12),jit__lambda_(3),NO_ID')).toEqual([{ full: 'jit_f(12)', name: 'jit_f', id: '12' }, { full: 'jit__lambda_(3)', name: 'jit__lambda_', id: '3' }, { full: 'NO_ID', name: 'NO_ID', id: '' }]);
    expect(splitModules('')).toEqual([]);
    expect(splitModules('NO_MODULE')).toEqual([]);
  });
});

describe('files of a table', () => {
  const shown = presentColumns(table);
  const state = { shown, sort: { column: 'total_self_time', descending: true }, filters: parseFilters('category=loop fusion;total_self_time>600;nosuch~x'), text: 'fus' };
  it('hold what is shown, with exact values and the forms for people', () => {
    const made = exportTableOf(table, [shown[0]!, shown[4]!], [table.rows[2]!, table.rows[1]!]);
    expect(made.columns.map((column) => [column.id, column.type])).toEqual([['hlo_op_name', 'string'], ['normalized_flop_rate', 'number']]);
    expect(made.rows).toEqual([['dot.1', 500_000], ['fusion.9', null]]);
    expect(made.texts).toEqual([[null, '500k'], undefined]);
    expect(made.totalRows).toBe(2);
    expect(exportTableOf({ ...table, totalRows: 900 }, shown, table.rows).totalRows).toBe(900);
  });
  it('come from the server with the same filter, order and columns', () => {
    const address = new URL(serverFile('s1', 'hlo_stats', { hosts: 'h0', options: { format: 'x' } }, table, state, 'parquet')!, 'http://here');
    expect(address.pathname).toMatch(/\/api\/v1\/sessions\/s1\/tools\/hlo_stats$/);
    expect(address.searchParams.getAll('filter')).toEqual(['category:eq:loop fusion', 'total_self_time:ge:600']);
    expect(Object.fromEntries([...address.searchParams].filter(([key]) => key !== 'filter'))).toEqual({ hosts: 'h0', 'option.format': 'x', table: 'ops', sort: '-total_self_time', q: 'fus', columns: table.columns.map((column) => column.id).join(','), format: 'parquet' });
  });
  it('are made by the page where the server would choose other rows', () => {
    const own = withOpShare(table);
    const ask = (more: Partial<typeof state>) => serverFile('s1', 'hlo_stats', {}, own, { ...state, shown: presentColumns(own), ...more }, 'csv');
    expect(ask({})).not.toContain('own.share');
    expect(ask({ text: 'two words' })).toBeNull();
    expect(ask({ sort: { column: 'own.share', descending: true } })).toBeNull();
    expect(ask({ filters: parseFilters('own.share>0.1') })).toBeNull();
  });
});
