// Serves a built console from a folder, with the server's content policy and nothing behind /api: enough for what needs no data.
//
//   const site = await serveFolder(path.join(ROOT, 'build/console-gallery'));   site.url   await site.stop();

import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'self'";
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };

export async function serveFolder(folder) {
  if (!existsSync(path.join(folder, 'index.html'))) throw new Error(`${folder} holds no built console; ./dev test browser builds it`);
  const server = createServer((request, response) => {
    const asked = path.normalize(new URL(request.url, 'http://any').pathname);
    if (asked.startsWith('/api/')) return void response.writeHead(404, { 'Content-Type': 'application/json' }).end('{}');
    let file = path.join(folder, asked);
    if (!existsSync(file) || !statSync(file).isFile()) file = path.join(folder, 'index.html');
    response.writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream', 'Content-Security-Policy': POLICY }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}
