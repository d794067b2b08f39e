// XProf's own web page over somebody else's server: serves the static files of the installed xprof package and forwards what the page asks
// for to `target`. The files come from the Python environment of the tests and are never part of this repository.
//
//   const pages = await startFrontend(server.url);
//   ... open pages.url + '/?tool=overview_page&run=...' ...
//   await pages.stop();

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { ROOT } from './harness.mjs';

const PREFIX = '/data/plugin/profile';
const DATA_ROUTES = ['/runs', '/run_tools', '/hosts', '/data', '/data_csv', '/module_list', '/config', '/version', '/capture_profile', '/generate_cache'];
const TYPES = { '.html': 'text/html', '.js': 'application/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.woff2': 'application/octet-stream' };

// The folder of the installed xprof, or null where the environment of the peers is not there.
export function frontendFiles() {
  const environment = path.join(process.env.STROBE_PEERS ?? path.join(ROOT, 'build/venv-peers'), 'lib');
  if (!existsSync(environment)) return null;
  for (const version of readdirSync(environment)) {
    const files = path.join(environment, version, 'site-packages/xprof/static');
    if (existsSync(path.join(files, 'index.html'))) return files;
  }
  return null;
}

function withoutPrefix(address) {
  let name = address.startsWith(PREFIX) ? address.slice(PREFIX.length) : address;
  if (name.length > 1 && name.endsWith('/')) name = name.slice(0, -1);
  return name === '' ? '/' : name;
}

function forward(request, response, target, name) {
  const asked = new URL(request.url, 'http://proxy');
  const { hostname, port } = new URL(target);
  const onward = http.request({ hostname, port, path: name + asked.search, method: request.method, headers: { host: `${hostname}:${port}`, accept: '*/*' } }, (answer) => {
    const { 'content-security-policy': dropped, ...headers } = answer.headers;
    response.writeHead(answer.statusCode, headers);
    answer.pipe(response);
  });
  onward.on('error', () => {
    response.writeHead(502);
    response.end();
  });
  request.pipe(onward);
}

export async function startFrontend(target) {
  const files = frontendFiles();
  const asked = [];
  const server = http.createServer((request, response) => {
    const name = withoutPrefix(new URL(request.url, 'http://proxy').pathname);
    if (DATA_ROUTES.includes(name)) {
      response.on('finish', () => asked.push({ address: request.url, status: response.statusCode }));
      forward(request, response, target, name);
      return;
    }
    const isPage = !path.basename(name).includes('.');
    const file = path.join(files, isPage ? 'index.html' : path.basename(name));
    if (!existsSync(file)) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('Not Found');
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
    response.end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked, // every data request so far, with its status
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
