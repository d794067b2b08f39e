// XProf's own web page over somebody else's server: serves the static files of the released xprof package and forwards what the page asks
// for to `target`. The files are fetched by tests/python/setup_xprof_page.sh and are never part of this repository.
//
//   const pages = await startFrontend(server.url);
//   ... open pages.url + '/?tool=overview_page&run=...' ...
//   await pages.stop();

import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { ROOT } from './harness.mjs';

const PREFIX = '/data/plugin/profile';
const DATA_ROUTES = ['/runs', '/run_tools', '/hosts', '/data', '/data_csv', '/module_list', '/config', '/version', '/capture_profile', '/generate_cache'];
const TYPES = { '.html': 'text/html', '.js': 'application/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.woff2': 'application/octet-stream' };

// The folder of the page's files (setup_xprof_page.sh made it), or null where it is not there.
export function frontendFiles() {
  const files = process.env.STROBE_XPROF_PAGE ?? path.join(ROOT, 'build/xprof-page');
  return existsSync(path.join(files, 'index.html')) ? files : null;
}

export const frontendVersion = () => readFileSync(path.join(frontendFiles(), '.version'), 'utf8').trim();

// Whether an address is one that the page asks the server for data with.
export const isDataAddress = (address) => DATA_ROUTES.includes(withoutPrefix(new URL(address, 'http://page').pathname));

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
  const server = http.createServer((request, response) => {
    const name = withoutPrefix(new URL(request.url, 'http://proxy').pathname);
    if (DATA_ROUTES.includes(name)) {
      forward(request, response, target, name);
      return;
    }
    if (name === '/favicon.ico') { // asked for once a browser, whatever page comes first
      response.writeHead(204);
      response.end();
      return;
    }
    const isPage = !path.basename(name).includes('.');
    const file = path.join(files, isPage ? 'index.html' : path.basename(name));
    if (!existsSync(file)) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('Not Found');
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream', 'cache-control': isPage ? 'no-cache' : 'max-age=3600' });
    response.end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
