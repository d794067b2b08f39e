import { describe, expect, it } from 'vitest';
import type { EventStat } from './model';
import { nameMatcher } from './searchMark';
import { formatStat } from './statValue';

const stat = (changes: Partial<EventStat>): EventStat => ({ name: 'x', value: 1, type: 'uint64', unit: null, origin: 'event', ...changes });

describe('stats as text', () => {
  it('carry their unit', () => {
    expect(formatStat(stat({ value: 5_368_709_120, unit: 'B' })).text).toBe('5.00 GiB');
    expect(formatStat(stat({ value: '5368709120', unit: 'B' })).text).toBe('5.00 GiB');
    expect(formatStat(stat({ value: 59_100, unit: 'ns' })).text).toBe('59.1 µs');
    expect(formatStat(stat({ value: 5_368_709_120, unit: 'B' })).exact).toBe('5368709120 B');
  });

  it('keep every digit of a number without a unit', () => {
    expect(formatStat(stat({ value: '18446744073709551615' })).text).toBe('18446744073709551615');
    expect(formatStat(stat({ value: -7, type: 'int64' })).text).toBe('-7');
  });

  it('say what is unknown, cut off or binary', () => {
    expect(formatStat(stat({ value: null })).text).toBe('\u2013');
    expect(formatStat(stat({ value: 'abc', type: 'string', truncated: true })).text).toContain('cut off');
    expect(formatStat(stat({ value: { size_bytes: 3, hex: '0a0b0c' }, type: 'bytes' })).text).toBe('3 B: 0a0b0c');
    expect(formatStat(stat({ value: '123', type: 'string', unit: 'B' })).text).toBe('123');
  });
});

describe('names a search means', () => {
  it('are found by substring in any case, or by expression', () => {
    expect(nameMatcher('FUS')!('loop_fusion')).toBe(true);
    expect(nameMatcher('/^fus.*3$/')!('fusion.3')).toBe(true);
    expect(nameMatcher('/^fus.*3$/')!('fusion.31')).toBe(false);
    expect(nameMatcher('a.c')!('abc')).toBe(false);
  });

  it('are none for an empty or broken query', () => {
    expect(nameMatcher('')).toBeNull();
    expect(nameMatcher('/(/')).toBeNull();
  });
});
