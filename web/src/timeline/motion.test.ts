import { describe, expect, it } from 'vitest';
import { ViewMotion } from './motion';
import { makeView, sameView } from './view';

const TRACE = { startPs: 0, endPs: 98e12 };
const FRAME_MS = 1000 / 60;

function run(motion: ViewMotion, fromMs: number, ms: number): number {
  let now = fromMs;
  while (now < fromMs + ms) {
    now += FRAME_MS;
    motion.step(now);
  }
  return now;
}

const make = (reduced = false): ViewMotion => new ViewMotion(TRACE, () => 1400, () => 700, reduced);

describe('moving the view', () => {
  it('glides to a step after a tap and then rests', () => {
    const motion = make();
    const before = motion.view.durationPs;
    motion.press('zoom_in', false, 0);
    motion.release('zoom_in');
    expect(motion.moving).toBe(true);
    run(motion, 0, 300);
    expect(motion.moving).toBe(false);
    expect(motion.view.durationPs).toBe(Math.round(before / 1.5));
  });

  it('adds up taps that come faster than a glide', () => {
    const motion = make();
    const before = motion.view.durationPs;
    for (let i = 0; i < 4; ++i) {
      motion.press('zoom_in', false, i * 30);
      motion.release('zoom_in');
      motion.step(i * 30 + 10);
    }
    run(motion, 100, 300);
    expect(motion.view.durationPs / before).toBeCloseTo(1.5 ** -4, 6);
  });

  it('moves steadily while a key is held and stops when it is released', () => {
    const motion = make();
    motion.jump(makeView(40e12, 1e9));
    const start = motion.view.startPs;
    motion.press('pan_right', false, 0);
    let now = run(motion, 0, 500);
    const middle = motion.view.startPs;
    expect(middle).toBeGreaterThan(start + 0.2e9);
    now = run(motion, now, 500);
    expect(motion.view.startPs).toBeGreaterThan(middle + 0.3e9);
    motion.release('pan_right');
    const rest = motion.view;
    run(motion, now, 200);
    expect(sameView(motion.view, rest)).toBe(true);
    expect(motion.moving).toBe(false);
  });

  it('moves faster with Shift', () => {
    const slow = make();
    const fast = make();
    for (const motion of [slow, fast]) motion.jump(makeView(40e12, 1e9));
    slow.press('pan_right', false, 0);
    fast.press('pan_right', true, 0);
    run(slow, 0, 600);
    run(fast, 0, 600);
    expect(fast.view.startPs - 40e12).toBeGreaterThan(2 * (slow.view.startPs - 40e12));
  });

  it('jumps at once where motion is not wanted', () => {
    const motion = make(true);
    motion.press('zoom_in', false, 0);
    motion.release('zoom_in');
    expect(motion.moving).toBe(false);
  });

  it('follows a trace that grows without leaving its view', () => {
    const motion = make();
    motion.jump(makeView(40e12, 1e9));
    const view = motion.view;
    motion.setWindow({ startPs: 0, endPs: 200e12 });
    expect(sameView(motion.view, view)).toBe(true);
  });
});
