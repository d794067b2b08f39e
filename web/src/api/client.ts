// Typed access to /api/v1. Every failure is an ApiError with words for the page: what failed, why, what to do, and the
// request id. The browser's own cache keeps ETags, so a repeated GET costs a 304; tiles are immutable and cost nothing.
//
//   const list = await api.sessions({ q: 'llama' }, { signal });
//   catch (error) { if (isAbort(error)) return; show(toApiError(error)); }
import { href } from '../state/router';
import type {
  ApiErrorBody,
  CaptureRequest,
  Completeness,
  EventDetail,
  EventNeighbours,
  Opening,
  Operation,
  Overview,
  AreaGaps,
  AreaTotals,
  Counters,
  CounterSeries,
  Flows,
  RulerMarks,
  SearchResult,
  ServerConfig,
  SessionDetail,
  SessionList,
  TimelineLines,
  Upload,
} from './types';

export class ApiError extends Error {
  readonly status: number; // 0: no answer at all
  readonly body: ApiErrorBody;

  constructor(status: number, body: ApiErrorBody) {
    super(body.message);
    this.status = status;
    this.body = body;
  }

  get lostConnection(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

export interface CallOptions {
  signal?: AbortSignal;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(0, {
    code: 'INTERNAL',
    name: 'CONSOLE_FAULT',
    message: `The console met an unexpected fault: ${message}`,
    hint: 'Reload the page. If it comes back, report it with the text above.',
  });
}

// ---- connection state: one flag for the banner, fed by every call ------------------------------------------------

type ConnectionListener = (lost: boolean) => void;
const connectionListeners = new Set<ConnectionListener>();
let lost = false;

export function onConnection(listener: ConnectionListener): () => void {
  connectionListeners.add(listener);
  return () => connectionListeners.delete(listener);
}

export function connectionLost(): boolean {
  return lost;
}

export function reportConnection(nowLost: boolean): void {
  if (nowLost === lost) return;
  lost = nowLost;
  connectionListeners.forEach((listener) => listener(nowLost));
}

// ---- calls ---------------------------------------------------------------------------------------------------------

export function apiUrl(path: string): string {
  return href('/api/v1' + path);
}

// Where a server asks for it, whoever is not signed in goes to the sign-in page and comes back to this very address.
export function signInUrl(from: { pathname: string; search: string; hash: string }): string {
  return href('/sign-in?return=' + encodeURIComponent(from.pathname + from.search + from.hash));
}

let leaving = false;
let guest = false;

// Who looks at what a share link opens stays on that page, though much else is refused.
export function setGuest(isGuest: boolean): void {
  guest = isGuest;
}

function goToSignIn(status: number): void {
  if (status !== 401 || leaving || guest) return;
  leaving = true;
  window.location.assign(signInUrl(window.location));
}

// The token that changes carry, so that a foreign page cannot make them in our name. Servers without a sign-in ask for
// none, so it is fetched when one is asked for.
let changeToken = '';

// Who is known already need not be asked again, and the first change is not refused.
export function setChangeToken(token: string | null): void {
  changeToken = token ?? '';
}

async function fetchChangeToken(): Promise<void> {
  const me = await getJson<{ csrf_token: string | null }>('/me');
  setChangeToken(me.csrf_token);
}

// The ML Diagnostics API answers in Google's shape: a numeric code, a status word, and our name as a reason.
interface ErrorAnswer extends Partial<Omit<ApiErrorBody, 'code'>> {
  code?: string | number;
  status?: string;
  details?: readonly { reason?: string }[];
}

async function errorOf(response: Response): Promise<ApiError> {
  goToSignIn(response.status);
  const requestId = response.headers.get('x-request-id');
  try {
    const body = (await response.json()) as { error?: ErrorAnswer };
    if (body.error && typeof body.error.message === 'string') {
      const reason = body.error.details?.find((detail) => detail.reason)?.reason;
      return new ApiError(response.status, {
        code: typeof body.error.code === 'string' ? body.error.code : (body.error.status ?? 'UNKNOWN'),
        name: body.error.name ?? reason ?? 'HTTP_' + response.status,
        message: body.error.message,
        where: body.error.where ?? null,
        hint: body.error.hint ?? null,
        request_id: body.error.request_id ?? requestId,
      });
    }
  } catch {
    // Not our error shape: something between us and the server answered.
  }
  return new ApiError(response.status, {
    code: 'UNKNOWN',
    name: 'HTTP_' + response.status,
    message: `The server answered with status ${response.status} and no explanation.`,
    hint: 'Something between this page and Strobe may have answered. Try again, then look at the server log.',
    request_id: requestId,
  });
}

export function request(path: string, init: RequestInit = {}): Promise<Response> {
  return requestUrl(apiUrl(path), init);
}

// As `request`, for what lies beside /api/v1.
export async function requestUrl(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    reportConnection(true);
    throw new ApiError(0, {
      code: 'UNAVAILABLE',
      name: 'NO_CONNECTION',
      message: 'No connection to the Strobe server.',
      hint: 'Check that "strobe serve" is still running. The page keeps trying.',
    });
  }
  if (!response.ok) {
    const error = await errorOf(response);
    if (error.lostConnection) reportConnection(true);
    throw error;
  }
  reportConnection(false);
  return response;
}

export async function getJson<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await request(path, {
    signal: options.signal,
    headers: { Accept: 'application/json' },
    cache: 'no-cache', // Asks with If-None-Match; the answer comes from the browser's cache on 304.
  });
  return readJson<T>(response);
}

