// A stand-in for `strobe serve` that follows docs/api/v1.md and docs/formats/tiles.md, for work on the console.
//   node dev/mock-server.mjs [--port 8080] [--empty] [--delay MS] [--no-capture] [--base /prefix/] [--goldens] [--with-vite]
// It serves build/console too, with the same strict headers as the server. --goldens adds XProf's recorded answers as sessions. --with-vite starts `vite` on top.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { MockCaptures } from './mock-captures.mjs';
import { MockSessions } from './mock-sessions.mjs';
import { buildTile } from './mock-tiles.mjs';
import { compareAnswer, moduleList, toolAnswer, toolList } from './mock-tool-routes.mjs';

const args = process.argv.slice(2);
const option = (name, fallback) => (args.includes(name) ? args[args.lastIndexOf(name) + 1] : fallback);
const base = option('--base', '/');
const delayMs = Number(option('--delay', 0));
const consoleDir = fileURLToPath(new URL('../../build/console/', import.meta.url));
const sessions = new MockSessions({ empty: args.includes('--empty') });
const captures = new MockCaptures(sessions);
const version = '9f31c2d0a7e4b65d';
let requestCount = 0;

const headers = {
  'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'self'; form-action 'none'; frame-ancestors 'self'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
};
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.json': 'application/json' };

class Fault extends Error {
  constructor(status, code, name, message, hint = null) {
    super(message);
    Object.assign(this, { status, code, name, hint });
  }
}
const unknownSession = (id) => new Fault(404, 'NOT_FOUND', 'SESSION_UNKNOWN', `No session has the id "${id}".`, 'Open /api/v1/sessions for the sessions that exist.');

function sendJson(request, response, value, status = 200) {
  const body = Buffer.from(JSON.stringify(value));
  const etag = '"' + createHash('sha1').update(body).digest('hex').slice(0, 16) + '"';
  if (status === 200 && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { ETag: etag }).end();
    return;
  }
  const gzip = /gzip/.test(request.headers['accept-encoding'] ?? '') && body.length > 1000;
  const out = gzip ? gzipSync(body) : body;
  response.writeHead(status, { 'Content-Type': 'application/json', ETag: etag, 'Cache-Control': 'no-cache', ...(gzip ? { 'Content-Encoding': 'gzip' } : {}), 'Content-Length': out.length }).end(out);
}

function readable(id) {
  const session = sessions.find(id);
  if (!session) throw unknownSession(id);
  if (!sessions.profile(session)) {
    throw new Fault(422, 'FAILED_PRECONDITION', session.state === 'empty' ? 'SESSION_EMPTY' : 'SESSION_UNREADABLE', session.state === 'empty' ? 'The session holds no profile file.' : `Nothing in this session could be read: ${session.reason}.`, 'Capture the profile again.');
  }
  return session;
}

function sessionAnswer(request, response, parts, query) {
  const id = parts[1];
  const session = sessions.find(id);
  if (!session) throw unknownSession(id);
  const what = parts[2];
  if (what === undefined) return sendJson(request, response, sessions.detail(session));
  if (what === 'opening') return sendJson(request, response, { stage: null, done_bytes: 0, total_bytes: 0 });
  if (what === 'completeness') return sendJson(request, response, sessions.completeness(session));
  readable(id);
  if (what === 'tools') return toolAnswer({ Fault, sendJson, request, response, sessions }, session, parts.slice(3), query);
  if (what === 'overview') return sendJson(request, response, sessions.overview(session));
  if (what === 'counters') return sendJson(request, response, { counters: [] });
  if (what === 'marks') return sendJson(request, response, { steps: null, modules: [] });
  if (what === 'lines') return sendJson(request, response, sessions.lines(session));
  if (what === 'search') return sendJson(request, response, sessions.search(session, query));
  // The mock's sessions hold no flows.
  if (what === 'flows') return sendJson(request, response, { total: 0, truncated: false, flows: [] });
  if (what === 'events' && parts[3]) {
    const event = sessions.event(session, parts[3]);
    if (!event) throw new Fault(404, 'NOT_FOUND', 'EVENT_UNKNOWN', `No event has the id "${parts[3]}".`);
    return sendJson(request, response, event);
  }
  if (what === 'events') return sendJson(request, response, sessions.neighbours(session, query));
  if (what === 'tiles') return tileAnswer(response, session, parts, query);
  throw new Fault(404, 'NOT_FOUND', 'ROUTE_UNKNOWN', `There is no "${parts.join('/')}".`);
}

function tileAnswer(response, session, parts, query) {
  if (query.get('v') !== version) throw new Fault(409, 'ABORTED', 'VERSION_CHANGED', 'The session has changed since this address was made.', 'Ask for the lines again.');
  const [h, p, chunk] = parts[3].split('.').map(Number);
  const level = Number(parts[4]);
  const plane = sessions.profile(session).hosts[h]?.planes[p];
  if (!plane || level < 10 || level > 62) throw new Fault(404, 'NOT_FOUND', 'TILE_UNKNOWN', 'There is no such tile.');
  const body = gzipSync(buildTile(sessions.profile(session), plane, chunk, level, Number(parts[5])));
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Encoding': 'gzip', 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Length': body.length }).end(body);
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
}

