import { describe, expect, it } from 'vitest';
import { randomSource } from './testTiles';
import { makeRuler, roundStep } from './ticks';
import { makeView, panBy } from './view';

const TRACE = { startPs: 0, endPs: 98e12 };

describe('round steps', () => {
  it('are 1, 2, 5 times a power of ten, and minutes from a minute on', () => {
    expect(roundStep(1)).toBe(1);
    expect(roundStep(3)).toBe(5);
    expect(roundStep(6e9)).toBe(1e10);
    expect(roundStep(2e12)).toBe(2e12);
    expect(roundStep(51e12)).toBe(60e12);
    expect(roundStep(100e12)).toBe(120e12);
    expect(roundStep(7200e12)).toBe(7200e12);
  });
});

describe('rulers', () => {
  it('stay readable at every zoom: whole picoseconds, never closer than the label gap, never none', () => {
    const random = randomSource(5);
    for (let i = 0; i < 300; ++i) {
      const view = makeView(random() * 90e12, 10 ** (3 + random() * 11));
      const ruler = makeRuler(view, 1400);
      const named = ruler.ticks.filter((tick) => tick.label !== '');
      expect(named.length).toBeGreaterThanOrEqual(2);
      expect(named.length).toBeLessThanOrEqual(18);
      const gaps = named.slice(1).map((tick, k) => tick.x - named[k]!.x);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(91);
      expect(ruler.ticks.every((tick) => Number.isInteger(tick.ps))).toBe(true);
      expect(new Set(named.map((tick) => tick.label)).size).toBe(named.length);
    }
  });

  it('are absolute near zero and relative to a round anchor far from it', () => {
    const near = makeRuler(makeView(0, 98e12), 1400);
    expect(near.anchorPs).toBe(0);
    expect(near.ticks.filter((tick) => tick.label !== '' && tick.x >= 0)[1]!.label).toBe('10 s');
    const far = makeRuler(makeView(12_304_512_000_000, 40e6), 1400);
    expect(far.anchorPs).toBe(12_304_500_000_000);
    expect(far.ticks.find((tick) => tick.ps === 12_304_515_000_000)!.label).toBe('+15 µs');
  });

  it('keeps names and moves marks while panning a little', () => {
    const view = makeView(12_304_512_000_000, 40e6);
    const before = makeRuler(view, 1400);
    const after = makeRuler(panBy(view, TRACE, 20, 1400), 1400);
    const names = new Map(before.ticks.map((tick) => [tick.ps, tick.label]));
    for (const tick of after.ticks) if (names.has(tick.ps)) expect(tick.label).toBe(names.get(tick.ps));
  });
});