// A request that changes something: it carries the token, and asks for one when the server wants it.
export async function change(url: string, init: RequestInit): Promise<Response> {
  const send = () => {
    const headers = new Headers(init.headers);
    if (changeToken) headers.set('X-Strobe-Csrf', changeToken);
    return requestUrl(url, { ...init, headers });
  };
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiError) || error.body.name !== 'CSRF_TOKEN_MISSING') throw error;
    await fetchChangeToken();
    return send();
  }
}

export async function changeJson<T>(method: 'POST' | 'PATCH' | 'DELETE', url: string, body: unknown, options: CallOptions = {}): Promise<T> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  return readJson<T>(await change(url, { method, signal: options.signal, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
}

const postJson = <T>(path: string, body: unknown, options: CallOptions = {}): Promise<T> => changeJson<T>('POST', apiUrl(path), body, options);

export async function readJson<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(response.status, {
      code: 'UNAVAILABLE',
      name: 'ANSWER_CUT_OFF',
      message: 'The server began to answer and stopped half way.',
      hint: 'Try again.',
      request_id: response.headers.get('x-request-id'),
    });
  }
}

function query(values: Readonly<Record<string, string | number | undefined | null>>): string {
  const parts = Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return parts.length ? '?' + parts.join('&') : '';
}

const session = (id: string) => '/sessions/' + encodeURIComponent(id);

// Conditional GET for polling: null when nothing changed since `etag`.
export interface Polled<T> {
  etag: string | null;
  value: T;
}

export async function poll<T>(path: string, etag: string | null, options: CallOptions = {}): Promise<Polled<T> | null> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (etag) headers['If-None-Match'] = etag;
  let response: Response;
  try {
    response = await fetch(apiUrl(path), { signal: options.signal, headers, cache: 'no-store' });
  } catch (error) {
    if (isAbort(error)) throw error;
    reportConnection(true);
    throw new ApiError(0, { code: 'UNAVAILABLE', name: 'NO_CONNECTION', message: 'No connection to the Strobe server.' });
  }
  if (response.status === 304) {
    reportConnection(false);
    return null;
  }
  if (!response.ok) {
    const error = await errorOf(response);
    if (error.lostConnection) reportConnection(true);
    throw error;
  }
  reportConnection(false);
  return { etag: response.headers.get('etag'), value: await readJson<T>(response) };
}

export interface SessionQuery {
  q?: string;
  page_size?: number;
  page_token?: string;
}

export const sessionsPath = (values: SessionQuery) => '/sessions' + query({ ...values });

// Integers beyond 2^53 arrive as decimal strings. Sums on a page need no more than a double holds, so fields that are named
// as amounts become numbers; ids, names and everything else stay as they are.
const amountField = /_(ps|bytes)$|^(count|events|lines|planes|event_count)$/;

export function plainNumbers<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => plainNumbers(item as unknown)) as T;
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, field]) => {
    if (typeof field === 'string' && amountField.test(key) && /^-?\d+$/.test(field)) return [key, Number(field)];
    return [key, plainNumbers(field as unknown)];
  });
  return Object.fromEntries(entries) as T;
}

