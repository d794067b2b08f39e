// The list of runs as the address describes it: order, groups, selection. Plain functions, no page.
import type { Run } from './types';
import { runState } from './runs';

export const sortFields = { name: 'display_name', group: 'run_set', state: 'state', age: 'create_time', ended: 'end_time' } as const;
export type SortField = keyof typeof sortFields;

export interface Sort {
  readonly field: SortField;
  readonly descending: boolean;
}

export const newestFirst: Sort = { field: 'age', descending: true };

// "-age" is descending, as in other lists of the console.
export function parseSort(text: string | null): Sort {
  const descending = text?.startsWith('-') ?? false;
  const field = text?.replace(/^-/, '') ?? '';
  return field in sortFields ? { field: field as SortField, descending } : newestFirst;
}

export function sortText(sort: Sort): string | null {
  if (sort.field === newestFirst.field && sort.descending) return null;
  return (sort.descending ? '-' : '') + sort.field;
}

// A click on a column: the natural way first (new before old, A before Z), then the other way.
export function nextSort(now: Sort, field: SortField): Sort {
  if (now.field === field) return { field, descending: !now.descending };
  return { field, descending: field === 'age' || field === 'ended' };
}

export type Grouping = '' | 'group' | 'state';

export function parseGrouping(text: string | null): Grouping {
  return text === 'group' || text === 'state' ? text : '';
}

// As the server orders: groups first, so that a group is never torn by the end of a page.
export function orderBy(sort: Sort, grouping: Grouping): string {
  const own = `${sortFields[sort.field]}${sort.descending ? ' desc' : ''}`;
  const first = grouping === 'group' ? 'run_set' : grouping === 'state' ? 'state' : '';
  if (!first || first === sortFields[sort.field]) return sort.field === 'age' ? own : `${own}, create_time desc`;
  return sort.field === 'age' ? `${first}, ${own}` : `${first}, ${own}, create_time desc`;
}

export type ListItem =
  | { readonly kind: 'group'; readonly key: string; readonly label: string; readonly count: number; readonly folded: boolean }
  | { readonly kind: 'run'; readonly run: Run };

// Runs that follow each other and share the group become one, below a row that can be folded.
export function groupRuns(runs: readonly Run[], grouping: Grouping, folded: ReadonlySet<string>): ListItem[] {
  if (grouping === '') return runs.map((run) => ({ kind: 'run', run }));
  const items: ListItem[] = [];
  let at = 0;
  while (at < runs.length) {
    const key = groupKey(runs[at]!, grouping);
    let end = at;
    while (end < runs.length && groupKey(runs[end]!, grouping) === key) end += 1;
    const isFolded = folded.has(key);
    items.push({ kind: 'group', key, label: groupLabel(key, grouping), count: end - at, folded: isFolded });
    if (!isFolded) for (const run of runs.slice(at, end)) items.push({ kind: 'run', run });
    at = end;
  }
  return items;
}

function groupKey(run: Run, grouping: Grouping): string {
  return grouping === 'group' ? (run.runSet ?? '') : run.state;
}

function groupLabel(key: string, grouping: Grouping): string {
  if (grouping === 'state') return runState(key).word;
  return key || 'No group';
}

export const mostCompared = 8; // As many curves as can be told apart.

export function toggleSelected(selected: readonly string[], name: string): string[] {
  if (selected.includes(name)) return selected.filter((one) => one !== name);
  return selected.length >= mostCompared ? [...selected] : [...selected, name];
}
