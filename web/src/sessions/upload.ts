// Sends a file to the server in parts and waits until it is a session. Parts that were lost are sent again from where the
// server says it is, so a broken connection costs a part, not the upload.
//
//   const session = await uploadFile(file, { signal, onProgress: (sent, total) => ... });
import { api, ApiError, isAbort, toApiError } from '../api/client';
import type { Operation, Upload } from '../api/types';

const retryWaitMs = [500, 1000, 2000, 4000, 8000]; // A server that restarts is back within these.
const pollMs = 250;

export interface UploadCalls {
  create: typeof api.createUpload;
  get: typeof api.upload;
  append: typeof api.appendUpload;
  finish: typeof api.finishUpload;
  remove: typeof api.removeUpload;
  operation: typeof api.operation;
}

export interface UploadOptions {
  signal?: AbortSignal;
  onProgress?: (sentBytes: number, totalBytes: number) => void;
  calls?: UploadCalls;
  wait?: (ms: number) => Promise<void>;
}

export const uploadEndings = ['.xplane.pb', '.xplane.pb.gz', '.xplane.pb.zst', '.xplane.pb.xz', '.xplane.riegeli', '.trace.json', '.trace.json.gz', '.zip', '.tar', '.tar.gz', '.tgz', '.tar.zst', '.tar.xz'];

export function canUpload(name: string): boolean {
  const lower = name.toLowerCase();
  return uploadEndings.some((ending) => lower.endsWith(ending) && lower.length > ending.length);
}

const realCalls: UploadCalls = {
  create: api.createUpload,
  get: api.upload,
  append: api.appendUpload,
  finish: api.finishUpload,
  remove: api.removeUpload,
  operation: api.operation,
};
const realWait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

// The id of the new session; "" when the server does not show it.
export async function uploadFile(file: File, options: UploadOptions = {}): Promise<string> {
  const { signal, onProgress, calls = realCalls, wait = realWait } = options;
  let state = await calls.create({ name: file.name, size_bytes: file.size }, { signal });
  try {
    state = await sendParts(file, state, { signal, onProgress, calls, wait });
    let operation: Operation = await calls.finish(state.id, { signal });
    while (!operation.done) {
      await wait(pollMs);
      operation = await calls.operation(operation.id, { signal });
    }
    if (operation.error) throw new ApiError(400, operation.error);
    return operation.result?.session ?? '';
  } catch (error) {
    // Nobody will go on with it from this page.
    calls.remove(state.id).catch(() => undefined);
    throw error;
  }
}

async function sendParts(file: File, begun: Upload, options: Required<Pick<UploadOptions, 'calls' | 'wait'>> & UploadOptions): Promise<Upload> {
  const { signal, onProgress, calls, wait } = options;
  const partBytes = Number(begun.part_max_bytes);
  let state = begun;
  let failures = 0;
  while (Number(state.offset_bytes) < file.size) {
    const offset = Number(state.offset_bytes);
    try {
      state = await calls.append(begun.id, offset, file.slice(offset, offset + partBytes), { signal });
      failures = 0;
      onProgress?.(Number(state.offset_bytes), file.size);
    } catch (error) {
      if (isAbort(error)) throw error;
      const known = toApiError(error);
      const lost = known.lostConnection || known.body.name === 'UPLOAD_OFFSET' || known.body.name === 'UPLOAD_BUSY';
      if (!lost || failures >= retryWaitMs.length) throw known;
      await wait(retryWaitMs[failures++] ?? 0);
      state = await calls.get(begun.id, { signal }).catch((again: unknown) => {
        if (isAbort(again) || !toApiError(again).lostConnection) throw again;
        return state;
      });
    }
  }
  return state;
}
