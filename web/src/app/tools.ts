// The places of a session that are no tools of the registry, in rail order; and the places of the console that are still to come.
import type { KeyId } from '../keys/table';
import type { SessionTool } from '../state/router';
import type { IconName } from '../ui/Icon';

export interface CorePage {
  readonly tool: SessionTool;
  readonly name: string;
  readonly icon: IconName;
  readonly key: KeyId;
}

export interface LaterTool {
  readonly name: string;
  readonly icon: IconName;
  readonly reason: string;
}

export const overviewPage: CorePage = { tool: 'overview', name: 'Overview', icon: 'overview', key: 'go.overview' };
export const timelinePage: CorePage = { tool: 'timeline', name: 'Timeline', icon: 'timeline', key: 'go.timeline' };
export const filesPage: CorePage = { tool: 'files', name: 'Files', icon: 'files', key: 'go.files' };

export const laterPlaces: readonly LaterTool[] = [
  { name: 'Monitor', icon: 'monitor', reason: 'Not in this version.' },
  { name: 'Query', icon: 'query', reason: 'Not in this version. `strobe events` filters events in the shell.' },
];
