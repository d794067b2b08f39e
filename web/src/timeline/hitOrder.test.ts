import { describe, expect, it } from 'vitest';
import { nextHit } from './hitOrder';

const hits = [10, 20, 30].map((start_ps, i) => ({ event: `0.0.0.${i}`, name: 'all-reduce', start_ps, duration_ps: 1, line: '0.0.0' }));

describe('the next hit', () => {
  it('is the nearest one in the direction', () => {
    expect(nextHit(hits, null, 15, 1)).toEqual({ index: 1, wrapped: false });
    expect(nextHit(hits, null, 15, -1)).toEqual({ index: 0, wrapped: false });
    expect(nextHit(hits, '0.0.0.1', 0, 1)).toEqual({ index: 2, wrapped: false });
    expect(nextHit(hits, '0.0.0.9', 20, 1)).toEqual({ index: 1, wrapped: false });
  });

  it('is the first one after all hits, and the last one before all hits', () => {
    expect(nextHit(hits, null, 46, 1)).toEqual({ index: 0, wrapped: true });
    expect(nextHit(hits, null, 5, -1)).toEqual({ index: 2, wrapped: true });
    expect(nextHit(hits, '0.0.0.2', 0, 1)).toEqual({ index: 0, wrapped: true });
    expect(nextHit(hits, '0.0.0.0', 0, -1)).toEqual({ index: 2, wrapped: true });
  });

  it('is none where there is none', () => expect(nextHit([], null, 0, 1)).toEqual({ index: -1, wrapped: false }));
});
