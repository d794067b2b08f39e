import { describe, expect, it } from 'vitest';
import { FramePace } from './framePace';

function frames(pace: FramePace, clock: { now: number }, after: (() => void)[], count: number, costMs: number): void {
  for (let i = 0; i < count; ++i) {
    pace.began(clock.now);
    clock.now += costMs;
    after.shift()?.();
  }
}

describe('the pace of frames while pieces come', () => {
  it('is theirs where a frame is cheap, and a tenth of a second where many come', () => {
    const clock = { now: 0 };
    const after: (() => void)[] = [];
    const pace = new FramePace((task) => after.push(task), () => clock.now);
    frames(pace, clock, after, 10, 6);
    expect([0, 1, 11, 12, 70].map((pending) => pace.pauseMs(pending))).toEqual([0, 0, 0, 100, 100]);
  });

  it('leaves most of the time to the pieces where a frame is dear, and shows the last at once', () => {
    const clock = { now: 0 };
    const after: (() => void)[] = [];
    const pace = new FramePace((task) => after.push(task), () => clock.now);
    frames(pace, clock, after, 20, 60);
    expect(pace.pauseMs(0)).toBe(0);
    for (const pending of [1, 70]) {
      expect(pace.pauseMs(pending)).toBeGreaterThan(280);
      expect(pace.pauseMs(pending)).toBeLessThanOrEqual(400);
    }
    frames(pace, clock, after, 20, 5000);
    expect(pace.pauseMs(70)).toBe(400);
    frames(pace, clock, after, 30, 5);
    expect(pace.pauseMs(1)).toBe(0);
  });
});
