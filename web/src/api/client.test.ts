import { afterEach, describe, expect, it, vi } from 'vitest';
import { api, ApiError, apiUrl, connectionLost, isAbort, onConnection, plainNumbers, poll, reportConnection, signInUrl } from './client';

function answer(body: unknown, init: ResponseInit = {}): Response {
  return new Response(body === null ? null : typeof body === 'string' ? body : JSON.stringify(body), init);
}

function stubFetch(...answers: (Response | Error)[]) {
  const fetch = vi.fn(async (_input: string, _init?: RequestInit) => {
    const next = answers.shift();
    if (!next) throw new TypeError('no more answers');
    if (next instanceof Error) throw next;
    return next;
  });
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

afterEach(() => {
  vi.unstubAllGlobals();
  reportConnection(false);
});

describe('addresses', () => {
  it('are under the base path and escape ids', async () => {
    expect(apiUrl('/config')).toBe('/api/v1/config');
    const fetch = stubFetch(answer({}), answer({ sessions: [], total: 0 }));
    await api.session('a b/c');
    expect(fetch.mock.calls[0]![0]).toBe('/api/v1/sessions/a%20b%2Fc');
    await api.sessions({ q: 'x&y', page_size: 5 });
    expect(fetch.mock.calls[1]![0]).toBe('/api/v1/sessions?q=x%26y&page_size=5');
  });
});

describe('large integers', () => {
  it('become numbers where they are amounts, and stay text elsewhere', () => {
    const plain = plainNumbers({ top_ops_total_ps: '9007199254740993', top_ops: [{ name: '12', total_ps: 5 }], content_hash: '123', count: '7' });
    expect(plain).toEqual({ top_ops_total_ps: 9007199254740992, top_ops: [{ name: '12', total_ps: 5 }], content_hash: '123', count: 7 });
  });
});

describe('errors', () => {
  it("carry the server's own words and the request id", async () => {
    stubFetch(answer({ error: { code: 'NOT_FOUND', name: 'SESSION_UNKNOWN', message: 'No session has the id "x".', hint: 'Look at the list.' } }, { status: 404, headers: { 'X-Request-Id': 'r-1' } }));
    const error = (await api.session('x').catch((fault: unknown) => fault)) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error.status).toBe(404);
    expect(error.body).toMatchObject({ name: 'SESSION_UNKNOWN', hint: 'Look at the list.', request_id: 'r-1' });
    expect(error.lostConnection).toBe(false);
  });
  it('are in words even when something else answered', async () => {
    stubFetch(answer('<html>teapot</html>', { status: 418 }));
    const error = (await api.config().catch((fault: unknown) => fault)) as ApiError;
    expect(error.body.name).toBe('HTTP_418');
    expect(error.body.message).toContain('418');
  });
  it('tell an answer that was cut off', async () => {
    stubFetch(answer('{"sessions": ['));
    const error = (await api.sessions().catch((fault: unknown) => fault)) as ApiError;
    expect(error.body.name).toBe('ANSWER_CUT_OFF');
  });
  it('leave an abort an abort', async () => {
    stubFetch(new DOMException('gone', 'AbortError'));
    expect(isAbort(await api.config().catch((fault: unknown) => fault))).toBe(true);
    expect(connectionLost()).toBe(false);
  });
});

describe('the connection', () => {
  it('is lost when nobody answers and back when somebody does', async () => {
    const seen: boolean[] = [];
    const off = onConnection((lost) => seen.push(lost));
    stubFetch(new TypeError('refused'), new TypeError('refused'), answer({}));
    const error = (await api.config().catch((fault: unknown) => fault)) as ApiError;
    expect(error.lostConnection).toBe(true);
    await api.config().catch(() => undefined);
    await api.config();
    expect(seen).toEqual([true, false]);
    off();
  });
});

describe('polling', () => {
  it('sends the ETag it knows and takes 304 as "nothing new"', async () => {
    const fetch = stubFetch(answer({ total: 1 }, { headers: { ETag: '"a"' } }), answer(null, { status: 304 }));
    const first = await poll<{ total: number }>('/sessions', null);
    expect(first).toEqual({ etag: '"a"', value: { total: 1 } });
    expect(await poll('/sessions', first!.etag)).toBeNull();
    expect((fetch.mock.calls[1]![1]!.headers as Record<string, string>)['If-None-Match']).toBe('"a"');
  });
});

describe('captures', () => {
  it('are posted as JSON and cancelled by the verb', async () => {
    const fetch = stubFetch(answer({ id: 'op-1' }, { status: 202 }), answer({ id: 'op-1' }));
    await api.startCapture({ targets: ['a:1'], duration_ms: 100, host_tracer_level: 2, device_tracer_level: 1, python_tracer_level: 0, options: {} });
    expect(fetch.mock.calls[0]![1]).toMatchObject({ method: 'POST' });
    expect(JSON.parse(fetch.mock.calls[0]![1]!.body as string)).toMatchObject({ targets: ['a:1'], duration_ms: 100 });
    await api.cancelOperation('op-1');
    expect(fetch.mock.calls[1]![0]).toBe('/api/v1/operations/op-1:cancel');
  });
});

describe('signing in', () => {
  it('comes back to the very address', () => {
    expect(signInUrl({ pathname: '/s/a', search: '?t=1&u=2', hash: '#x' })).toBe('/sign-in?return=%2Fs%2Fa%3Ft%3D1%26u%3D2%23x');
  });

  it('sends the token of its page when the server asks for it, and from then on', async () => {
    const asked = answer({ error: { name: 'CSRF_TOKEN_MISSING', message: 'No token.' } }, { status: 403 });
    const fetch = stubFetch(asked, answer({ csrf_token: 'abc' }), answer({ id: 'op-1' }), answer({ id: 'op-1' }));
    await api.cancelOperation('op-1');
    expect(fetch.mock.calls.map((call) => call[0])).toEqual(['/api/v1/operations/op-1:cancel', '/api/v1/me', '/api/v1/operations/op-1:cancel']);
    await api.cancelOperation('op-1');
    for (const call of [fetch.mock.calls[2]!, fetch.mock.calls[3]!]) {
      expect(new Headers(call[1]!.headers).get('X-Strobe-Csrf')).toBe('abc');
    }
  });
});
