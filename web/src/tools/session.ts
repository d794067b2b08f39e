// What every tool page needs to know of the session it shows, and the loading of answers: each question is asked once and kept
// for the next page that needs it; a question that nobody waits for any more is given up.
import { createContext, useContext, useMemo } from 'react';
import { type Resource, useResource } from '../ui/useResource';
import { useUrlKey } from '../state/url';
import { isAbort } from '../api/client';
import { askText, askTool, compareSessions, toolSearch, type ToolQuery, type WireComparison } from './client';
import type { ToolAnswer, ToolInfo } from './types';

export interface ToolSession {
  readonly sessionId: string;
  readonly runName: string; // As XProf's routes name it: <run>/<session>; empty while not known.
  readonly reloads: number; // Counts up when the reader takes the session's new data.
  readonly tools: readonly ToolInfo[] | null;
  readonly allHosts: readonly string[];
  readonly ready: boolean; // The server has read enough to be asked.
}

const empty: ToolSession = { sessionId: '', runName: '', reloads: 0, tools: null, allHosts: [], ready: false };
export const ToolSessionContext = createContext<ToolSession>(empty);
export const useToolSession = () => useContext(ToolSessionContext);

// ---- a small store of answers ------------------------------------------------------------------------------------------

interface Entry {
  readonly promise: Promise<unknown>;
  readonly abort: AbortController;
  waiting: number;
  settled: boolean;
}

const mostKept = 24; // Answers; the one used longest ago goes first.
const entries = new Map<string, Entry>();

export function forgetAnswers(): void {
  entries.clear();
}

export function once<T>(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  let entry = entries.get(key);
  if (!entry) {
    const abort = new AbortController();
    const fresh: Entry = { promise: ask(abort.signal), abort, waiting: 0, settled: false };
    fresh.promise.then(
      () => (fresh.settled = true),
      () => {
        fresh.settled = true;
        if (entries.get(key) === fresh) entries.delete(key);
      },
    );
    entry = fresh;
  } else {
    entries.delete(key);
  }
  entries.set(key, entry);
  for (const old of entries.keys()) {
    if (entries.size <= mostKept) break;
    if (entries.get(old)!.settled) entries.delete(old);
    else break;
  }
  return waitFor(key, entry, signal) as Promise<T>;
}

async function waitFor(key: string, entry: Entry, signal: AbortSignal): Promise<unknown> {
  entry.waiting++;
  const leave = () => {
    entry.waiting--;
    if (entry.waiting > 0 || entry.settled) return;
    if (entries.get(key) === entry) entries.delete(key);
    entry.abort.abort();
  };
  signal.addEventListener('abort', leave);
  try {
    return await entry.promise;
  } catch (error) {
    if (signal.aborted && !isAbort(error)) throw new DOMException('No longer asked for', 'AbortError');
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
    if (!signal.aborted) entry.waiting--;
  }
}

// ---- hooks ---------------------------------------------------------------------------------------------------------------

// The hosts chosen in the context bar; empty: all.
export function useChosenHosts(): string {
  return useUrlKey('h') ?? '';
}

export function useHostQuery(tool: ToolInfo | null, options: Readonly<Record<string, string>>): ToolQuery {
  const chosen = useChosenHosts();
  const hosts = tool === null || tool.scope === 'all_hosts' ? '' : tool.scope === 'one_host' ? (chosen.split(',')[0] ?? '') : chosen;
  const spelled = JSON.stringify(options);
  return useMemo(() => ({ hosts, options: JSON.parse(spelled) as Record<string, string> }), [hosts, spelled]);
}

export function useToolAnswer(tool: string | null, query: ToolQuery, sessionId?: string): Resource<ToolAnswer> {
  const session = useToolSession();
  const id = sessionId ?? session.sessionId;
  const key = tool !== null && session.ready ? `${id}/${session.reloads}/${tool}${toolSearch(query)}` : null;
  return useResource(key, (signal) => once(key!, signal, (inner) => askTool(id, tool!, query, { signal: inner })));
}

export function useToolText(tool: string | null, query: ToolQuery): Resource<string> {
  const session = useToolSession();
  const key = tool !== null && session.ready ? `text/${session.sessionId}/${session.reloads}/${tool}${toolSearch(query)}` : null;
  return useResource(key, (signal) => once(key!, signal, (inner) => askText(session.sessionId, tool!, query, { signal: inner })));
}

export function useComparison(baseline: string | null, tool: string, table: string | null, query: ToolQuery): Resource<WireComparison> {
  const session = useToolSession();
  const key = baseline && table !== null && session.ready ? `compare/${baseline}/${session.sessionId}/${session.reloads}/${tool}/${table}${toolSearch(query)}` : null;
  return useResource(key, (signal) => once(key!, signal, (inner) => compareSessions(baseline!, session.sessionId, tool, table!, query, { signal: inner })));
}
