// The list of sessions as it leaves the page: every session that was fetched, also those that are not in sight.
import type { SessionSummary } from '../api/types';
import type { ExportTable } from '../export/model';
import { formatBytes, formatClock } from '../format/format';
import { stateWords } from '../ui/states';

export function sessionsTable(sessions: readonly SessionSummary[], total: number): ExportTable {
  return {
    title: 'Sessions',
    columns: [
      { id: 'run', label: 'Run', type: 'string' },
      { id: 'session', label: 'Session', type: 'string' },
      { id: 'completeness', label: 'Completeness', type: 'string' },
      { id: 'hosts', label: 'Hosts', type: 'string' },
      { id: 'size_bytes', label: 'Size', type: 'number', whole: true, format: (value) => formatBytes(value as number | null) },
      { id: 'modified_unix_ms', label: 'Written', type: 'number', whole: true, format: (value) => formatClock(value as number | null) },
    ],
    rows: sessions.map((one) => [one.run || null, one.name, stateWords[one.state], one.hosts.join(', ') || null, one.size_bytes, one.modified_unix_ms]),
    totalRows: Math.max(total, sessions.length),
  };
}