export const api = {
  projects: (options?: CallOptions) => getJson<{ projects: string[] }>('/projects', options),
  config: (options?: CallOptions) => getJson<ServerConfig>('/config', options),
  sessions: (values: SessionQuery = {}, options?: CallOptions) => getJson<SessionList>(sessionsPath(values), options),
  session: (id: string, options?: CallOptions) => getJson<SessionDetail>(session(id), options),
  opening: async (id: string, options?: CallOptions) => plainNumbers(await getJson<Opening>(session(id) + '/opening', options)),
  completeness: async (id: string, options?: CallOptions) => plainNumbers(await getJson<Completeness>(session(id) + '/completeness', options)),
  overview: async (id: string, options?: CallOptions) => plainNumbers(await getJson<Overview>(session(id) + '/overview', options)),
  lines: (id: string, options?: CallOptions) => getJson<TimelineLines>(session(id) + '/lines', options),

  // One tile: chunk is "h.p.chunk". 409 VERSION_CHANGED means: ask for the lines again.
  async tile(id: string, chunk: string, level: number, index: number | string, version: string, options: CallOptions = {}): Promise<ArrayBuffer> {
    const path = `${session(id)}/tiles/${chunk}/${level}/${index}?v=${encodeURIComponent(version)}`;
    const response = await request(path, { signal: options.signal });
    return response.arrayBuffer();
  },

  event: (id: string, event: string, options?: CallOptions) => getJson<EventDetail>(`${session(id)}/events/${event}`, options),
  neighbours: (id: string, values: { line: string; at_ps?: number; event?: number }, options?: CallOptions) =>
    getJson<EventNeighbours>(`${session(id)}/events${query(values)}`, options),
  // Exactly one of `q` (text or /regex/) and `expression`; `near` or `near_ps` asks where one is among the hits.
  search: (id: string, values: { q?: string; expression?: string; from_ps?: number; to_ps?: number; limit?: number; near?: string; near_ps?: number }, options?: CallOptions) =>
    getJson<SearchResult>(`${session(id)}/search${query(values)}`, options),
  counters: (id: string, options?: CallOptions) => getJson<Counters>(session(id) + '/counters', options),
  counterSeries: (id: string, counter: string, values: { from_ps: number; to_ps: number; buckets: number }, options?: CallOptions) =>
    getJson<CounterSeries>(`${session(id)}/counters/${encodeURIComponent(counter)}${query(values)}`, options),
  marks: (id: string, values: { from_ps?: number; to_ps?: number; limit?: number }, options?: CallOptions) =>
    getJson<RulerMarks>(`${session(id)}/marks${query(values)}`, options),
  // A file that the browser keeps: the address of a link, not a call.
  exportUrl: (id: string, values: { format: 'chrome' | 'perfetto'; from_ps?: number; to_ps?: number; lines?: string }) => apiUrl(`${session(id)}/export${query(values)}`),

  totals: (id: string, values: { from_ps?: number; to_ps?: number; side?: 'devices' | 'hosts'; lines?: string; limit?: number }, options?: CallOptions) =>
    getJson<AreaTotals>(`${session(id)}/totals${query(values)}`, options),
  gaps: (id: string, values: { plane: string; from_ps?: number; to_ps?: number; limit?: number }, options?: CallOptions) =>
    getJson<AreaGaps>(`${session(id)}/gaps${query(values)}`, options),
  flows: (id: string, values: { event?: string; from_ps?: number; to_ps?: number; limit?: number }, options?: CallOptions) =>
    getJson<Flows>(`${session(id)}/flows${query(values)}`, options),

  createUpload: (body: { name: string; size_bytes: number }, options?: CallOptions) => postJson<Upload>('/uploads', body, options),
  upload: (id: string, options?: CallOptions) => getJson<Upload>('/uploads/' + encodeURIComponent(id), options),
  async appendUpload(id: string, offset: number, part: Blob, options: CallOptions = {}): Promise<Upload> {
    const response = await change(apiUrl(`/uploads/${encodeURIComponent(id)}?offset=${offset}`), {
      method: 'PUT',
      signal: options.signal,
      headers: { 'Content-Type': 'application/octet-stream', Accept: 'application/json' },
      body: part,
    });
    return readJson<Upload>(response);
  },
  finishUpload: (id: string, options?: CallOptions) => postJson<Operation>(`/uploads/${encodeURIComponent(id)}:finish`, {}, options),
  async removeUpload(id: string): Promise<void> {
    await change(apiUrl('/uploads/' + encodeURIComponent(id)), { method: 'DELETE' });
  },

  startCapture: (body: CaptureRequest, options?: CallOptions) => postJson<Operation>('/captures', body, options),
  operations: (options?: CallOptions) => getJson<{ operations: Operation[] }>('/operations', options),
  operation: (id: string, options?: CallOptions) => getJson<Operation>('/operations/' + encodeURIComponent(id), options),
  cancelOperation: (id: string, options?: CallOptions) =>
    postJson<Operation>(`/operations/${encodeURIComponent(id)}:cancel`, {}, options),
  operationEventsUrl: (id: string) => apiUrl(`/operations/${encodeURIComponent(id)}/events`),
};
