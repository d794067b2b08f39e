import { describe, expect, it } from 'vitest';
import { colourByFrom, nameColour } from './colour';

describe('colours', () => {
  it('are the same for runs of one op, and never the grey of "other"', () => {
    expect(nameColour('fusion.3')).toBe(nameColour('fusion.17'));
    const used = new Set(['dot', 'fusion', 'copy-done', 'all-reduce', 'while', 'infeed', 'sort', 'convert', 'reduce'].map(nameColour));
    expect(used.size).toBeGreaterThan(3);
    expect(Math.min(...used)).toBeGreaterThan(0);
    expect(Math.max(...used)).toBeLessThan(9);
  });

  it('go by category unless the address says otherwise', () => {
    expect(colourByFrom('device')).toBe('device');
    expect(colourByFrom('nonsense')).toBe('category');
  });
});
