// The tools of a session, in rail order. A tool that is not there yet stays in the rail, dimmed, with its reason.
import type { KeyId } from '../keys/table';
import type { SessionTool } from '../state/router';
import type { IconName } from '../ui/Icon';

export interface LiveTool {
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

export const liveTools: readonly LiveTool[] = [
  { tool: 'overview', name: 'Overview', icon: 'overview', key: 'go.overview' },
  { tool: 'timeline', name: 'Timeline', icon: 'timeline', key: 'go.timeline' },
  { tool: 'files', name: 'Files', icon: 'files', key: 'go.files' },
];

export const laterTools: readonly LaterTool[] = [
  { name: 'Ops', icon: 'ops', reason: 'Not in this version. The top operations are on the overview.' },
  { name: 'Memory', icon: 'memory', reason: 'Not in this version. Memory events are on the timeline.' },
  { name: 'Comms', icon: 'comms', reason: 'Not in this version. Collectives are on the timeline.' },
  { name: 'Input', icon: 'input', reason: 'Not in this version. Host threads are on the timeline.' },
  { name: 'Roofline', icon: 'roofline', reason: 'Not in this version. Event details show FLOPs and bytes.' },
  { name: 'Graph', icon: 'graph', reason: 'Not in this version. Event details show the HLO text.' },
  { name: 'Counters', icon: 'counters', reason: 'Not in this version. Counter lines are on the timeline.' },
  { name: 'Report', icon: 'report', reason: 'Not in this version.' },
];

export const laterPlaces: readonly LaterTool[] = [
  { name: 'Compare', icon: 'comms', reason: 'Not in this version. Open two sessions in two tabs.' },
  { name: 'Monitor', icon: 'monitor', reason: 'Not in this version.' },
  { name: 'Query', icon: 'query', reason: 'Not in this version. `strobe events` filters events in the shell.' },
];
