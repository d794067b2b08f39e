// The list of runs as it leaves the page: every run that was fetched, also those that are not in sight.
import type { ExportTable } from '../export/model';
import { formatClock } from '../format/format';
import { labelsText, runState, runTitle, timeOf } from './runs';
import type { Run } from './types';

export function runsTable(runs: readonly Run[]): ExportTable {
  const clock = (value: unknown) => formatClock(value as number | null);
  return {
    title: 'Runs',
    columns: [
      { id: 'run', label: 'Run', type: 'string' },
      { id: 'name', label: 'Name', type: 'string' },
      { id: 'group', label: 'Group', type: 'string' },
      { id: 'state', label: 'State', type: 'string' },
      { id: 'labels', label: 'Labels', type: 'string' },
      { id: 'storage', label: 'Storage', type: 'string' },
      { id: 'begun_unix_ms', label: 'Begun', type: 'number', whole: true, format: clock },
      { id: 'ended_unix_ms', label: 'Ended', type: 'number', whole: true, format: clock },
    ],
    rows: runs.map((run) => [runTitle(run), run.name, run.runSet || null, runState(run.state).word, labelsText(run.labels) || null, run.artifacts?.gcsPath || null, timeOf(run.createTime), timeOf(run.endTime)]),
  };
}