async function apiAnswer(request, response, path, query) {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  if (parts[0] === 'config') {
    return sendJson(request, response, { version: '0.1.0', roots: ['/srv/logs'], capture_enabled: !args.includes('--no-capture'), capture_default_target: '127.0.0.1:9012', sample: false });
  }
  if (parts[0] === 'me') return sendJson(request, response, { kind: 'local', subject: null, csrf_token: null });
  if (parts[0] === 'tools') return sendJson(request, response, toolList());
  if (parts[0] === 'compare') return compareAnswer({ Fault, sendJson, request, response, sessions }, query);
  if (parts[0] === 'sessions' && parts.length === 1) {
    const all = sessions.list(query.get('q') ?? '');
    const size = Math.min(1000, Number(query.get('page_size') ?? 100));
    const from = Number(query.get('page_token') ?? 0);
    const answer = { sessions: all.slice(from, from + size), total: all.length };
    if (from + size < all.length) answer.next_page_token = String(from + size);
    return sendJson(request, response, answer);
  }
  if (parts[0] === 'sessions') return sessionAnswer(request, response, parts, query);
  if (parts[0] === 'captures' && request.method === 'POST') {
    const body = await readBody(request);
    if (!Array.isArray(body.targets) || body.targets.length === 0) throw new Fault(400, 'INVALID_ARGUMENT', 'TARGETS_MISSING', 'At least one target HOST:PORT is needed.');
    const bad = body.targets.find((target) => !/^[^:\s]+:\d+$/.test(target));
    if (bad) throw new Fault(400, 'INVALID_ARGUMENT', 'TARGET_INVALID', `"${bad}" is not HOST:PORT.`, 'Write for example 127.0.0.1:9012.');
    return sendJson(request, response, captures.start(body), 202);
  }
  if (parts[0] === 'operations' && parts.length === 1) return sendJson(request, response, { operations: captures.list() });
  if (parts[0] === 'operations') {
    const [id, verb] = parts[1].split(':');
    const operation = captures.find(id);
    if (!operation) throw new Fault(404, 'NOT_FOUND', 'OPERATION_UNKNOWN', `No operation has the id "${id}".`);
    if (verb === 'cancel' && request.method === 'POST') return sendJson(request, response, captures.cancel(id));
    if (parts[2] === 'events') return captures.stream(id, request, response);
    return sendJson(request, response, operation);
  }
  throw new Fault(404, 'NOT_FOUND', 'ROUTE_UNKNOWN', `There is no "${path}".`);
}

function fileAnswer(response, path) {
  const inside = normalize(path).replace(/^(\.\.[/\\])+/, '');
  let file = join(consoleDir, inside);
  if (!existsSync(file) || !statSync(file).isFile()) file = join(consoleDir, 'index.html');
  if (!existsSync(file)) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Build the console first: npm run build');
    return;
  }
  const immutable = inside.startsWith('/assets/') || inside.startsWith('assets/');
  response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
  response.setHeader('Cache-Control', immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (extname(file) === '.html') {
    response.end(readFileSync(file, 'utf8').replace('<base href="/"', `<base href="${base}"`));
    return;
  }
  if (/\.(js|css|svg)$/.test(file)) {
    response.setHeader('Content-Encoding', 'gzip');
    response.end(gzipSync(readFileSync(file)));
    return;
  }
  createReadStream(file).pipe(response);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://mock');
  const requestId = 'r-' + (++requestCount).toString(16).padStart(8, '0');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('X-Request-Id', requestId);
  if (!url.pathname.startsWith(base)) {
    response.writeHead(404).end();
    return;
  }
  const path = '/' + url.pathname.slice(base.length);
  try {
    if (path === '/healthz' || path === '/readyz') return response.end('ok\n');
    if (path === '/data/plugin/profile/module_list') {
      const run = url.searchParams.get('run') ?? '';
      return response.end(moduleList(sessions.sessions.find((one) => (one.run ? `${one.run}/${one.name}` : one.name) === run)));
    }
    if (!path.startsWith('/api/v1/')) return fileAnswer(response, path);
    if (delayMs) await new Promise((done) => setTimeout(done, delayMs));
    await apiAnswer(request, response, path.slice('/api/v1'.length), url.searchParams);
  } catch (error) {
    const fault = error instanceof Fault ? error : new Fault(500, 'INTERNAL', 'MOCK_FAULT', String(error?.stack ?? error));
    const body = JSON.stringify({ error: { code: fault.code, name: fault.name, message: fault.message, where: '/srv/logs', hint: fault.hint, request_id: requestId } });
    response.writeHead(fault.status, { 'Content-Type': 'application/json' }).end(body);
  }
});

server.listen(Number(option('--port', 8080)), '127.0.0.1', () => {
  const { port } = server.address();
  console.log(`mock at http://127.0.0.1:${port}${base}`);
  if (!args.includes('--with-vite')) return;
  const vite = fileURLToPath(new URL('../node_modules/vite/bin/vite.js', import.meta.url));
  spawn(process.execPath, [vite], { stdio: 'inherit', env: { ...process.env, STROBE_SERVER: `http://127.0.0.1:${port}` } });
});
