import { describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS, MAX_REQUESTS_IN_FLIGHT, TileLoader, VersionChangedError, type TileSource } from './tileLoader';
import { tileKey, type TileAddress } from './tileGrid';
import { encodeTile } from './testTiles';

const address = (index: number): TileAddress => ({ chunk: '0.0.0', level: 13, index });
const bytes = encodeTile([[[]]], 13, 0);

interface Asked {
  address: TileAddress;
  signal: AbortSignal;
  answer: (buffer: ArrayBuffer) => void;
  fail: (error: Error) => void;
}

function setUp() {
  const asked: Asked[] = [];
  const loaded = new Set<string>();
  const waiting: (() => void)[] = [];
  let versionChanges = 0;
  const source: TileSource = {
    fetchTile: (wanted, signal) => new Promise((answer, fail) => asked.push({ address: wanted, signal, answer, fail })),
  };
  const loader = new TileLoader(
    source, (wanted) => loaded.has(tileKey(wanted)),
    { onTile: (wanted) => loaded.add(tileKey(wanted)), onVersionChanged: () => ++versionChanges, onProgress: () => undefined },
    { set: (callback) => waiting.push(callback), clear: () => undefined },
  );
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 8; ++i) await Promise.resolve();
  };
  return { asked, loaded, waiting, loader, settle, versions: () => versionChanges };
}

describe('the tile loader', () => {
  it('asks in order, a few at a time, and each tile once', async () => {
    const { asked, loaded, loader, settle } = setUp();
    const wanted = Array.from({ length: 10 }, (_, i) => address(i));
    loader.want(wanted);
    loader.want(wanted);
    expect(asked.map((one) => one.address.index)).toEqual([0, 1, 2, 3].slice(0, MAX_REQUESTS_IN_FLIGHT));
    for (let i = 0; i < 10; ++i) {
      asked[i]!.answer(bytes);
      await settle();
    }
    expect(asked.length).toBe(10);
    expect(loaded.size).toBe(10);
    expect(loader.pending).toBe(0);
  });

  it('aborts what nobody wants any more when its place is needed, the oldest first, and ignores its late answer', async () => {
    const { asked, loaded, loader, settle } = setUp();
    loader.want([0, 1, 2, 3].map(address));
    loader.want([1, 8, 9].map(address));
    expect(asked.map((one) => [one.address.index, one.signal.aborted])).toEqual([[0, true], [1, false], [2, true], [3, false], [8, false], [9, false]]);
    asked[0]!.answer(bytes);
    await settle();
    expect(loaded.has(tileKey(address(0)))).toBe(false);
    loader.want([address(0)]);
    expect(asked[asked.length - 1]!.address.index).toBe(0);
  });

  it('asks once for what a view that goes away and comes back needs', async () => {
    const { asked, loaded, loader, settle } = setUp();
    loader.want([address(0), address(1)]);
    loader.want([address(2)]);
    loader.want([address(0), address(1)]);
    expect(asked.map((one) => [one.address.index, one.signal.aborted])).toEqual([[0, false], [1, false], [2, false]]);
    for (const one of asked) one.answer(bytes);
    await settle();
    expect(loaded.size).toBe(3);
    loader.want([2, 1, 0].map(address));
    expect(asked.length).toBe(3);
  });

  it('tries a failing tile a few times, then counts it until it is asked to retry', async () => {
    const { asked, waiting, loader, settle } = setUp();
    loader.want([address(0)]);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; ++attempt) {
      expect(asked.length).toBe(attempt);
      asked[attempt - 1]!.fail(new Error('server busy'));
      await settle();
      if (attempt < MAX_ATTEMPTS) waiting.pop()!();
    }
    expect([loader.failed, loader.pending, loader.lastError]).toEqual([1, 0, 'server busy']);
    loader.want([address(0)]);
    expect(asked.length).toBe(MAX_ATTEMPTS);
    loader.retryFailed();
    expect(asked.length).toBe(MAX_ATTEMPTS + 1);
    asked[MAX_ATTEMPTS]!.answer(bytes);
    await settle();
    expect(loader.failed).toBe(0);
  });

  it('reports bytes that are no tile as a failure', async () => {
    const { asked, loader, settle } = setUp();
    loader.want([address(0)]);
    asked[0]!.answer(new ArrayBuffer(3));
    await settle();
    expect(loader.lastError).toMatch(/cannot be read/);
  });

  it('says when the session is another by now, without counting a failure', async () => {
    const { asked, loader, settle, versions } = setUp();
    loader.want([address(0)]);
    asked[0]!.fail(new VersionChangedError());
    await settle();
    expect([versions(), loader.failed]).toEqual([1, 0]);
  });

  it('drops everything at a reset', async () => {
    const { asked, loaded, loader, settle } = setUp();
    loader.want([address(0)]);
    loader.reset();
    expect(asked[0]!.signal.aborted).toBe(true);
    asked[0]!.answer(bytes);
    await settle();
    expect(loaded.size).toBe(0);
  });
});
