import { describe, expect, it } from 'vitest';
import { placeLabels, placeOver } from './rulerLabels';
import { randomSource } from './testTiles';
import { makeRuler, type Tick } from './ticks';
import { makeView } from './view';

const widthOf = (text: string): number => text.length * 7;
const tick = (x: number, label: string): Tick => ({ ps: 0, x, label });

describe('labels of the ruler', () => {
  it('are wholly inside whatever the view, and never over each other', () => {
    const random = randomSource(17);
    for (let i = 0; i < 500; ++i) {
      const width = 60 + Math.floor(random() * 1600);
      const ruler = makeRuler(makeView(random() * 90e12, 10 ** (3 + random() * 11)), width);
      const right = width - 80;
      let end = 0;
      for (const label of placeLabels(ruler.ticks, right, [], widthOf)) {
        expect(label.x).toBeGreaterThanOrEqual(end);
        end = label.x + widthOf(label.text);
        expect(end).toBeLessThanOrEqual(right);
      }
    }
  });

  it('leave out a tick left of the border', () => {
    expect(placeLabels([tick(-0.4, '10 s'), tick(0.2, '20 s'), tick(96, '30 s')], 400, [], widthOf)).toEqual([{ text: '20 s', x: 5 }, { text: '30 s', x: 101 }]);
  });

  it('leave out what the length of an area or the note of a mark would cut', () => {
    const ticks = [tick(10, '10 s'), tick(110, '20 s'), tick(210, '30 s')];
    expect(placeLabels(ticks, 400, [{ x0: 30, x1: 60 }, { x0: 190, x1: 212 }], widthOf).map((label) => label.text)).toEqual(['20 s']);
  });

  it('of an area stay inside, and are left out where there is no room', () => {
    expect(placeOver(-500, 20, 60, 400)).toEqual({ x0: 0, x1: 60 });
    expect(placeOver(390, 900, 60, 400)).toEqual({ x0: 340, x1: 400 });
    expect(placeOver(100, 200, 60, 400)).toEqual({ x0: 120, x1: 180 });
    expect(placeOver(100, 200, 460, 400)).toBeNull();
    expect(placeOver(500, 600, 60, 400)).toBeNull();
  });
});
