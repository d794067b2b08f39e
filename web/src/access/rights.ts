// Who may do what, as the server told it in /api/v1/me: what is shown follows from it, so that nobody sees a control that would be
// refused. The server decides anyway.
import type { Me, Right } from './types';

export const everyProject = '*';

// In one project, or (without one) in any.
export function mayDo(me: Me | null, right: Right, project?: string): boolean {
  if (!me) return false; // Not known yet.
  if (me.kind === 'local') return true;
  const { everywhere = [], projects = {} } = me.rights ?? {};
  if (everywhere.includes(right)) return true;
  if (project === everyProject) return false;
  if (project !== undefined) return projects[project]?.includes(right) ?? false;
  return Object.values(projects).some((some) => some.includes(right));
}

// The projects in which one has the right by name; those of a role everywhere are not known from it.
export function projectsWith(me: Me | null, right: Right): string[] {
  return Object.entries(me?.rights?.projects ?? {})
    .filter(([, some]) => some.includes(right))
    .map(([project]) => project)
    .sort();
}

export const signedIn = (me: Me | null): boolean => me?.kind === 'user' || me?.kind === 'service';
export const accessIsOn = (me: Me | null): boolean => me !== null && me.kind !== 'local';

// "user:ada" -> "ada"
export function shortName(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1);
}

export const roles = ['viewer', 'editor', 'admin', 'analysis-reader'] as const;
export const roleMeaning: Readonly<Record<string, string>> = {
  viewer: 'Looks at runs and profiles',
  editor: 'Also changes runs, captures, uploads and shares',
  admin: 'Also gives roles and opens links to anyone',
  'analysis-reader': 'Reads analysis reports, and nothing else',
};

export const rightWords: Readonly<Record<Right, string>> = {
  view: 'look',
  edit: 'change and share',
  capture: 'capture',
  'analysis.read': 'read reports',
  admin: 'administer',
};

// A text as the server's filter language quotes it.
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

// Rows that have the word in one of the fields.
export function containsFilter(word: string, fields: readonly string[]): string {
  const text = word.trim();
  return text ? '(' + fields.map((field) => `${field}:${quoted(text)}`).join(' OR ') + ')' : '';
}

export function joinFilters(...parts: readonly string[]): string {
  return parts.filter(Boolean).join(' AND ');
}
