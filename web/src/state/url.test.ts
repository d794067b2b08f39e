import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { flushUrlWrites, formatTimePs, formatViewport, mergeSearch, parseTimePs, parseViewport, pushKeys, readKey, replaceKeysSoon, restBeforeWriteMs } from './url';

beforeEach(() => {
  vi.useFakeTimers();
  history.replaceState(null, '', '/s/abc/timeline');
});
afterEach(() => {
  flushUrlWrites();
  vi.useRealTimers();
});

describe('times in addresses', () => {
  it.each([
    [12_300_000_000_000, '12.3s'],
    [40_000_000_000, '40ms'],
    [1_500, '1.5ns'],
    [7, '7ps'],
    [0, '0'],
    [-2_000_000, '-2us'],
    [98_123_456_789_012, '98.123456789012s'],
  ])('%d ps is %s and comes back exactly', (ps, text) => {
    expect(formatTimePs(ps)).toBe(text);
    expect(parseTimePs(text)).toBe(ps);
  });
  it('keeps every picosecond of any time a session can have', () => {
    let value = 1;
    for (let i = 0; i < 200; i++) {
      value = (value * 6364136223 + 1442695041) % Number.MAX_SAFE_INTEGER;
      expect(parseTimePs(formatTimePs(value))).toBe(value);
    }
  });
  it('accepts what people type', () => {
    expect(parseTimePs(' 5 µs ')).toBe(5e6);
    expect(parseTimePs('2min')).toBe(120e12);
    expect(parseTimePs('.5ms')).toBe(5e8);
    for (const bad of ['', 's', '1.2.3s', '5 parsecs', '1e3s']) expect(parseTimePs(bad)).toBeNull();
  });
  it('reads and writes a viewport', () => {
    expect(formatViewport({ startPs: 12.3e12, durationPs: 40e9 })).toBe('12.3s,40ms');
    expect(parseViewport('12.3s,40ms')).toEqual({ startPs: 12.3e12, durationPs: 40e9 });
    for (const bad of [null, '', '12.3s', '12.3s,0', '1s,-2s', 'a,b']) expect(parseViewport(bad)).toBeNull();
  });
});

describe('keys in addresses', () => {
  it('keeps unknown keys, removes empty ones, stays readable', () => {
    expect(mergeSearch('?future=1&q=a', { q: null, v: '12.3s,40ms' })).toBe('?future=1&v=12.3s,40ms');
    expect(mergeSearch('?q=a', { q: '' })).toBe('');
    expect(new URLSearchParams(mergeSearch('', { q: 'a&b=c #%/é' })).get('q')).toBe('a&b=c #%/é');
  });
  it('pushes one history entry for a selection', () => {
    const before = history.length;
    pushKeys({ sel: '0.1.2.55' });
    expect(readKey('sel')).toBe('0.1.2.55');
    expect(history.length).toBe(before + 1);
    pushKeys({ sel: '0.1.2.55' });
    expect(history.length).toBe(before + 1);
  });
  it('replaces the entry for a viewport only after a rest', () => {
    const before = history.length;
    replaceKeysSoon({ v: '1s,1s' });
    vi.advanceTimersByTime(restBeforeWriteMs - 50);
    replaceKeysSoon({ v: '2s,1s' });
    vi.advanceTimersByTime(restBeforeWriteMs - 50);
    expect(readKey('v')).toBeNull();
    vi.advanceTimersByTime(60);
    expect(readKey('v')).toBe('2s,1s');
    expect(history.length).toBe(before);
  });
  it('does not write into the next page', () => {
    replaceKeysSoon({ v: '1s,1s' });
    history.pushState(null, '', '/s/abc/overview');
    vi.advanceTimersByTime(restBeforeWriteMs * 2);
    expect(window.location.search).toBe('');
  });
  it('a push writes a waiting viewport first', () => {
    replaceKeysSoon({ v: '3s,1s' });
    pushKeys({ sel: '0.0.0.1' });
    expect(window.location.search).toBe('?v=3s,1s&sel=0.0.0.1');
  });
});
