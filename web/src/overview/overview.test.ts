import { describe, expect, it } from 'vitest';
import type { TopOp } from '../api/types';
import { categories, categoryOf } from '../theme/tokens';
import { parseViewport } from '../state/url';
import { shortHosts } from './Devices';
import { median, stepView } from './Steps';
import { filterOps, formatSort, parseSort, sortOps } from './TopOps';
import { tailStart } from '../ui/tailStart';

const op = (name: string, changes: Partial<TopOp> = {}): TopOp => ({ name, category: 'fusion', count: 1, total_ps: 1, self_ps: 1, share: 0.1, source: null, event: null, ...changes });

describe('top operations', () => {
  const ops = [op('a', { self_ps: 5 }), op('b', { self_ps: null }), op('c', { self_ps: 9, source: 'model.py:7' })];
  it('sort both ways with unknown values last', () => {
    expect(sortOps(ops, { key: 'self', descending: true }).map((one) => one.name)).toEqual(['c', 'a', 'b']);
    expect(sortOps(ops, { key: 'self', descending: false }).map((one) => one.name)).toEqual(['a', 'c', 'b']);
    expect(sortOps(ops, { key: 'name', descending: true }).map((one) => one.name)).toEqual(['c', 'b', 'a']);
  });
  it('filter by name, source and category', () => {
    expect(filterOps(ops, 'MODEL').map((one) => one.name)).toEqual(['c']);
    expect(filterOps(ops, 'fusion')).toHaveLength(3);
    expect(filterOps(ops, ' ')).toHaveLength(3);
  });
  it('keep their order in the address', () => {
    expect(formatSort(parseSort('-count'))).toBe('-count');
    expect(formatSort(parseSort('name'))).toBe('name');
    expect(formatSort(parseSort(null))).toBeNull();
    expect(formatSort(parseSort('-nonsense'))).toBeNull();
  });
});

describe('long names', () => {
  it.each([
    ['fusion.3', ''],
    ['loop_dynamic-update-slice_multiply_select_fusion.1284', 'fusion.1284'],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaaaaaa'],
  ])('%s keeps the tail "%s"', (name, tail) => expect(name.slice(tailStart(name))).toBe(tail));
});

describe('host names', () => {
  it('lose what all of them share, and nothing else', () => {
    expect([...shortHosts(['w-0.example.com', 'w-1.example.com']).values()]).toEqual(['w-0', 'w-1']);
    expect([...shortHosts(['w-0.a.com', 'w-0.b.com']).values()]).toEqual(['w-0.a.com', 'w-0.b.com']);
    expect([...shortHosts(['10.0.0.1', '10.0.0.2']).values()]).toEqual(['10.0.0.1', '10.0.0.2']);
    expect([...shortHosts(['node0.example.com']).values()]).toEqual(['node0.example.com']);
  });
});

describe('steps', () => {
  it('have a median', () => {
    expect(median([])).toBeNull();
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });
  it('open on the timeline with both edges in sight', () => {
    const view = parseViewport(stepView({ name: '1', start_ps: 2e9, duration_ps: 1e9, line: '0.0.0' }))!;
    expect(view.startPs).toBeLessThan(2e9);
    expect(view.startPs + view.durationPs).toBeGreaterThan(3e9);
    expect(parseViewport(stepView({ name: '1', start_ps: 0, duration_ps: 0, line: '0.0.0' }))).not.toBeNull();
  });
});

describe('categories', () => {
  it.each([
    ['all-reduce', 'collective'],
    ['convolution', 'matmul'],
    ['loop fusion', 'fusion'],
    ['custom-call', 'kernel'],
    ['copy-done', 'transfer'],
    ['data formatting', 'movement'],
    ['reduce', 'reduce'],
    ['reduce-scatter', 'collective'],
    ['Matmul, conv', 'matmul'],
    ['custom kernel', 'kernel'],
    ['data movement', 'movement'],
    ['host transfer', 'transfer'],
    ['host code', 'host'],
    ['marker', 'marker'],
    [null, 'other'],
    ['something new', 'other'],
  ])('%s is %s', (word, key) => expect(categoryOf(word).key).toBe(key));
  it('are ten, as the tile format numbers them', () => expect(categories.map((category) => category.key)).toEqual(['other', 'matmul', 'fusion', 'kernel', 'reduce', 'movement', 'collective', 'transfer', 'host', 'marker']));
});
