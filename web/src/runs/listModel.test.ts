import { describe, expect, it } from 'vitest';
import { compareAddress, compareConfigs, withText } from './compare';
import { groupRuns, mostCompared, newestFirst, nextSort, orderBy, parseGrouping, parseSort, sortText, toggleSelected } from './listModel';
import { filterSearch, readSaved } from './savedFilters';
import type { Run } from './types';

const run = (id: string, fields: Partial<Run> = {}): Run => ({ name: `projects/p/locations/local/machineLearningRuns/${id}`, state: 'STATE_ACTIVE', etag: 'e', createTime: '2026-11-30T10:00:00Z', updateTime: '2026-11-30T10:00:00Z', ...fields });

describe('the order of runs', () => {
  it('is read from the address, newest first when nothing or nonsense is said', () => {
    expect(parseSort(null)).toEqual(newestFirst);
    expect(parseSort('nonsense')).toEqual(newestFirst);
    expect(parseSort('name')).toEqual({ field: 'name', descending: false });
    expect(parseSort('-state')).toEqual({ field: 'state', descending: true });
    for (const text of ['name', '-name', 'age', '-ended']) expect(sortText(parseSort(text))).toBe(text);
    expect(sortText(newestFirst)).toBeNull();
  });
  it('turns round at the second click', () => {
    expect(nextSort(newestFirst, 'age')).toEqual({ field: 'age', descending: false });
    expect(nextSort(newestFirst, 'name')).toEqual({ field: 'name', descending: false });
    expect(nextSort({ field: 'name', descending: false }, 'ended')).toEqual({ field: 'ended', descending: true });
  });
  it('keeps groups together for the server', () => {
    expect(orderBy(newestFirst, '')).toBe('create_time desc');
    expect(orderBy(newestFirst, 'group')).toBe('run_set, create_time desc');
    expect(orderBy({ field: 'name', descending: true }, 'state')).toBe('state, display_name desc, create_time desc');
    expect(orderBy({ field: 'group', descending: true }, 'group')).toBe('run_set desc, create_time desc');
    expect(parseGrouping('label')).toBe('');
  });
});

describe('groups of runs', () => {
  const runs = [run('1', { runSet: 'a' }), run('2', { runSet: 'a' }), run('3')];
  const shape = (folded: string[]) => groupRuns(runs, 'group', new Set(folded)).map((item) => (item.kind === 'group' ? `${item.label} ${item.count}` : item.run.name.slice(-1)));
  it('stand below their name and fold', () => {
    expect(shape([])).toEqual(['a 2', '1', '2', 'No group 1', '3']);
    expect(shape(['a'])).toEqual(['a 2', 'No group 1', '3']);
  });
  it('by state have the words of the states', () => {
    expect(groupRuns([run('1', { state: 'STATE_FAILED' })], 'state', new Set())[0]).toMatchObject({ label: 'Failed', count: 1 });
  });
});

it('selects no more runs than can be told apart', () => {
  let selected: string[] = [];
  for (let i = 0; i < mostCompared + 3; i++) selected = toggleSelected(selected, `r${i}`);
  expect(selected).toHaveLength(mostCompared);
  expect(toggleSelected(selected, 'r0')).not.toContain('r0');
});

describe('runs beside each other', () => {
  it('are in the address of the first', () => {
    expect(compareAddress([run('a').name, run('b').name, run('c').name])).toBe('/runs/p/local/a?tab=configs&with=local/b,local/c');
    expect(withText([])).toBeNull();
  });
  it('show where they differ, and what one of them lacks', () => {
    const rows = compareConfigs([
      [{ section: 'User', key: 'lr', value: '0.1' }, { section: 'User', key: 'batch', value: '8' }],
      [{ section: 'User', key: 'lr', value: '0.2' }, { section: 'User', key: 'batch', value: '8' }, { section: 'Label', key: 'team', value: 'v' }],
    ]);
    expect(rows).toEqual([
      { section: 'User', key: 'batch', values: ['8', '8'], differs: false },
      { section: 'User', key: 'lr', values: ['0.1', '0.2'], differs: true },
      { section: 'Label', key: 'team', values: [null, 'v'], differs: true },
    ]);
  });
});

describe('saved filters', () => {
  it('hold what filters, not where one is', () => {
    expect(filterSearch('?state=FAILED&tab=x&group=a%20b&sort=-name')).toBe('?state=FAILED&group=a%20b&sort=-name');
    expect(filterSearch('?tab=x')).toBe('');
  });
  it('survive a store that holds anything', () => {
    expect(readSaved('nonsense')).toEqual([]);
    expect(readSaved('{"a":1}')).toEqual([]);
    expect(readSaved('[{"name":"x","search":"?q=1"},{"name":3},null]')).toEqual([{ name: 'x', search: '?q=1' }]);
    expect(readSaved(null)).toEqual([]);
  });
});
