// Filters of the list of runs under a name. They are kept in this browser; an address holds the same, for others.
import { useSyncExternalStore } from 'react';

export interface SavedFilter {
  readonly name: string;
  readonly search: string; // "?state=FAILED&group=llama", as in the address
}

const storageKey = 'strobe.runs.filters';
const mostKept = 50;
const listeners = new Set<() => void>();
let saved: readonly SavedFilter[] | null = null;

export function readSaved(text: string | null): SavedFilter[] {
  try {
    const parsed = JSON.parse(text ?? '[]') as unknown;
    if (!Array.isArray(parsed)) return [];
    return parsed.filter((one): one is SavedFilter => typeof one === 'object' && one !== null && typeof (one as SavedFilter).name === 'string' && typeof (one as SavedFilter).search === 'string').slice(0, mostKept);
  } catch {
    return [];
  }
}

function snapshot(): readonly SavedFilter[] {
  if (saved === null) {
    try {
      saved = readSaved(localStorage.getItem(storageKey));
    } catch {
      saved = [];
    }
  }
  return saved;
}

// False when the browser keeps nothing: the filter then holds for this page only.
function keep(next: readonly SavedFilter[]): boolean {
  saved = next;
  listeners.forEach((listener) => listener());
  try {
    localStorage.setItem(storageKey, JSON.stringify(next));
    return true;
  } catch {
    return false;
  }
}

export function saveFilter(name: string, search: string): boolean {
  const others = snapshot().filter((one) => one.name !== name);
  return keep([...others, { name, search }].sort((a, b) => a.name.localeCompare(b.name)).slice(0, mostKept));
}

export function forgetFilter(name: string): boolean {
  return keep(snapshot().filter((one) => one.name !== name));
}

export function useSavedFilters(): readonly SavedFilter[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, snapshot);
}

// What of the address is the filter: where one is and what is selected is not.
export const filterKeys = ['project', 'q', 'state', 'group', 'since', 'by', 'sort'] as const;

export function filterSearch(search: string): string {
  const query = new URLSearchParams(search);
  const kept = filterKeys.flatMap((key) => {
    const value = query.get(key);
    return value ? [`${key}=${encodeURIComponent(value)}`] : [];
  });
  return kept.length > 0 ? '?' + kept.join('&') : '';
}
