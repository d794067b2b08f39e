// Decoded tiles, least recently used go first. What the last frame drew is never evicted.
//
//   cache.beginFrame(); cache.use(key) ...; cache.put(key, tile);

import { tileKey, type TileAddress } from './tileGrid';
import type { Tile } from './tile';

/** A third of the 300 MB that the whole tab may use; a full screen of dense tiles is about 10 MB. */
export const MAX_TILE_CACHE_BYTES = 96 * 1024 * 1024;
/** Row index, name strings and object headers of a tile, on top of its bytes. */
const TILE_OVERHEAD_BYTES = 4096;

interface Entry {
  readonly tile: Tile;
  readonly bytes: number;
  frame: number;
}

export class TileCache {
  private readonly entries = new Map<string, Entry>(); // in order of last use
  private frame = 0;
  private totalBytes = 0;

  constructor(private readonly maxBytes = MAX_TILE_CACHE_BYTES) {}

  get bytes(): number {
    return this.totalBytes;
  }
  get size(): number {
    return this.entries.size;
  }

  beginFrame(): void {
    ++this.frame;
  }

  has(address: TileAddress): boolean {
    return this.entries.has(tileKey(address));
  }

  /** A tile that is about to be drawn: it becomes the most recent and stays for this frame. */
  use(address: TileAddress): Tile | null {
    const key = tileKey(address);
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    if (entry.frame !== this.frame) {
      entry.frame = this.frame;
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry.tile;
  }

  put(address: TileAddress, tile: Tile): void {
    const key = tileKey(address);
    this.remove(key);
    const bytes = tile.byteLength + tile.rectCount + TILE_OVERHEAD_BYTES;
    this.entries.set(key, { tile, bytes, frame: this.frame });
    this.totalBytes += bytes;
    this.evict();
  }

  clear(): void {
    this.entries.clear();
    this.totalBytes = 0;
  }

  private evict(): void {
    if (this.totalBytes <= this.maxBytes) return;
    for (const [key, entry] of this.entries) {
      if (entry.frame >= this.frame) continue;
      this.remove(key);
      if (this.totalBytes <= this.maxBytes) return;
    }
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.totalBytes -= entry.bytes;
  }
}
