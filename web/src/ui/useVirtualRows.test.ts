import { expect, it } from 'vitest';
import { rowHeightPx, rowsInSight } from './useVirtualRows';

it('draws a short list whole', () => expect(rowsInSight(60, 0, 700)).toEqual({ first: 0, last: 60 }));

it('draws what is in sight, and some around it', () => {
  const height = 700;
  for (const at of [0, 5, 4_000, 9_990]) {
    const { first, last } = rowsInSight(10_000, at * rowHeightPx, height);
    expect(first).toBeLessThanOrEqual(Math.max(0, at - 1));
    expect(last).toBeGreaterThanOrEqual(Math.min(10_000, at + height / rowHeightPx));
    expect(last - first).toBeLessThan(90);
  }
});

it('changes nothing within a few rows', () => {
  expect(rowsInSight(10_000, 4_008 * rowHeightPx, 700)).toEqual(rowsInSight(10_000, 4_010 * rowHeightPx, 700));
});
