import { describe, expect, it } from 'vitest';
import { CategoryTimes, countedLines } from './categoryTimes';
import { testLine, testPlane } from './testSession';

describe('times by category', () => {
  it('count each moment once, for what runs innermost', () => {
    const times = new CategoryTimes();
    times.beginLine();
    times.beginRow();
    times.add(0, 100, 100, 8);
    times.add(200, 300, 100, 8);
    times.beginRow();
    times.add(10, 40, 30, 1);
    times.add(210, 220, 10, 2);
    times.beginRow();
    times.add(10, 20, 5, 2);
    expect(times.ranked(2)).toEqual([{ category: 8, timePs: 320 }, { category: 1, timePs: 50 }, { category: 2, timePs: 30 }]);
  });

  it('take nothing from another line, nor from a row above that has ended', () => {
    const times = new CategoryTimes();
    for (const category of [1, 2]) {
      times.beginLine();
      times.beginRow();
      times.add(0, 50, 50, category);
    }
    times.beginRow();
    times.add(60, 70, 10, 3);
    expect(times.ranked(1)).toEqual([{ category: 1, timePs: 50 }, { category: 2, timePs: 50 }, { category: 3, timePs: 10 }]);
  });

  it('leave out the lines of a device that repeat its ops', () => {
    const lines = [
      testLine('0.0.0', { kind: 'steps' }), testLine('0.0.1', { kind: 'modules' }), testLine('0.0.2', { kind: 'ops' }), testLine('0.0.3', { kind: 'ops', derived: true }),
    ];
    const device = { ...testPlane('0.0', 0), lines };
    const host = { ...testPlane('0.1', 1), kind: 'host' as const };
    expect([...countedLines([device, host])]).toEqual(['0.0.2', '0.1.0']);
    expect([...countedLines([{ ...device, lines: lines.slice(0, 2) }])]).toEqual(['0.0.1']);
  });
});
