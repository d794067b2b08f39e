// Calls of the ML Diagnostics API. Changes answer with an operation that is done, or with an error.
import { apiUrl, type CallOptions, changeJson, readJson, requestUrl } from '../api/client';
import { href } from '../state/router';
import type { Page, Run, RunEvent, RunMetricList, RunOperation, RunSeries, RunSession, RunTarget } from './types';

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

export interface SeriesQuery {
  readonly by: 'step' | 'time';
  readonly others: readonly string[]; // Whole names of runs.
  readonly split: boolean; // A curve for each host.
  readonly points: number;
  readonly names?: readonly string[]; // Absent: all.
  readonly from?: number;
  readonly to?: number;
}

const metricsUrl = (key: RunKey) => apiUrl(`/runs/${encode(key.project)}/${encode(key.location)}/${encode(key.id)}/metrics`);

const mostChildren = 1000; // What one answer may hold.

export const runsApi = {
  list: (project: string, query: RunsQuery, options: CallOptions = {}) => page<Run>(url(runsPath(project, anyLocation), { ...query }), 'machineLearningRuns', options),
  get: (key: RunKey, options: CallOptions = {}) => get<Run>(url(runPath(key)), options),
  sessions: (key: RunKey, refresh: boolean, options: CallOptions = {}) =>
    page<RunSession>(url(runPath(key) + '/profilerSessions', { pageSize: mostChildren, orderBy: 'create_time desc', refresh: refresh ? 'true' : undefined }), 'profilerSessions', options),
  targets: (key: RunKey, options: CallOptions = {}) => page<RunTarget>(url(runPath(key) + '/profilerTargets', { pageSize: mostChildren }), 'profilerTargets', options),
  events: (key: RunKey, options: CallOptions = {}) => page<RunEvent>(url(runPath(key) + '/monitoredEvents', { pageSize: mostChildren, orderBy: 'start_time desc' }), 'monitoredEvents', options),
  operations: (key: RunKey, filter: string, options: CallOptions = {}) =>
    page<RunOperation>(url(`/projects/${encode(key.project)}/locations/${encode(key.location)}/operations`, { filter, orderBy: 'create_time desc', pageSize: 200 }), 'operations', options),
  metrics: (key: RunKey, options: CallOptions = {}) => get<RunMetricList>(metricsUrl(key), options),
  series: (key: RunKey, query: SeriesQuery, options: CallOptions = {}) => {
    const parts = [`by=${query.by}`, `points=${query.points}`, ...query.others.map((name) => `with=${encode(name)}`)];
    parts.push(...(query.names ?? []).map((name) => `name=${encode(name)}`));
    if (query.split) parts.push('split=host');
    if (query.from !== undefined && query.to !== undefined) parts.push(`from=${query.from}`, `to=${query.to}`);
    return get<RunSeries>(`${metricsUrl(key)}/series?${parts.join('&')}`, options);
  },
  capture: (key: RunKey, seconds: number, targets: readonly string[]) =>
    changeJson<RunOperation>('POST', url(runPath(key) + '/profilerSessions'), { kind: 'KIND_ON_DEMAND', duration: `${seconds}s`, ...(targets.length > 0 ? { profilerTargets: targets } : {}) }),
  cancel: (operation: string) => changeJson<unknown>('POST', url(`/${operation.split('/').map(encode).join('/')}:cancel`), {}),
  create: (project: string, location: string, id: string, body: unknown) => changeJson<RunOperation>('POST', url(runsPath(project, location), { machineLearningRunId: id || undefined }), body),
  update: (key: RunKey, mask: string, body: unknown) => changeJson<RunOperation>('PATCH', url(runPath(key), { updateMask: mask }), body),
  remove: (key: RunKey, etag: string) => changeJson<RunOperation>('DELETE', url(runPath(key), { force: 'true', etag }), undefined),
};
