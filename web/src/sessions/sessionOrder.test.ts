import { describe, expect, it } from 'vitest';
import type { SessionSummary } from '../api/types';
import { arrange, nextSort, parseSort, sortText } from './sessionOrder';

const session = (id: string, fields: Partial<SessionSummary> = {}): SessionSummary => ({ id, run: 'r', name: id, hosts: ['h'], host_count: 1, size_bytes: 1, modified_unix_ms: 0, state: 'complete', state_reason: null, root: '/', path: 'p', ...fields });
const ids = (list: readonly SessionSummary[]) => list.map((one) => one.id).join('');

describe('the order of sessions', () => {
  const list = [session('a', { size_bytes: 5, modified_unix_ms: 30 }), session('b', { size_bytes: 9, state: 'damaged', modified_unix_ms: 20 }), session('c', { size_bytes: 5, state: 'partial', modified_unix_ms: 40 })];
  it('is that of the server when nothing is said', () => {
    expect(parseSort(null)).toBeNull();
    expect(parseSort('age')).toBeNull();
    expect(parseSort('nonsense')).toBeNull();
    expect(arrange(list, null, '')).toBe(list);
  });
  it('follows the column, and the age where that is alike', () => {
    expect(ids(arrange(list, { field: 'size', descending: true }, ''))).toBe('bca');
    expect(ids(arrange(list, { field: 'size', descending: false }, ''))).toBe('cab');
    expect(ids(arrange(list, { field: 'state', descending: false }, ''))).toBe('bca');
    expect(ids(arrange(list, { field: 'age', descending: true }, ''))).toBe('bac');
  });
  it('filters by state', () => expect(ids(arrange(list, null, 'partial'))).toBe('c'));
  it('is written into the address and read back', () => {
    for (const text of ['size', '-size', '-age', 'state']) expect(sortText(parseSort(text)!)).toBe(text);
    expect(sortText({ field: 'age', descending: false })).toBeNull();
    expect(nextSort({ field: 'age', descending: false }, 'size')).toEqual({ field: 'size', descending: true });
    expect(nextSort({ field: 'size', descending: true }, 'size')).toEqual({ field: 'size', descending: false });
  });
});
