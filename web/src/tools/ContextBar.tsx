// The bar that follows the reader over all tools: the baseline to compare with and the hosts to look at. Both are in the address.
import { useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../api/client';
import type { SessionDetail, SessionSummary } from '../api/types';
import { formatAge, plural, sessionLabel } from '../format/format';
import { keyHint } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { navigate, sessionPath, type SessionTool } from '../state/router';
import { mergeSearch, pushKeys, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { useResource } from '../ui/useResource';

interface ContextBarProps {
  sessionId: string;
  tool: SessionTool;
  detail: SessionDetail | null;
  hosts: readonly string[];
}

export function ContextBar({ sessionId, tool, detail, hosts }: ContextBarProps) {
  const baseline = useUrlKey('b');
  const chosen = useUrlKey('h');
  const baselineButton = useRef<HTMLDivElement>(null);
  const hostButton = useRef<HTMLDivElement>(null);
  const press = (box: React.RefObject<HTMLDivElement | null>) => box.current?.querySelector<HTMLButtonElement>('button')?.click();
  const swap = () => {
    if (baseline) navigate(sessionPath(baseline, tool, mergeSearch(window.location.search, { b: sessionId, row: null, op: null })));
  };
  useKeys({
    'context.baseline': () => press(baselineButton),
    'context.hosts': () => press(hostButton),
    'context.swap': () => (baseline ? swap() : false),
  });
  return (
    <div className="context-bar" role="toolbar" aria-label="Context of all tools">
      <div ref={baselineButton}>
        <Baseline sessionId={sessionId} detail={detail} baseline={baseline} />
      </div>
      {baseline && (
        <button type="button" className="button plain small" title={keyHint('context.swap')} onClick={swap}>
          Swap
        </button>
      )}
      <div ref={hostButton}>
        <Hosts hosts={hosts} chosen={chosen} />
      </div>
      {(baseline || chosen) && (
        <button type="button" className="button plain small" onClick={() => pushKeys({ b: null, h: null })}>
          Reset
        </button>
      )}
    </div>
  );
}

function Baseline({ sessionId, detail, baseline }: { sessionId: string; detail: SessionDetail | null; baseline: string | null }) {
  const [choices, setChoices] = useState<readonly SessionSummary[] | null>(null);
  const named = useResource(baseline ? `baseline/${baseline}` : null, (signal) => api.session(baseline!, { signal }));
  const load = () => {
    setChoices(null);
    api.sessions({ page_size: 500 }).then(
      (list) => setChoices(rankBaselines(list.sessions, sessionId, detail?.run ?? '', detail?.modified_unix_ms ?? 0)),
      () => setChoices([]),
    );
  };
  const label = baseline === null ? 'none' : named.value ? sessionLabel(named.value.name) : named.error ? 'not found' : '…';
  return (
    <Menu
      label={`Baseline ${label}`}
      title={keyHint('context.baseline')}
      className={baseline ? 'button small context-choice set' : 'button plain small context-choice'}
      onOpen={load}
      button={
        <>
          <span className="muted">Baseline</span>{' '}
          <span className="truncate">{label}</span>
          <Icon name="chevron" />
        </>
      }
    >
      {(close) => <BaselineChoices choices={choices} baseline={baseline} run={detail?.run ?? ''} onChoose={(id) => { close(); pushKeys({ b: id }); }} />}
    </Menu>
  );
}

function BaselineChoices({ choices, baseline, run, onChoose }: { choices: readonly SessionSummary[] | null; baseline: string | null; run: string; onChoose: (id: string | null) => void }) {
  const box = useRef<HTMLDivElement>(null);
  // The choices arrive after the menu is open: Enter must take the first of them.
  useEffect(() => {
    if (choices) (box.current?.querySelector<HTMLElement>('[aria-checked="true"]') ?? box.current?.querySelector<HTMLElement>('.menu-item'))?.focus();
  }, [choices]);
  return (
    <div ref={box}>
      <div className="menu-title label">Compare this session with</div>
      {choices === null && <div className="menu-title muted">Loading</div>}
      {choices?.length === 0 && <div className="menu-title muted">There is no other session.</div>}
      {choices?.map((one) => (
        <button key={one.id} type="button" className="menu-item" role="menuitemradio" aria-checked={one.id === baseline} title={one.path} onClick={() => onChoose(one.id)}>
          <Icon name={one.id === baseline ? 'check' : one.state} />
          <span className="truncate">
            {one.run !== run && one.run ? `${one.run} / ` : ''}
            {sessionLabel(one.name)}
          </span>
          <span className="end">{formatAge(one.modified_unix_ms, Date.now())}</span>
        </button>
      ))}
      {baseline && (
        <button type="button" className="menu-item" role="menuitem" onClick={() => onChoose(null)}>
          <Icon name="close" />
          No baseline
        </button>
      )}
    </div>
  );
}

const mostBaselines = 60;

// The session before this one in the same run first, then the rest of the run, then the others, newest first.
export function rankBaselines(sessions: readonly SessionSummary[], own: string, run: string, ownTimeMs: number): SessionSummary[] {
  const rank = (one: SessionSummary) => (one.run === run ? (one.modified_unix_ms <= ownTimeMs ? 0 : 1) : 2);
  return sessions
    .filter((one) => one.id !== own && one.state !== 'damaged' && one.state !== 'empty')
    .sort((a, b) => rank(a) - rank(b) || b.modified_unix_ms - a.modified_unix_ms)
    .slice(0, mostBaselines);
}

function Hosts({ hosts, chosen }: { hosts: readonly string[]; chosen: string | null }) {
  const set = useMemo(() => new Set(chosen ? chosen.split(',') : []), [chosen]);
  const all = set.size === 0 || hosts.every((host) => set.has(host));
  const label = all ? (hosts.length === 1 ? hosts[0]! : `all ${plural(hosts.length, 'host')}`) : set.size === 1 ? [...set][0]! : `${set.size} of ${plural(hosts.length, 'host')}`;
  const write = (next: ReadonlySet<string>) => pushKeys({ h: next.size === 0 || next.size === hosts.length ? null : hosts.filter((host) => next.has(host)).join(',') });
  if (hosts.length === 0) return null;
  return (
    <Menu
      label={`Hosts ${label}`}
      title={keyHint('context.hosts')}
      className={all ? 'button plain small context-choice' : 'button small context-choice set'}
      button={
        <>
          <span className="muted">Hosts</span>{' '}
          <span className="truncate">{label}</span>
          <Icon name="chevron" />
        </>
      }
    >
      {(close) => (
        <>
          <button type="button" className="menu-item" role="menuitemradio" aria-checked={all} onClick={() => { write(new Set()); close(); }}>
            <span className="menu-check">{all && <Icon name="check" />}</span>
            All hosts, combined
          </button>
          {hosts.map((host) => {
            const on = !all && set.has(host);
            return (
              <button
                key={host}
                type="button"
                className="menu-item"
                role="menuitemcheckbox"
                aria-checked={on}
                onClick={() => {
                  const next = new Set(all ? [] : set);
                  if (on) next.delete(host);
                  else next.add(host);
                  write(next);
                }}
              >
                <span className="menu-check">{on && <Icon name="check" />}</span>
                {host}
              </button>
            );
          })}
        </>
      )}
    </Menu>
  );
}
