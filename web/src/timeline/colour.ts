// What the colour of a bar says: its category, its name, or the device it ran on. All three use the category fills, which
// are told apart by every kind of colour vision.

import type { Tile } from './tile';

export type ColourBy = 'category' | 'name' | 'device';
export const COLOUR_CHOICES: readonly ColourBy[] = ['category', 'name', 'device'];

/** Fills 1 to 8; 0 is the grey of "other". */
const FILLS = 8;

export function colourByFrom(text: string): ColourBy {
  return COLOUR_CHOICES.find((one) => one === text) ?? 'category';
}

/** "fusion.3" and "fusion.17" are kin: the number at the end does not count. */
export function nameColour(name: string): number {
  const stem = name.replace(/[.\d]+$/, '');
  let hash = 2166136261;
  for (let i = 0; i < stem.length; ++i) hash = Math.imul(hash ^ stem.charCodeAt(i), 16777619);
  return 1 + ((hash >>> 0) % FILLS);
}

export class Colours {
  private readonly byTile = new WeakMap<Tile, Uint8Array>();

  of(by: ColourBy, tile: Tile, name: number, category: number, planeOrdinal: number): number {
    if (by === 'category') return category;
    if (by === 'device') return 1 + (planeOrdinal % FILLS);
    let known = this.byTile.get(tile);
    if (known === undefined) {
      known = new Uint8Array(Math.max(1, tile.nameCount));
      this.byTile.set(tile, known);
    }
    if (known[name] === 0) known[name] = nameColour(tile.name(name));
    return known[name]!;
  }
}
