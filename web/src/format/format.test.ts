import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  byteUnit, exactBytes, exactCount, exactTime, formatAge, formatBandwidth, formatBytes, formatCount, formatOrigin, formatRate, formatShare, formatTime,
  formatTimeDelta, inUnit, middleEllipsis, nounFor, plural, sessionLabel, significant, timeParts, timeUnit, unknown,
} from './format';

describe('time', () => {
  it.each([
    [1, '1.00 ps'],
    [999, '999 ps'],
    [1000, '1.00 ns'],
    [59_100_000, '59.1 µs'],
    [412_600_000_000, '413 ms'],
    [999_400_000_000, '999 ms'],
    [999_960_000_000, '1.00 s'],
    [12_300_000_000_000, '12.3 s'],
    [98_123_456_789_012, '98.1 s'],
    [180e12, '3.00 min'],
    [2.5 * 3600e12, '2.50 h'],
    [-3_000_000, '\u22123.00 µs'],
  ])('%d ps is %s', (ps, text) => expect(formatTime(ps)).toBe(text));
  it('tells zero from unknown', () => {
    expect(formatTime(0)).toBe('0 s');
    expect(formatTime(null)).toBe(unknown);
    expect(formatTime(Number.NaN)).toBe(unknown);
    expect(formatTime(Infinity)).toBe(unknown);
  });
  it('never writes an exponent', () => {
    for (let e = 0; e <= 19; e++) expect(formatTime(1.234 * 10 ** e)).not.toMatch(/e/i);
  });
  it('gives the exact value for the tooltip', () => expect(exactTime(412_600_000_000)).toBe('412,600,000,000 ps'));
  it('takes a number and its unit apart', () => expect(timeParts(9_020_000_000)).toEqual({ value: '9.02', unit: 'ms' }));
});

describe('columns with one unit', () => {
  const unit = timeUnit(181_000_000_000);
  it('takes the unit from the maximum', () => expect(unit.name).toBe('ms'));
  it.each([
    [181_000_000_000, '181'],
    [9_590_000_000, '9.59'],
    [410_000_000, '0.410'],
    [9_400_000, '0.009'],
    [400_000, '<0.001'],
    [0, '0'],
    [null, unknown],
  ])('%d is %s', (ps, text) => expect(inUnit(ps, unit)).toBe(text));
});

describe('significant', () => {
  it.each([
    [0.001234, '0.00123'],
    [1, '1.00'],
    [9.999, '10.0'],
    [99.96, '100'],
    [999.4, '999'],
    [999.6, '1,000'],
    [1234.5, '1,235'],
  ])('%d is %s', (value, text) => expect(significant(value)).toBe(text));
});

describe('bytes, counts, rates, shares', () => {
  it.each([
    [0, '0 B'],
    [512, '512 B'],
    [1024, '1.00 KiB'],
    [862_707, '842 KiB'],
    [20 * 1024 ** 3, '20.0 GiB'],
  ])('%d B is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
  it('keeps the exact bytes', () => expect(exactBytes(862_707)).toBe('862,707 B'));
  it('has one unit for a column of bytes', () => expect(byteUnit(1_032_114).name).toBe('KiB'));
  it.each([
    [2304, '2,304'],
    [999_999, '999,999'],
    [1_240_000, '1.24 M'],
    [3_500_000_000, '3.50 G'],
    [0, '0'],
    [null, unknown],
  ])('count %d is %s', (count, text) => expect(formatCount(count)).toBe(text));
  it('does not lose digits of an exact count', () => expect(exactCount(9_007_199_254_740_991)).toBe('9,007,199,254,740,991'));
  it('writes bandwidth and rates in decimal units', () => {
    expect(formatBandwidth(1.6e12)).toBe('1.60 TB/s');
    expect(formatRate(918e12)).toBe('918 TFLOP/s');
  });
  it.each([
    [0.557, '55.7 %'],
    [0.0004, '<0.1 %'],
    [0, '0 %'],
    [1, '100.0 %'],
    [null, unknown],
  ])('share %d is %s', (share, text) => expect(formatShare(share)).toBe(text));
  it('says which way a difference goes', () => {
    expect(formatTimeDelta(412.6e9, 400.2e9)).toEqual({ text: '+12.4 ms (3.1 %) worse', direction: 'worse' });
    expect(formatTimeDelta(5e9, 5e9).direction).toBe('same');
    expect(formatTimeDelta(4e9, 5e9).direction).toBe('better');
  });
});

describe('clock and names', () => {
  it.each([
    [500, 'now'],
    [12_000, '12 s'],
    [12 * 60_000, '12 min'],
    [26 * 3_600_000, '1 d'],
    [-5000, 'now'],
  ])('an age of %d ms is %s', (age, text) => expect(formatAge(1_000_000_000_000 - age, 1_000_000_000_000)).toBe(text));
  it('reads an origin that does not fit a double', () => expect(formatOrigin('1748736000123456789')).toMatch(/^2025-0[56]-\d\d \d\d:\d\d:\d\d\.123$/));
  it('refuses an origin that is no number', () => expect(formatOrigin('soon')).toBe(unknown));
  it("reads JAX's session names as a time", () => {
    expect(sessionLabel('2026_11_29_14_31_00')).toBe('2026-11-29 14:31:00');
    expect(sessionLabel('2026_11_29_23_35_58_580_c5e3')).toBe('2026-11-29 23:35:58.580');
    expect(sessionLabel('before_fix')).toBe('before_fix');
  });
  it('keeps head and tail of a long name', () => {
    expect(middleEllipsis('fusion.3', 20)).toBe('fusion.3');
    const cut = middleEllipsis('loop_multiply_subtract_fusion.1234', 20);
    expect([...cut]).toHaveLength(20);
    expect(cut).toMatch(/^loop_.*\u2026.*n\.1234$/);
  });
  it('counts in words', () => {
    expect(plural(1, 'step')).toBe('1 step');
    expect(plural(2, 'entry', 'entries')).toBe('2 entries');
    expect(plural(1234, 'event')).toBe('1,234 events');
    expect(plural(null, 'event')).toBe('\u2013 events');
    expect([nounFor(0, 'name'), nounFor(1, 'name')]).toEqual(['names', 'name']);
  });
  it('nowhere is a count written beside a noun that is always of many', () => {
    const many = /(?:(?:formatCount|exactCount)\([^{}]*\)|\.length|[cC]ount)\}(?:<\/b>)? (?:events|rows|hosts|lines|names|sessions|runs|steps|devices|records|instructions|occurrences|files|hits|ops|planes|programs)\b/;
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !/\.test\.|tile\.ts$/.test(name));
    expect(files.length).toBeGreaterThan(200);
    const found = files.flatMap((name) => readFileSync(`src/${name}`, 'utf8').split('\n').filter((line) => many.test(line)).map((line) => `${name}: ${line.trim()}`));
    expect(found).toEqual([]);
  });
});
