import { describe, expect, it } from 'vitest';
import { randomSource } from './testTiles';
import {
  MIN_DURATION_PS, clampView, fitSpan, fullView, makeView, mixViews, panBy, revealSpan, timeToX, viewEndPs, viewFromText, viewToText, xToTime,
  zoomAt, type View,
} from './view';

const TRACE = { startPs: 0, endPs: 98_123_456_789_012 };
const WIDTH = 1400;

/** Time under a pixel relative to a reference, in exact integers plus a small fraction. */
function under(view: View, x: number, referencePs: number): number {
  return view.startPs - referencePs + (view.fractionPs + (x / WIDTH) * view.durationPs);
}

describe('zoom at the pointer', () => {
  it('keeps the time under the pointer from 98 s to 1 ns and back', () => {
    const random = randomSource(7);
    for (let round = 0; round < 20; ++round) {
      let view = fullView(TRACE);
      const x = 100 + random() * (WIDTH - 200);
      const reference = xToTime(view, WIDTH, x);
      let before = under(view, x, reference);
      while (view.durationPs > MIN_DURATION_PS) {
        view = zoomAt(view, TRACE, x, WIDTH, 0.3 + random() * 0.6);
        const after = under(view, x, reference);
        // A hundredth of a pixel of the new view.
        expect(Math.abs(after - before)).toBeLessThanOrEqual(Math.max(1e-3, (view.durationPs / WIDTH) * 0.01));
        before = after;
      }
      expect(view.durationPs).toBe(MIN_DURATION_PS);
      for (let i = 0; i < 400 && view.durationPs < 1e12; ++i) {
        view = zoomAt(view, TRACE, x, WIDTH, 1.1 + random());
        if (view.durationPs >= 1e12) break;
        expect(Math.abs(under(view, x, reference) - before)).toBeLessThanOrEqual(Math.max(1e-3, (view.durationPs / WIDTH) * 0.01));
        before = under(view, x, reference);
      }
    }
  });

  it('has whole picoseconds a pixel apart where they belong at 1 ns, 98 s into the trace', () => {
    const view = clampView(makeView(98_000_000_000_123, 1000), TRACE);
    for (let ps = 0; ps < 1000; ++ps) {
      expect(timeToX(view, 1000, 98_000_000_000_123 + ps)).toBeCloseTo(ps, 9);
    }
  });

  it('never leaves the trace and never becomes wider than it', () => {
    const random = randomSource(3);
    let view = fullView(TRACE);
    for (let i = 0; i < 500; ++i) {
      view = random() < 0.5 ? zoomAt(view, TRACE, random() * WIDTH, WIDTH, 0.2 + random() * 2.5) : panBy(view, TRACE, (random() - 0.5) * 3000, WIDTH);
      const room = Math.ceil(view.durationPs * 0.02) + 1;
      expect(Number.isInteger(view.startPs)).toBe(true);
      expect(view.fractionPs).toBeGreaterThanOrEqual(0);
      expect(view.fractionPs).toBeLessThan(1);
      expect(view.durationPs).toBeGreaterThanOrEqual(MIN_DURATION_PS);
      expect(view.startPs).toBeGreaterThanOrEqual(TRACE.startPs - room);
      expect(viewEndPs(view)).toBeLessThanOrEqual(TRACE.endPs + room);
    }
  });
});

describe('pan', () => {
  it('is undone by panning back, to a thousandth of a pixel, at any zoom', () => {
    for (const duration of [1000, 12_345, 1e6, 1e9, 1e12]) {
      const view = clampView(makeView(50_000_000_000_007, duration), TRACE);
      let moved = view;
      for (let i = 0; i < 100; ++i) moved = panBy(moved, TRACE, 3.7, WIDTH);
      for (let i = 0; i < 100; ++i) moved = panBy(moved, TRACE, -3.7, WIDTH);
      expect(Math.abs(timeToX(moved, WIDTH, view.startPs) - timeToX(view, WIDTH, view.startPs))).toBeLessThan(1e-3);
    }
  });

  it('stops at both ends', () => {
    const view = clampView(makeView(1e12, 1e12), TRACE);
    const left = panBy(view, TRACE, -1e7, WIDTH);
    expect(left.startPs).toBe(-2e10);
    expect(panBy(left, TRACE, -1e7, WIDTH)).toEqual(left);
    const right = panBy(view, TRACE, 1e9, WIDTH);
    expect(viewEndPs(right)).toBe(TRACE.endPs + 2e10);
  });
});

describe('fitting', () => {
  it('shows a span with room at both sides', () => {
    const view = fitSpan({ startPs: 5e12, endPs: 6e12 }, TRACE);
    expect(timeToX(view, WIDTH, 5e12)).toBeCloseTo(WIDTH / 12, 3);
    expect(timeToX(view, WIDTH, 6e12)).toBeCloseTo((WIDTH * 11) / 12, 3);
  });

  it('gives an event of no duration a nanosecond', () => {
    const view = fitSpan({ startPs: 5e12, endPs: 5e12 }, TRACE);
    expect(view.durationPs).toBe(MIN_DURATION_PS);
    expect(timeToX(view, WIDTH, 5e12)).toBeCloseTo(WIDTH / 2, 3);
  });

  it('reveals without moving when the span is in sight already', () => {
    const view = clampView(makeView(1e12, 1e12), TRACE);
    expect(revealSpan(view, { startPs: 1.2e12, endPs: 1.3e12 }, TRACE)).toBe(view);
    const far = revealSpan(view, { startPs: 50e12, endPs: 50e12 + 10 }, TRACE);
    expect(far.durationPs).toBe(1e12);
    expect(timeToX(far, WIDTH, 50e12)).toBeCloseTo(WIDTH / 2, 1);
  });
});

describe('glides', () => {
  it('keep the fixed point of a zoom fixed at every step', () => {
    const from = clampView(makeView(40e12, 2e9), TRACE);
    const x = 333;
    const to = zoomAt(from, TRACE, x, WIDTH, 1 / 3);
    const at = under(from, x, from.startPs);
    for (let share = 0; share <= 1; share += 0.05) {
      const step = mixViews(from, to, share);
      expect(Math.abs(under(step, x, from.startPs) - at)).toBeLessThan((step.durationPs / WIDTH) * 0.01);
    }
    expect(mixViews(from, to, 1)).toBe(to);
  });
});

describe('the address', () => {
  it('gives the same view again within a hundredth of a pixel', () => {
    const random = randomSource(11);
    for (let i = 0; i < 300; ++i) {
      const duration = Math.floor(10 ** (3 + random() * 10));
      const view = clampView(makeView(random() * 97e12, duration), TRACE);
      const again = viewFromText(viewToText(view))!;
      for (const x of [0, 700, 1400]) {
        const ps = xToTime(view, WIDTH, x);
        expect(Math.abs(timeToX(again, WIDTH, ps) - timeToX(view, WIDTH, ps))).toBeLessThan(0.01);
      }
    }
  });

  it('is short for round views and refuses nonsense', () => {
    expect(viewToText(makeView(12_300_000_000_000, 40e9))).toBe('12.3s,40ms');
    expect(viewFromText('0,98s')).toEqual({ startPs: 0, fractionPs: 0, durationPs: 98e12 });
    for (const text of ['', '12s', '12s,', '12s,0ms', '12s,-3ms', 'a,b', '1s,2s,3s']) expect(viewFromText(text), text).toBeNull();
  });
});
