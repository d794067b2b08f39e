import { describe, expect, it } from 'vitest';
import { TextFitter } from './textFit';

const fitter = (): TextFitter => new TextFitter((text) => (text === 'i' ? 3 : 6) * [...text].length);

describe('fitting names into bars', () => {
  it('leaves a name whole when it fits', () => {
    expect(fitter().fit('fusion.3', 47)).toBe('fusion.3');
  });

  it('keeps head and tail of a longer one and never exceeds the width', () => {
    const fit = fitter();
    const name = 'loop_convert_fusion.12';
    for (let width = 0; width < 140; ++width) {
      const text = fit.fit(name, width);
      expect(fit.width(text)).toBeLessThanOrEqual(Math.max(0, width));
      if (text === '' || text === name) continue;
      const [head, tail] = text.split('\u2026');
      expect(name.startsWith(head!)).toBe(true);
      expect(name.endsWith(tail!)).toBe(true);
      expect(head!.length).toBeGreaterThanOrEqual(tail!.length);
    }
    expect(fit.fit(name, 90)).toMatch(/^loop_.*\u2026.*12$/);
  });

  it('says nothing rather than a cut nobody can read', () => {
    expect(fitter().fit('all-reduce.7', 24)).toBe('');
    expect(fitter().fit('abc', 0)).toBe('');
  });

  it('does not break letters beyond the basic plane, and bounds monstrous names', () => {
    const fit = fitter();
    const text = fit.fit('\u{1F680}'.repeat(40), 100);
    expect(text).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    expect(fit.fit('x'.repeat(1_000_000), 1e9).length).toBeLessThanOrEqual(512);
  });
});
