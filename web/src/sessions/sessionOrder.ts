// Order and filter of the list of sessions, over what one answer of the server holds. The address says it: `sort=-size&state=partial`.
import type { SessionState, SessionSummary } from '../api/types';

export type SortField = 'run' | 'name' | 'state' | 'hosts' | 'size' | 'age';

export interface Sort {
  readonly field: SortField;
  readonly descending: boolean;
}

const states: readonly SessionState[] = ['damaged', 'partial', 'empty', 'writing', 'unread', 'complete']; // What needs a look first.

export const stateChoices = [
  { value: '', label: 'Every state' },
  { value: 'complete', label: 'Complete' },
  { value: 'partial', label: 'Partial' },
  { value: 'damaged', label: 'Damaged' },
  { value: 'empty', label: 'Empty' },
  { value: 'writing', label: 'Being written' },
  { value: 'unread', label: 'Not read yet' },
];

const compare: Readonly<Record<SortField, (a: SessionSummary, b: SessionSummary) => number>> = {
  run: (a, b) => a.run.localeCompare(b.run),
  name: (a, b) => a.name.localeCompare(b.name),
  state: (a, b) => states.indexOf(a.state) - states.indexOf(b.state),
  hosts: (a, b) => a.host_count - b.host_count,
  size: (a, b) => a.size_bytes - b.size_bytes,
  age: (a, b) => b.modified_unix_ms - a.modified_unix_ms, // The youngest has the smallest age.
};

// Null: as the server lists them, newest first.
export function parseSort(text: string | null): Sort | null {
  const descending = text?.startsWith('-') ?? false;
  const field = text?.replace(/^-/, '') ?? '';
  if (!(field in compare)) return null;
  const sort = { field: field as SortField, descending };
  return sort.field === 'age' && !sort.descending ? null : sort;
}

export function sortText(sort: Sort): string | null {
  if (sort.field === 'age' && !sort.descending) return null;
  return (sort.descending ? '-' : '') + sort.field;
}

// Large before small for amounts, A before Z for names; the second click turns it round.
export function nextSort(now: Sort, field: SortField): Sort {
  if (now.field === field) return { field, descending: !now.descending };
  return { field, descending: field === 'size' || field === 'hosts' };
}

export function arrange(sessions: readonly SessionSummary[], sort: Sort | null, state: string): readonly SessionSummary[] {
  const kept = state ? sessions.filter((one) => one.state === state) : sessions;
  if (!sort) return kept;
  const sign = sort.descending ? -1 : 1;
  return [...kept].sort((a, b) => sign * compare[sort.field](a, b) || compare.age(a, b));
}
