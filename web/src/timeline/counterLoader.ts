// Fetches the pieces of counters' curves that are in view, a few at a time; pieces that nobody sees any more are given up.
//
//   loader.setCounters(list); loader.want(counters, addresses);      // redraw is called when something came

import { PieceCache } from './counterChart';
import type { CounterInfo, CounterSeries } from './model';
import type { TileAddress } from './tileGrid';

/** Beside the tiles' four: browsers open six connections to a server. */
const MAX_IN_FLIGHT = 2;
/** After a failure the next try waits so long; a lost server is tried again by the page. */
const RETRY_MS = 2000;

export type SeriesSource = (counter: string, fromPs: number, toPs: number, signal: AbortSignal) => Promise<CounterSeries>;

interface Wanted {
  readonly counter: string;
  readonly address: TileAddress;
}

export class CounterLoader {
  readonly cache = new PieceCache();
  private wanted: readonly Wanted[] = [];
  private wantedKeys = new Set<string>();
  private readonly running = new Map<string, AbortController>();
  private readonly failedUntilMs = new Map<string, number>();
  private timer = 0;

  constructor(private readonly source: SeriesSource, private readonly redraw: () => void) {}

  get pending(): number {
    return this.wanted.reduce((sum, one) => sum + (this.cache.has(one.counter, one.address) ? 0 : 1), 0);
  }

  want(counters: readonly CounterInfo[], addresses: readonly TileAddress[]): void {
    this.wanted = counters.flatMap((counter) => addresses.map((address) => ({ counter: counter.id, address })));
    this.wantedKeys = new Set(this.wanted.map((one) => PieceCache.key(one.counter, one.address)));
    this.pump();
  }

  reset(): void {
    this.wanted = [];
    this.wantedKeys.clear();
    window.clearTimeout(this.timer);
    for (const controller of this.running.values()) controller.abort();
    this.running.clear();
    this.failedUntilMs.clear();
    this.cache.clear();
  }

  retry(): void {
    this.failedUntilMs.clear();
    this.pump();
  }

  private pump(): void {
    for (const one of this.wanted) {
      const key = PieceCache.key(one.counter, one.address);
      const rests = (this.failedUntilMs.get(key) ?? 0) > performance.now();
      if (this.running.has(key) || rests || this.cache.has(one.counter, one.address)) continue;
      if (this.running.size >= MAX_IN_FLIGHT && !this.abortUnwanted()) return;
      void this.fetchOne(one, key);
    }
  }

  /** As of tiles: what is under way goes on until its place is needed. */
  private abortUnwanted(): boolean {
    for (const [key, controller] of this.running) {
      if (this.wantedKeys.has(key)) continue;
      this.running.delete(key);
      controller.abort();
      return true;
    }
    return false;
  }

  private async fetchOne({ counter, address }: Wanted, key: string): Promise<void> {
    const controller = new AbortController();
    this.running.set(key, controller);
    const span = 2 ** address.level;
    try {
      const piece = await this.source(counter, address.index * span, (address.index + 1) * span, controller.signal);
      if (!controller.signal.aborted) this.cache.put(counter, address, piece);
    } catch {
      if (!controller.signal.aborted) {
        this.failedUntilMs.set(key, performance.now() + RETRY_MS);
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.pump(), RETRY_MS + 20);
      }
    }
    if (this.running.get(key) !== controller) return;
    this.running.delete(key);
    this.redraw();
    this.pump();
  }
}
