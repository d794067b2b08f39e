// What a share link may open from where one is, and its whole address.
import type { ShareLink } from '../access/types';
import { href, type Location, matchRoute } from '../state/router';

// "/l/..." of the server as others reach it.
export function linkAddress(link: Pick<ShareLink, 'path'>, origin = window.location.origin): string {
  return origin + href(link.path);
}

export interface ShareTarget {
  readonly kind: 'session' | 'run';
  readonly id: string; // Of the session, or the whole name of the run.
  readonly view: string; // The page in front of one, as a link takes it.
  readonly plain: string; // The page that the link opens without a view.
}

// Null where there is nothing that a link could open.
export function shareTarget(location: Location): ShareTarget | null {
  const route = matchRoute(location);
  const view = location.path + location.search;
  if (route.page === 'session' || route.page === 'unknown_tool') {
    return { kind: 'session', id: route.sessionId, view, plain: `/s/${route.sessionId}` };
  }
  if (route.page === 'run') {
    return { kind: 'run', id: `projects/${route.project}/locations/${route.location}/machineLearningRuns/${route.id}`, view, plain: `/runs/${route.project}/${route.location}/${route.id}` };
  }
  return null;
}

export const lifetimes: readonly { readonly value: string; readonly label: string }[] = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
];
export const usualDays = '30';
