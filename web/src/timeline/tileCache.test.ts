import { describe, expect, it } from 'vitest';
import { TileCache } from './tileCache';
import { makeTile } from './testTiles';

const tile = makeTile([[[{ startPs: 0, durationPs: 100 }]]], 13, 0);
const address = (index: number) => ({ chunk: '0.0.0', level: 13, index });

describe('the tile cache', () => {
  it('stays below its bound and drops what was used longest ago', () => {
    const probe = new TileCache();
    probe.put(address(0), tile);
    const cache = new TileCache(probe.bytes * 10);
    for (let i = 0; i < 10; ++i) cache.put(address(i), tile);
    expect(cache.size).toBe(10);
    cache.beginFrame();
    cache.use(address(0));
    cache.put(address(10), tile);
    expect(cache.size).toBe(10);
    expect(cache.has(address(0))).toBe(true);
    expect(cache.has(address(1))).toBe(false);
    expect(cache.has(address(10))).toBe(true);
    for (let i = 11; i < 1000; ++i) {
      cache.beginFrame();
      cache.put(address(i), tile);
      expect(cache.bytes).toBeLessThanOrEqual(probe.bytes * 10);
    }
  });

  it('keeps what the current frame draws even beyond the bound, and frees it afterwards', () => {
    const cache = new TileCache(1);
    cache.beginFrame();
    for (let i = 0; i < 5; ++i) cache.put(address(i), tile);
    for (let i = 0; i < 5; ++i) expect(cache.use(address(i))).toBe(tile);
    cache.beginFrame();
    cache.put(address(9), tile);
    expect(cache.size).toBe(1);
  });

  it('counts a replaced tile once and forgets everything when cleared', () => {
    const cache = new TileCache();
    cache.put(address(1), tile);
    const bytes = cache.bytes;
    cache.put(address(1), tile);
    expect(cache.bytes).toBe(bytes);
    cache.clear();
    expect([cache.bytes, cache.size, cache.use(address(1))]).toEqual([0, 0, null]);
  });
});
