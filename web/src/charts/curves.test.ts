import { describe, expect, it } from 'vitest';
import { areaOf, type Curve, gapOf, lineOf, nearestIndex, rangeOf } from './curves';

const curve = (x: number[], mean: (number | null)[], fields: Partial<Curve> = {}): Curve => ({ x, mean, min: mean, max: mean, gap: gapOf(x, 1), ...fields });
const same = (value: number) => value;
const everything = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;

describe('gaps', () => {
  it('are none where a job writes every tenth step', () => {
    const line = lineOf(curve([0, 10, 20, 30], [1, 2, 3, 4]), everything, same, same);
    expect(line).toBe('M0.0,1.0L10.0,2.0L20.0,3.0L30.0,4.0');
  });
  it('are where much more is missing than usual', () => {
    const line = lineOf(curve([0, 1, 2, 50, 51], [1, 2, 3, 4, 5]), everything, same, same);
    expect(line).toBe('M0.0,1.0L1.0,2.0L2.0,3.0M50.0,4.0L51.0,5.0');
  });
  it('are where a value is not finite', () => {
    const line = lineOf(curve([0, 1, 2, 3], [1, null, 3, 4]), everything, same, same);
    expect(line).toBe('M-1.5,1.0h3M2.0,3.0L3.0,4.0');
  });
});

it('draws one point beyond the edges and none further', () => {
  const line = lineOf(curve([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]), [1.5, 2.5], same, same);
  expect(line).toBe('M1.0,1.0L2.0,2.0L3.0,3.0');
});

it('draws a band only where points were folded', () => {
  expect(areaOf(curve([0, 1, 2], [1, 2, 3]), everything, same, same)).toBe('');
  expect(areaOf(curve([0, 1], [2, 3], { min: [1, 2], max: [3, 4] }), everything, same, same)).toBe('M0.0,3.0L1.0,4.0L1.0,2.0L0.0,1.0Z');
});

it('reads the nearest point', () => {
  expect(nearestIndex([], 3)).toBe(-1);
  expect(nearestIndex([0, 10, 20], 14)).toBe(1);
  expect(nearestIndex([0, 10, 20], 16)).toBe(2);
  expect(nearestIndex([0, 10, 20], -5)).toBe(0);
  expect(nearestIndex([0, 10, 20], 99)).toBe(2);
});

it('scales to what is in sight', () => {
  const one = curve([0, 1, 2, 3], [100, 2, null, 3]);
  expect(rangeOf([one], [1, 3])).toEqual([2, 3]);
  expect(rangeOf([one], everything)).toEqual([2, 100]);
  expect(rangeOf([], everything)).toEqual([0, 1]);
});
