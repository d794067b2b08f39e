import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '../api/client';
import type { Operation, Upload } from '../api/types';
import { canUpload, uploadFile, type UploadCalls } from './upload';

const bytes = new Uint8Array(2500).map((_, i) => i % 251);

// A server of one upload, with parts of 1000 bytes.
function server(fault?: (part: number) => Error | 'lost answer' | null) {
  let had: number[] = [];
  let parts = 0;
  const state = (): Upload => ({ id: 'up-1', name: 'a.xplane.pb', size_bytes: 2500, offset_bytes: had.length, part_max_bytes: 1000, expires_unix_ms: 0, sha256: null });
  const done = { id: 'op-1', done: true, error: null, result: { session: 's1', session_name: 'n', hosts_saved: 1 } } as unknown as Operation;
  const calls: UploadCalls = {
    create: vi.fn(async () => state()),
    get: vi.fn(async () => state()),
    append: vi.fn(async (_id: string, offset: number, part: Blob) => {
      const wrong = fault?.(parts++) ?? null;
      if (wrong instanceof Error) throw wrong;
      if (offset !== had.length) throw new ApiError(409, { code: 'ABORTED', name: 'UPLOAD_OFFSET', message: 'elsewhere' });
      had = [...had, ...new Uint8Array(await part.arrayBuffer())];
      if (wrong) throw new ApiError(0, { code: 'UNAVAILABLE', name: 'NO_CONNECTION', message: 'lost' });
      return state();
    }),
    finish: vi.fn(async () => ({ ...done, done: false })),
    remove: vi.fn(async () => undefined),
    operation: vi.fn(async () => done),
  };
  return { calls, had: () => had };
}
const file = () => new File([bytes], 'a.xplane.pb');
const wait = async () => undefined;

describe('uploadFile', () => {
  it('sends all parts in order and gives the session', async () => {
    const { calls, had } = server();
    const seen: number[] = [];
    expect(await uploadFile(file(), { calls, wait, onProgress: (sent) => seen.push(sent) })).toBe('s1');
    expect(had()).toEqual([...bytes]);
    expect(seen).toEqual([1000, 2000, 2500]);
    expect(calls.remove).not.toHaveBeenCalled();
  });

  it('goes on where the server is when an answer or a part was lost', async () => {
    const lost = new ApiError(503, { code: 'UNAVAILABLE', name: 'STOPPING', message: 'stopping' });
    const { calls, had } = server((part) => (part === 1 ? 'lost answer' : part === 3 ? lost : null));
    expect(await uploadFile(file(), { calls, wait })).toBe('s1');
    expect(had()).toEqual([...bytes]);
  });

  it('stops at an error that waiting does not mend, and takes the upload away', async () => {
    const full = new ApiError(429, { code: 'RESOURCE_EXHAUSTED', name: 'UPLOAD_NOT_KEPT', message: 'full' });
    const { calls } = server(() => full);
    await expect(uploadFile(file(), { calls, wait })).rejects.toBe(full);
    expect(calls.append).toHaveBeenCalledTimes(1);
    expect(calls.remove).toHaveBeenCalledWith('up-1');
  });

  it('gives up after some losses in a row', async () => {
    const lost = new ApiError(0, { code: 'UNAVAILABLE', name: 'NO_CONNECTION', message: 'lost' });
    const { calls } = server(() => lost);
    await expect(uploadFile(file(), { calls, wait })).rejects.toBe(lost);
    expect(calls.append).toHaveBeenCalledTimes(6);
  });

  it('tells the error that the operation ended with', async () => {
    const { calls } = server();
    const error = { code: 'INVALID_ARGUMENT', name: 'UPLOAD_NO_PROFILE', message: 'no profile' };
    calls.operation = vi.fn(async () => ({ id: 'op-1', done: true, error, result: null }) as unknown as Operation);
    await expect(uploadFile(file(), { calls, wait })).rejects.toMatchObject({ body: error });
  });
});

describe('canUpload', () => {
  it('knows profiles and archives by their names', () => {
    for (const name of ['h.xplane.pb', 'H.XPLANE.PB.GZ', 'run.zip', 'a.tar.zst', 'b.tgz', 't.trace.json.gz']) expect(canUpload(name)).toBe(true);
    for (const name of ['.zip', 'notes.txt', 'h.pb', 'h.xplane.pb.txt', '']) expect(canUpload(name)).toBe(false);
  });
});
