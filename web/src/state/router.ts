// A small History API router. Addresses are written without the base path ("/s/abc/overview"); the base path is
// taken from <base href>, so the console works at "/" and behind any prefix.
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

export interface Location {
  readonly path: string; // without the base path, always begins with "/"
  readonly search: string; // with "?", or empty
}

export function basePath(): string {
  const path = new URL('.', document.baseURI).pathname;
  return path.endsWith('/') ? path : path + '/';
}

// The address a link or a request really has: href("/s/abc") -> "/prefix/s/abc".
export function href(to: string): string {
  return basePath() + to.replace(/^\//, '');
}

function read(): Location {
  const base = basePath();
  const full = window.location.pathname;
  const path = full.startsWith(base) ? '/' + full.slice(base.length) : full;
  return { path, search: window.location.search };
}

let current: Location | null = null;

function snapshot(): Location {
  const next = read();
  if (!current || current.path !== next.path || current.search !== next.search) current = next;
  return current;
}

export function notifyLocation(): void {
  listeners.forEach((listener) => listener());
}

// For what must hear of a new address at once, and not when React gets to it.
export function subscribeLocation(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('popstate', notifyLocation);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('popstate', notifyLocation);
  };
}

export function useLocation(): Location {
  return useSyncExternalStore(subscribeLocation, snapshot);
}

export function currentLocation(): Location {
  return snapshot();
}

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const address = href(to);
  if (options.replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  notifyLocation();
}

// The last piece of /s/<id>/<tool>: a page of the console (overview, timeline, files), a group of tools (ops, memory) or a
// tool of the registry by its id. Whether there is such a tool only the server knows.
export type SessionTool = string;
export const corePages = ['overview', 'timeline', 'files'] as const;

// What follows the reader from tool to tool: baseline and hosts.
export const contextKeys = ['b', 'h'] as const;

export function contextSearch(search: string): string {
  const query = new URLSearchParams(search);
  const kept = contextKeys.flatMap((key) => {
    const value = query.get(key);
    return value ? [`${key}=${encodeURIComponent(value)}`] : [];
  });
  return kept.length > 0 ? '?' + kept.join('&') : '';
}

// What every part looks like in every state; only builds for development have it.
export const hasGallery = import.meta.env.MODE !== 'production';

export type Route =
  | { page: 'sessions' }
  | { page: 'runs' }
  | { page: 'run'; project: string; location: string; id: string }
  | { page: 'admin'; part: string }
  | { page: 'account' }
  | { page: 'gallery' }
  | { page: 'session'; sessionId: string; tool: SessionTool }
  | { page: 'redirect'; to: string }
  | { page: 'unknown_tool'; sessionId: string; tool: string }
  | { page: 'not_found'; path: string };

export function matchRoute(location: Location): Route {
  const parts = location.path.split('/').filter(Boolean).map(safeDecode);
  if (parts.length === 0) return legacyTarget(location) ?? { page: 'sessions' };
  if (parts[0] === 'runs' && parts.length === 1) return legacyTarget(location) ?? { page: 'runs' };
  if (parts[0] === 'runs' && parts.length === 4) return { page: 'run', project: parts[1]!, location: parts[2]!, id: parts[3]! };
  if (parts[0] === 'admin' && parts.length <= 2) return { page: 'admin', part: parts[1] ?? '' };
  if (parts[0] === 'account' && parts.length === 1) return { page: 'account' };
  if (hasGallery && parts[0] === 'gallery' && parts.length === 1) return { page: 'gallery' };
  if (parts[0] === 's' && parts.length >= 2) {
    const sessionId = parts[1]!;
    if (parts.length === 2) {
      return { page: 'redirect', to: sessionPath(sessionId, 'overview') + location.search };
    }
    const tool = parts[2]!;
    if (parts.length === 3) return { page: 'session', sessionId, tool };
    return { page: 'unknown_tool', sessionId, tool: parts.slice(2).join('/') };
  }
  return legacyTarget(location) ?? { page: 'not_found', path: location.path };
}

export function sessionPath(sessionId: string, tool: SessionTool, search = ''): string {
  return `/s/${encodeURIComponent(sessionId)}/${tool}${search}`;
}

function safeDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// XProf addresses look like /overview_page?run=<run>/<session>&tag=trace_viewer@ (or /?run=..&tool=..). The run is not
// our session id, so the sessions page looks it up and goes on from there.
const toolByLegacyName: Readonly<Record<string, SessionTool>> = {
  trace_viewer: 'timeline',
  'trace_viewer@': 'timeline',
  overview_page: 'overview',
};
const legacyTools = new Set(['op_profile', 'hlo_op_profile', 'hlo_stats', 'framework_op_stats', 'kernel_stats', 'memory_profile', 'memory_viewer', 'graph_viewer', 'roofline_model', 'input_pipeline_analyzer', 'pod_viewer', 'megascale_stats', 'perf_counters', 'utilization_viewer', 'kernel_utilization', 'inference_profile', 'smart_suggestion']);
// What an old address says beside run and tool, and where the new one says it.
const legacyKeys: readonly (readonly [string, string])[] = [
  ['host', 'h'],
  ['hosts', 'h'],
  ['module_name', 'o.module_name'],
  ['node_name', 'o.node_name'],
  ['graph_width', 'o.graph_width'],
  ['memory_space', 'o.memory_space'],
  ['group_by', 'o.group_by'],
];

export interface LegacyLink {
  run: string;
  tool: SessionTool;
  search: string;
}

export function parseLegacyLink(location: Location): LegacyLink | null {
  const query = new URLSearchParams(location.search);
  const run = query.get('run') ?? query.get('session_path');
  if (!run) return null;
  const name = (query.get('tag') ?? query.get('tool') ?? location.path.split('/').filter(Boolean).pop() ?? '').replace(/\^$/, '');
  const kept = new Map<string, string>();
  for (const [old, now] of legacyKeys) {
    const value = query.get(old);
    if (value && value !== 'ALL_HOSTS') kept.set(now, value);
  }
  const tool = toolByLegacyName[name] ?? (legacyTools.has(name) ? name : 'overview');
  const search = [...kept].map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  return { run, tool, search: search && legacyTools.has(name) ? '?' + search : '' };
}

function legacyTarget(location: Location): Route | null {
  return parseLegacyLink(location) ? { page: 'sessions' } : null;
}
