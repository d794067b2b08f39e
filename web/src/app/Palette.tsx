// One box for finding sessions and doing things: type, arrows, Enter.
import { useEffect, useMemo, useRef, useState } from 'react';
import { useMay, useMe } from '../access/me';
import { accessIsOn } from '../access/rights';
import { api, isAbort, type ApiError, toApiError } from '../api/client';
import type { SessionSummary } from '../api/types';
import { openCapture } from '../capture/store';
import { copyPageAsMarkdown, savePageAsHtml } from '../export/page';
import { formatAge, sessionLabel } from '../format/format';
import { type KeyId, keyLabel } from '../keys/table';
import { contextSearch, navigate, sessionPath } from '../state/router';
import { nextTheme } from '../theme/theme';
import { Dialog } from '../ui/Dialog';
import { Icon, type IconName } from '../ui/Icon';
import { overviewPage, timelinePage, filesPage } from './tools';
import { toolGroups } from '../tools/catalog';
import { copyLink } from './TopBar';

interface Item {
  readonly id: string;
  readonly icon: IconName;
  readonly text: string;
  readonly detail?: string;
  readonly key?: KeyId;
  readonly run: () => void;
}

const places = [overviewPage, timelinePage]
  .map((page) => ({ id: page.tool, name: page.name, icon: page.icon, key: page.key }))
  .concat(toolGroups.map((group) => ({ id: group.id, name: group.name, icon: group.icon, key: group.key })))
  .concat([{ id: filesPage.tool, name: filesPage.name, icon: filesPage.icon, key: filesPage.key }]);

interface PaletteProps {
  sessionId: string | null;
  onHelp: () => void;
  onShare: () => void;
  onClose: () => void;
}

const mostSessions = 12;
const restBeforeAskMs = 80;

export function Palette({ sessionId, onHelp, onShare, onClose }: PaletteProps) {
  const mayCapture = useMay('capture');
  const mayAdminister = useMay('admin');
  const accounts = accessIsOn(useMe());
  const [text, setText] = useState('');
  const [sessions, setSessions] = useState<SessionSummary[]>([]);
  const [error, setError] = useState<ApiError | null>(null);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.sessions({ q: text.trim(), page_size: mostSessions }, { signal: abort.signal }).then(
        (answer) => {
          setSessions(answer.sessions);
          setError(null);
        },
        (fault) => !isAbort(fault) && setError(toApiError(fault)),
      );
    }, restBeforeAskMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);

  const commands = useMemo<Item[]>(() => {
    const all: Item[] = [
      ...(sessionId ? places.map((place) => ({ ...place, text: `Go to ${place.name.toLowerCase()}`, run: () => navigate(sessionPath(sessionId, place.id, contextSearch(window.location.search))) })) : []),
      { id: 'sessions', icon: 'sessions', text: 'Go to sessions', key: 'go.sessions', run: () => navigate('/') },
      { id: 'runs', icon: 'runs', text: 'Go to runs', key: 'go.runs', run: () => navigate('/runs') },
      ...(mayCapture ? [{ id: 'capture', icon: 'capture' as const, text: 'Capture a profile', key: 'app.capture' as const, run: () => openCapture() }] : []),
      ...(mayAdminister ? [{ id: 'admin', icon: 'admin' as const, text: 'Go to administration', key: 'go.admin' as const, run: () => navigate('/admin') }] : []),
      ...(accounts ? [{ id: 'account', icon: 'user' as const, text: 'Go to your account and tokens', run: () => navigate('/account') }] : []),
      { id: 'share', icon: 'share', text: 'Share this page', key: 'app.share', run: onShare },
      { id: 'link', icon: 'link', text: 'Copy a link to this view', key: 'app.link', run: () => void copyLink() },
      { id: 'save', icon: 'download', text: 'Save this page as HTML', key: 'app.save', run: () => void savePageAsHtml() },
      { id: 'markdown', icon: 'copy', text: 'Copy this page as Markdown', key: 'app.markdown', run: () => void copyPageAsMarkdown() },
      { id: 'theme', icon: 'contrast', text: 'Next theme', key: 'app.theme', run: nextTheme },
      { id: 'help', icon: 'help', text: 'Show all keys', key: 'app.help', run: onHelp },
    ];
    const words = text.trim().toLowerCase().split(/\s+/);
    return all.filter((item) => words.every((word) => item.text.toLowerCase().includes(word)));
  }, [text, sessionId, onHelp, onShare, mayCapture, mayAdminister, accounts]);

  const found: Item[] = sessions.map((one) => ({
    id: one.id,
    icon: one.state,
    text: one.run ? `${one.run}  ${sessionLabel(one.name)}` : sessionLabel(one.name),
    detail: formatAge(one.modified_unix_ms, Date.now()),
    run: () => navigate(sessionPath(one.id, 'overview')),
  }));
  const items = text.trim() ? [...found, ...commands] : [...commands, ...found];
  const groups = text.trim() ? [['Sessions', found] as const, ['Commands', commands] as const] : [['Commands', commands] as const, ['Recent sessions', found] as const];
  const current = Math.min(at, items.length - 1);

  const choose = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    item.run();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && items.length > 0) {
      event.preventDefault();
      const next = (current + step + items.length) % items.length;
      setAt(next);
      list.current?.querySelectorAll('[role="option"]')[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(items[current]);
    }
  };

  return (
    <Dialog title="Search or jump" onClose={onClose} width={600} bare top>
      <div className="palette-input">
        <Icon name="search" />
        <input
          data-autofocus
          value={text}
          placeholder="Session, run, host or command"
          role="combobox"
          aria-label="Search or jump"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={items[current] ? `palette-${items[current].id}` : undefined}
          spellCheck={false}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <span className="kbd">{keyLabel('app.close')}</span>
      </div>
      <div className="palette-list" id="palette-list" role="listbox" aria-label="Results" ref={list}>
        {groups.map(([title, group]) =>
          group.length === 0 ? null : (
            <div key={title} role="group" aria-label={title}>
              <div className="label">{title}</div>
              {group.map((item) => {
                const selected = items[current] === item;
                return (
                  <div key={item.id} id={`palette-${item.id}`} role="option" aria-selected={selected} className="palette-item" onMouseMove={() => setAt(items.indexOf(item))} onClick={() => choose(item)}>
                    <Icon name={item.icon} />
                    <span className="truncate">{item.text}</span>
                    <span className="end">{item.detail ?? (item.key ? <span className="kbd">{keyLabel(item.key)}</span> : null)}</span>
                  </div>
                );
              })}
            </div>
          ),
        )}
        {items.length === 0 && <div className="palette-none">{error ? error.body.message : `Nothing is called "${text.trim()}".`}</div>}
      </div>
    </Dialog>
  );
}
