// Calls of the ML Diagnostics API. Changes answer with an operation that is done, or with an error.
import { type CallOptions, changeJson, readJson, requestUrl } from '../api/client';
import { href } from '../state/router';
import type { Page, Run, RunEvent, RunOperation, RunSession, RunTarget } from './types';

export const anyLocation = '-';
export const defaultProject = 'default'; // Of clients that know of no projects.

export interface RunKey {
  readonly project: string;
  readonly location: string;
  readonly id: string;
}

const encode = encodeURIComponent;

function url(path: string, query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encode(String(value))}`);
  return href('/v1alpha' + path) + (parts.length ? '?' + parts.join('&') : '');
}

const runsPath = (project: string, location: string) => `/projects/${encode(project)}/locations/${encode(location)}/machineLearningRuns`;
export const runPath = (key: RunKey) => `${runsPath(key.project, key.location)}/${encode(key.id)}`;

async function get<T>(address: string, options: CallOptions): Promise<T> {
  return readJson<T>(await requestUrl(address, { signal: options.signal, headers: { Accept: 'application/json' }, cache: 'no-store' }));
}

async function page<T>(address: string, collection: string, options: CallOptions): Promise<Page<T>> {
  const answer = await get<Record<string, unknown>>(address, options);
  return { items: (answer[collection] as T[] | undefined) ?? [], nextPageToken: (answer.nextPageToken as string | undefined) ?? null };
}

export interface RunsQuery {
  readonly filter?: string;
  readonly orderBy?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

const mostChildren = 1000; // What one answer may hold.

export const runsApi = {
  list: (project: string, query: RunsQuery, options: CallOptions = {}) => page<Run>(url(runsPath(project, anyLocation), { ...query }), 'machineLearningRuns', options),
  get: (key: RunKey, options: CallOptions = {}) => get<Run>(url(runPath(key)), options),
  sessions: (key: RunKey, refresh: boolean, options: CallOptions = {}) =>
    page<RunSession>(url(runPath(key) + '/profilerSessions', { pageSize: mostChildren, orderBy: 'create_time desc', refresh: refresh ? 'true' : undefined }), 'profilerSessions', options),
  targets: (key: RunKey, options: CallOptions = {}) => page<RunTarget>(url(runPath(key) + '/profilerTargets', { pageSize: mostChildren }), 'profilerTargets', options),
  events: (key: RunKey, options: CallOptions = {}) => page<RunEvent>(url(runPath(key) + '/monitoredEvents', { pageSize: mostChildren, orderBy: 'start_time desc' }), 'monitoredEvents', options),
  create: (project: string, location: string, id: string, body: unknown) => changeJson<RunOperation>('POST', url(runsPath(project, location), { machineLearningRunId: id || undefined }), body),
  update: (key: RunKey, mask: string, body: unknown) => changeJson<RunOperation>('PATCH', url(runPath(key), { updateMask: mask }), body),
  remove: (key: RunKey, etag: string) => changeJson<RunOperation>('DELETE', url(runPath(key), { force: 'true', etag }), undefined),
};
