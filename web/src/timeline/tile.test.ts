import { describe, expect, it } from 'vitest';
import { TileFormatError, decodeTile, FLAG_BEGINS_BEFORE, FLAG_ENDS_AFTER, FLAG_MERGED } from './tile';
import { encodeTile, makeTile, randomSource, type TestEvent } from './testTiles';

const LINES = [
  [
    [{ startPs: 0, durationPs: 5000, name: 'fusion.3', category: 2 }, { startPs: 6000, durationPs: 100, name: 'dot é', category: 1 }],
    [{ startPs: 100, durationPs: 3000, name: 'inner', category: 4 }],
  ],
  [[]],
  [[{ startPs: 1_000, durationPs: 2_000_000, name: 'long', category: 6 }]],
];

describe('a tile', () => {
  it('gives back lines, rows, times, names and categories', () => {
    const tile = makeTile(LINES, 13, 0);
    expect([tile.level, tile.index, tile.lineCount, tile.rectCount]).toEqual([13, 0, 3, 4]);
    expect(tile.slotOfLine(2)).toBe(2);
    expect(tile.slotOfLine(9)).toBe(-1);
    expect(tile.rowCount(0)).toBe(2);
    expect([tile.rowBegin(0, 0), tile.rowEnd(0, 0), tile.rowBegin(0, 1), tile.rowEnd(0, 1)]).toEqual([0, 2, 2, 3]);
    expect([tile.rowBegin(1, 0), tile.rowEnd(1, 0), tile.rowBegin(0, 7), tile.rowEnd(0, 7)]).toEqual([3, 3, 3, 3]);
    expect([tile.startOf(1), tile.endOf(1)]).toEqual([6000, 6100]);
    expect(tile.name(tile.nameIndex(1))).toBe('dot é');
    expect(tile.category(tile.nameIndex(1))).toBe(1);
    expect(tile.flags(3)).toBe(FLAG_ENDS_AFTER);
    expect(tile.endOf(3)).toBe(8192);
    expect(tile.event(2)).toBe(2);
    expect(tile.fill(0)).toBe(255);
  });

  it('is exact in picoseconds up to level 31 and within a unit above, far from the origin', () => {
    const start = 98_000_000_000_123;
    for (const level of [20, 31, 36, 47]) {
      const index = Math.floor(start / 2 ** level);
      const tile = makeTile([[[{ startPs: start, durationPs: 1_234_567 }]]], level, index);
      const unit = level > 31 ? 2 ** (level - 31) : 1;
      expect(start - tile.startOf(0)).toBeGreaterThanOrEqual(0);
      expect(start - tile.startOf(0)).toBeLessThan(unit);
      if ((index + 1) * 2 ** level > start + 1_234_567) expect(tile.endOf(0) - start - 1_234_567).toBeLessThan(unit);
      if (level > 21) expect(tile.endOf(0)).toBeGreaterThanOrEqual(start + 1_234_567);
    }
  });

  it('marks what goes on in the neighbours', () => {
    const middle = makeTile([[[{ startPs: 0, durationPs: 3 * 8192 }]]], 13, 1);
    expect(middle.flags(0)).toBe(FLAG_BEGINS_BEFORE | FLAG_ENDS_AFTER);
    expect([middle.startOf(0), middle.endOf(0)]).toEqual([8192, 16384]);
  });

  it('keeps every event: merged rectangles count what they stand for', () => {
    const random = randomSource(2);
    const events: TestEvent[] = [];
    let at = 0;
    for (let i = 0; i < 4000; ++i) {
      const durationPs = Math.floor(random() * 30);
      events.push({ startPs: at, durationPs, name: `op.${i % 50}` });
      at += durationPs + Math.floor(random() * 40);
    }
    const tile = makeTile([[events]], 20, 0);
    let counted = 0;
    let merged = 0;
    for (let i = 0; i < tile.rectCount; ++i) {
      counted += tile.eventCount(i);
      if ((tile.flags(i) & FLAG_MERGED) !== 0) ++merged;
    }
    expect(counted).toBe(4000);
    expect(merged).toBeGreaterThan(50);
    expect(tile.rectCount).toBeLessThan(1024);
  });

  it('finds the first rectangle that ends after a position', () => {
    const events = Array.from({ length: 100 }, (_, i) => ({ startPs: i * 100, durationPs: 60 }));
    const tile = makeTile([[events]], 14, 0);
    for (const units of [0, 59, 60, 61, 99, 100, 5_000, 9_959, 9_960, 16_000]) {
      const found = tile.firstEndingAfter(0, 0, units);
      const expected = events.findIndex((event) => event.startPs + 60 > units);
      expect(found).toBe(expected < 0 ? 100 : expected);
    }
  });
});

describe('a damaged tile', () => {
  const whole = encodeTile(LINES, 13, 0);
  const changed = (at: number, write: (view: DataView) => void): (() => unknown) => {
    const copy = whole.slice(0);
    write(new DataView(copy));
    expect(at).toBeLessThan(copy.byteLength);
    return () => decodeTile(copy);
  };

  it('is refused with what is wrong, cut at any byte', () => {
    for (let length = 0; length < whole.byteLength; ++length) {
      expect(() => decodeTile(whole.slice(0, length)), `${length} bytes`).toThrow(TileFormatError);
    }
    expect(() => decodeTile(whole)).not.toThrow();
  });

  it('is refused when the header lies', () => {
    expect(changed(0, (view) => view.setUint8(0, 0x58))).toThrow(/STL1/);
    expect(changed(4, (view) => view.setUint8(4, 2))).toThrow(/version 2/);
    expect(changed(5, (view) => view.setUint8(5, 9))).toThrow(/level 9/);
    expect(changed(6, (view) => view.setUint16(6, 65, true))).toThrow(/65 lines/);
    expect(changed(16, (view) => view.setUint32(16, 0xffffffff, true))).toThrow(/rectangles/);
    expect(changed(28, (view) => view.setUint32(28, 5, true))).toThrow(/merged/);
    expect(changed(40, (view) => view.setUint32(40, 1, true))).toThrow(/line 0/);
  });

  it('is refused when a name points outside', () => {
    const at = whole.byteLength - 8 * 4 - new TextEncoder().encode('fusion.3dot éinnerlong').length;
    expect(changed(at, (view) => view.setUint32(at, 1_000_000, true))).toThrow(/name 0/);
  });
});
