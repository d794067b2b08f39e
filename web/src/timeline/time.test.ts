import { describe, expect, it } from 'vitest';
import { randomSource } from './testTiles';
import { formatExactTime, formatTimeAt, parseTime, parseTimeParts } from './time';

describe('exact time', () => {
  it('writes the largest unit and no digit too many', () => {
    expect(formatExactTime(0)).toBe('0ps');
    expect(formatExactTime(999)).toBe('999ps');
    expect(formatExactTime(12_300_000_000_000)).toBe('12.3s');
    expect(formatExactTime(12_300_000_000_001)).toBe('12.300000000001s');
    expect(formatExactTime(40_000_000_000)).toBe('40ms');
    expect(formatExactTime(-1_500_000)).toBe('-1.5us');
    expect(formatExactTime(7, 0.25)).toBe('7.25ps');
  });

  it('reads back every integer it wrote, up to 2.5 hours', () => {
    const random = randomSource(1);
    for (let i = 0; i < 1000; ++i) {
      const ps = Math.floor(random() * 10 ** (random() * 15.9));
      expect(parseTime(formatExactTime(ps))).toBe(ps);
      expect(parseTime(formatExactTime(-ps))).toBe(ps === 0 ? 0 : -ps);
    }
    expect(parseTime(formatExactTime(Number.MAX_SAFE_INTEGER))).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('reads what people write', () => {
    expect(parseTime('12.3 s')).toBe(12_300_000_000_000);
    expect(parseTime('@40ms')).toBe(40_000_000_000);
    expect(parseTime('1,500 µs')).toBe(1_500_000_000);
    expect(parseTime('.5us')).toBe(500_000);
    expect(parseTime('1.5min')).toBe(90e12);
    expect(parseTime('2')).toBe(2e12);
    expect(parseTime('2', 'ps')).toBe(2);
    expect(parseTimeParts('7.25ps')).toEqual({ ps: 7, fractionPs: 0.25 });
  });

  it('refuses what is no time', () => {
    for (const text of ['', '.', 's', '12 parsec', '1.2.3s', '1e3s', 'NaN', '99999999999999s']) expect(parseTime(text), text).toBeNull();
  });
});

describe('time at a resolution', () => {
  it('shows as many digits as the view can tell apart', () => {
    expect(formatTimeAt(12_300_000_000_000, 1e9)).toBe('12.300 s');
    expect(formatTimeAt(12_300_456_789_012, 1e6)).toBe('12.300\u2009456 s');
    expect(formatTimeAt(45_999_999, 1e6)).toBe('45 µs');
    expect(formatTimeAt(0, 1e9)).toBe('0 ms');
  });

  it('cuts instead of rounding up to a time that is not reached', () => {
    expect(formatTimeAt(1_999_999_999_999, 1e9)).toBe('1.999 s');
  });
});
