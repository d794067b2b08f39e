// Fetches the tiles that are wanted now. What is under way and no longer wanted goes on until its place is needed: a view that comes
// back finds it instead of asking for it again.
//
//   loader.want([visible..., root..., neighbours...]);    // in order of importance
//
// Limits: MAX_REQUESTS_IN_FLIGHT at once; a tile that fails is tried MAX_ATTEMPTS times with growing pauses, then
// counted in `failed` until retryFailed() or a new version.

import { decodeTile, type Tile } from './tile';
import { tileKey, type TileAddress } from './tileGrid';

/** Browsers open six connections to an HTTP/1.1 origin; two stay free for details and search. */
export const MAX_REQUESTS_IN_FLIGHT = 4;
export const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
/** Names of tiles that failed for good; past this the oldest are tried again. */
const MAX_FAILED = 4096;

export class VersionChangedError extends Error {
  constructor() {
    super('The session changed on disk.');
    this.name = 'VersionChangedError';
  }
}

export interface TileSource {
  /** Resolves with the bytes of a tile; rejects with VersionChangedError when the session is another by now. */
  fetchTile(address: TileAddress, signal: AbortSignal): Promise<ArrayBuffer>;
}

export interface TileLoaderEvents {
  onTile(address: TileAddress, tile: Tile): void;
  onVersionChanged(): void;
  /** The number of running, waiting or failed tiles may have changed. */
  onProgress(): void;
}

export interface Timers {
  set(callback: () => void, delayMs: number): number;
  clear(id: number): void;
}

const REAL_TIMERS: Timers = {
  set: (callback, delayMs) => window.setTimeout(callback, delayMs),
  clear: (id) => window.clearTimeout(id),
};

interface Failure {
  attempts: number;
  message: string;
  timer: number | null;
}

export class TileLoader {
  private wanted: readonly TileAddress[] = [];
  private wantedKeys = new Set<string>();
  private readonly running = new Map<string, AbortController>();
  private readonly failures = new Map<string, Failure>();
  private generation = 0;

  constructor(
    private readonly source: TileSource,
    private readonly isLoaded: (address: TileAddress) => boolean,
    private readonly events: TileLoaderEvents,
    private readonly timers: Timers = REAL_TIMERS,
  ) {}

  /** Wanted tiles that are neither here nor given up. */
  get pending(): number {
    let count = 0;
    for (const address of this.wanted) if (!this.isLoaded(address) && !this.isFailed(tileKey(address))) ++count;
    return count;
  }
  get failed(): number {
    let count = 0;
    for (const key of this.wantedKeys) if (this.isFailed(key)) ++count;
    return count;
  }
  get lastError(): string {
    let message = '';
    for (const [key, failure] of this.failures) if (this.wantedKeys.has(key) && failure.message !== '') message = failure.message;
    return message;
  }

  want(addresses: readonly TileAddress[]): void {
    this.wanted = addresses;
    this.wantedKeys = new Set(addresses.map(tileKey));
    this.pump();
  }

  /** Tries what was given up once more; what is still being tried keeps its pauses. */
  retryFailed(): void {
    for (const [key, failure] of this.failures) if (failure.attempts >= MAX_ATTEMPTS) this.failures.delete(key);
    this.pump();
  }

  /** Another version of the session: nothing asked for before is of use. */
  reset(): void {
    ++this.generation;
    for (const controller of this.running.values()) controller.abort();
    this.running.clear();
    this.forgetFailures();
    this.wanted = [];
    this.wantedKeys.clear();
  }

  private forgetFailures(): void {
    for (const failure of this.failures.values()) if (failure.timer !== null) this.timers.clear(failure.timer);
    this.failures.clear();
  }

  private isFailed(key: string): boolean {
    const failure = this.failures.get(key);
    return failure !== undefined && failure.attempts >= MAX_ATTEMPTS;
  }

  private pump(): void {
    for (const address of this.wanted) {
      const key = tileKey(address);
      const failure = this.failures.get(key);
      const resting = failure !== undefined && (failure.timer !== null || failure.attempts >= MAX_ATTEMPTS);
      if (this.running.has(key) || resting || this.isLoaded(address)) continue;
      if (this.running.size >= MAX_REQUESTS_IN_FLIGHT && !this.abortUnwanted()) break;
      void this.fetchOne(address, key);
    }
    this.events.onProgress();
  }

  /** Frees the place of the oldest request that nobody wants any more; false when all are wanted. */
  private abortUnwanted(): boolean {
    for (const [key, controller] of this.running) {
      if (this.wantedKeys.has(key)) continue;
      this.running.delete(key);
      controller.abort();
      return true;
    }
    return false;
  }

  private async fetchOne(address: TileAddress, key: string): Promise<void> {
    const generation = this.generation;
    const controller = new AbortController();
    this.running.set(key, controller);
    try {
      const tile = decodeTile(await this.source.fetchTile(address, controller.signal));
      if (generation !== this.generation || controller.signal.aborted) return;
      this.finish(key, controller);
      this.failures.delete(key);
      this.events.onTile(address, tile);
    } catch (error) {
      if (generation !== this.generation || controller.signal.aborted) return;
      this.finish(key, controller);
      if (error instanceof VersionChangedError) {
        this.events.onVersionChanged();
        return;
      }
      this.noteFailure(key, error instanceof Error ? error.message : String(error));
    }
    this.pump();
  }

  private finish(key: string, controller: AbortController): void {
    if (this.running.get(key) === controller) this.running.delete(key);
  }

  private noteFailure(key: string, message: string): void {
    const attempts = (this.failures.get(key)?.attempts ?? 0) + 1;
    const failure: Failure = { attempts, message, timer: null };
    this.failures.set(key, failure);
    if (this.failures.size > MAX_FAILED) this.failures.delete(this.failures.keys().next().value!);
    if (attempts >= MAX_ATTEMPTS) return;
    failure.timer = this.timers.set(() => {
      failure.timer = null;
      this.pump();
    }, FIRST_PAUSE_MS * 2 ** (attempts - 1));
  }
}
