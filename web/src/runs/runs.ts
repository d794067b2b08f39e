// Names, words and filters of runs: plain functions, no page.
import { formatDuration, plural } from '../format/format';
import type { RunKey } from './client';
import type { Run, RunSession, RunState } from './types';

export type ChipTone = 'complete' | 'damaged' | 'writing' | 'partial' | 'empty' | 'unread';

export interface StateWord {
  readonly word: string;
  readonly tone: ChipTone;
}

const runStates: Readonly<Record<RunState, StateWord>> = {
  STATE_ACTIVE: { word: 'Running', tone: 'writing' },
  STATE_COMPLETED: { word: 'Completed', tone: 'complete' },
  STATE_FAILED: { word: 'Failed', tone: 'damaged' },
};

export function runState(state: string): StateWord {
  return runStates[state as RunState] ?? { word: state, tone: 'unread' };
}

const sessionStates: Readonly<Record<string, StateWord>> = {
  PENDING: { word: 'Waiting', tone: 'writing' },
  ACTIVE: { word: 'Capturing', tone: 'writing' },
  SUCCEEDED: { word: 'Captured', tone: 'complete' },
  FAILED: { word: 'Failed', tone: 'damaged' },
  CANCELLED: { word: 'Cancelled', tone: 'empty' },
};

// Of the capture alone; what was found of it is `completeness`.
export function captureState(session: RunSession): StateWord {
  return sessionStates[session.state] ?? { word: session.state, tone: 'unread' };
}

export interface HostCount {
  readonly received: number;
  readonly expected: number | null; // Null: nobody said how many took part.
}

// A session that a run announced names the targets that were to deliver.
export function hostCount(session: RunSession): HostCount {
  const expected = Object.keys(session.targetSessions ?? {}).length;
  return { received: session.hosts?.length ?? 0, expected: expected > 0 ? expected : null };
}

const judgements: Readonly<Record<string, StateWord>> = {
  complete: { word: 'Complete', tone: 'complete' },
  partial: { word: 'Partial', tone: 'partial' },
  damaged: { word: 'Damaged', tone: 'damaged' },
  empty: { word: 'Empty', tone: 'empty' },
  writing: { word: 'Being written', tone: 'writing' },
  unread: { word: 'Not read yet', tone: 'unread' },
};

// What there is of a session in storage; null while nothing was found.
export function completeness(session: RunSession): StateWord | null {
  if (session.completeness === undefined) return null;
  const judged = judgements[session.completeness] ?? { word: session.completeness, tone: 'unread' as const };
  const { received, expected } = hostCount(session);
  if (expected === null || received >= expected) return judged;
  return { word: `${received}/${plural(expected, 'host')}`, tone: 'partial' };
}

const kinds: Readonly<Record<string, string>> = {
  KIND_ON_DEMAND: 'On demand',
  KIND_PROGRAMMATIC: 'By the program',
  KIND_SCANNED: 'Found',
  KIND_SNAPSHOT: 'Snapshot',
};

export function kindWord(kind: string | undefined): string {
  return kind ? (kinds[kind] ?? kind) : '';
}

// "PERFORMANCE_DEGRADATION" -> "Performance degradation"
export function wordsOf(constant: string): string {
  const text = constant.replace(/^(TYPE|RUN_PHASE|STATE)_/, '').toLowerCase().replaceAll('_', ' ');
  return text === '' ? '' : text[0]!.toUpperCase() + text.slice(1);
}

export function keyOf(name: string): RunKey {
  const parts = name.split('/');
  return { project: parts[1] ?? '', location: parts[3] ?? '', id: parts[5] ?? '' };
}

// "local/r1,local/r2" of an address. What cannot be read is left out.
export function parseRunKeys(text: string | null, project: string): RunKey[] {
  return (text ?? '').split(',').flatMap((one) => {
    const slash = one.indexOf('/');
    return slash > 0 && slash < one.length - 1 ? [{ project, location: one.slice(0, slash), id: one.slice(slash + 1) }] : [];
  });
}

export function nameOfKey(key: RunKey): string {
  return `projects/${key.project}/locations/${key.location}/machineLearningRuns/${key.id}`;
}

export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

export function runTitle(run: Run): string {
  return run.displayName || lastPart(run.name);
}

export function runAddress(key: RunKey, search = ''): string {
  return `/runs/${[key.project, key.location, key.id].map(encodeURIComponent).join('/')}${search}`;
}

// The page of this console under which the server shows a session; null when it shows none.
export function sessionAddress(session: RunSession): string | null {
  if (!session.dashboardUri) return null;
  try {
    const found = /\/s\/([^/?#]+)/.exec(new URL(session.dashboardUri).pathname);
    return found ? `/s/${found[1]}/overview` : null;
  } catch {
    return null;
  }
}

export function timeOf(text: string | undefined): number | null {
  if (!text) return null;
  const ms = Date.parse(text);
  return Number.isFinite(ms) && ms > 0 ? ms : null; // An unset end is the year 1 or 1970.
}

export function runDuration(run: Run, nowMs: number): string {
  const begin = timeOf(run.createTime);
  if (begin === null) return '';
  return formatDuration(Math.max(0, (timeOf(run.endTime) ?? nowMs) - begin));
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

export interface RunFilter {
  readonly text: string;
  readonly state: string; // '' for all
  readonly group: string;
  readonly sinceMs?: number | null; // Begun after that time.
}

// In the filter language of the server.
export function filterText({ text, state, group, sinceMs = null }: RunFilter): string {
  const parts = [];
  if (text.trim()) {
    const word = quoted(text.trim());
    parts.push(`(display_name:${word} OR run_id:${word} OR run_set:${word} OR gcs_path:${word})`);
  }
  if (state) parts.push(`state = ${state}`);
  if (group) parts.push(`run_set = ${quoted(group)}`);
  if (sinceMs !== null) parts.push(`create_time > ${quoted(new Date(sinceMs).toISOString())}`);
  return parts.join(' AND ');
}

export interface ConfigRow {
  readonly section: string;
  readonly key: string;
  readonly value: string;
}

export function configRows(run: Run): ConfigRow[] {
  const sections: readonly (readonly [string, Readonly<Record<string, string>> | undefined])[] = [
    ['User', run.configs?.userConfigs],
    ['Software', run.configs?.softwareConfigs],
    ['Hardware', run.configs?.hardwareConfigs],
    ['Label', run.labels],
  ];
  return sections.flatMap(([section, values]) =>
    Object.entries(values ?? {})
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, value]) => ({ section, key, value: String(value) })),
  );
}

// "team=vision, owner=ann" <-> { team: 'vision', owner: 'ann' }; null when it cannot be read.
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

export function parseLabels(text: string): Record<string, string> | null {
  const labels: Record<string, string> = {};
  for (const part of text.split(',').map((one) => one.trim()).filter(Boolean)) {
    const at = part.indexOf('=');
    if (at <= 0) return null;
    labels[part.slice(0, at).trim()] = part.slice(at + 1).trim();
  }
  return labels;
}
