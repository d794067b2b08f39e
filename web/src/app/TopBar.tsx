import { useState } from 'react';
import { AccountMenu } from '../access/AccountMenu';
import { useMay } from '../access/me';
import { api } from '../api/client';
import type { ServerConfig, SessionDetail, SessionSummary } from '../api/types';
import { openCapture, useCaptures } from '../capture/store';
import { copyPageAsMarkdown, savePageAsHtml } from '../export/page';
import { formatAge, plural, sessionLabel } from '../format/format';
import { keyHint, type KeyId, keyLabel } from '../keys/table';
import { defaultProject } from '../runs/client';
import { matchRoute, navigate, sessionPath, type SessionTool, useLocation } from '../state/router';
import { setTheme, type ThemeChoice, themeChoices, useThemeChoice } from '../theme/theme';
import { Icon, type IconName } from '../ui/Icon';
import { Link } from '../ui/Link';
import { Menu } from '../ui/Menu';
import { copyText } from '../ui/toasts';

const themeNames: Readonly<Record<ThemeChoice, string>> = { system: 'System', light: 'Light', dark: 'Dark', contrast: 'High contrast' };

interface TopBarProps {
  config: ServerConfig | null;
  session: SessionDetail | null;
  sessionId: string | null;
  tool: SessionTool | null;
  onSearch: () => void;
  onHelp: () => void;
  onShare: () => void;
}

export function Mark() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M1.5 3.2h7v2.6h-7zM5 6.7h9.5v2.6H5zM1.5 10.2h5v2.6h-5z" fill="currentColor" />
      <path d="M10 3.2h2.2v2.6H10zM8 10.2h4.4v2.6H8z" fill="currentColor" opacity="0.45" />
    </svg>
  );
}

export function TopBar({ config, session, sessionId, tool, onSearch, onHelp, onShare }: TopBarProps) {
  const mayCapture = useMay('capture');
  const choice = useThemeChoice();
  return (
    <header className="topbar">
      <Link to="/" className="brand" title={keyHint('go.sessions')}>
        <Mark />
        strobe
      </Link>
      <div className="crumbs">{sessionId ? <SessionCrumbs session={session} sessionId={sessionId} tool={tool} /> : <RunCrumbs />}</div>
      <button type="button" className="searchbox" onClick={onSearch} title={keyHint('app.search')}>
        <Icon name="search" />
        <span className="truncate">Search or jump</span>
        <span className="kbd">{keyLabel('app.search')}</span>
      </button>
      <div className="actions">
        <CapturesRunning />
        {mayCapture && (
          <button type="button" className="button primary" onClick={() => openCapture()} title={config?.capture_enabled === false ? 'Capture is switched off on this server' : keyHint('app.capture')}>
            <Icon name="capture" />
            <span className="wide">Capture</span>
          </button>
        )}
        <button type="button" className="button plain" title={keyHint('app.share')} onClick={onShare}>
          <Icon name="share" />
          <span className="wide">Share</span>
        </button>
        <button type="button" className="button plain square" aria-label={keyHint('app.link')} title={keyHint('app.link')} onClick={() => void copyLink()}>
          <Icon name="link" />
        </button>
        <Menu label="Export this page" className="button plain square" align="right" button={<Icon name="download" />}>
          {(close) => (
            <>
              <PageItem label="Save page as HTML" keyId="app.save" icon="download" run={savePageAsHtml} close={close} />
              <PageItem label="Copy page as Markdown" keyId="app.markdown" icon="copy" run={copyPageAsMarkdown} close={close} />
            </>
          )}
        </Menu>
        <Menu label={`Theme: ${themeNames[choice]}`} title={`Theme: ${themeNames[choice]} (${keyLabel('app.theme')})`} className="button plain square" align="right" button={<Icon name={choice} />}>
          {(close) =>
            themeChoices.map((one) => (
              <button
                key={one}
                type="button"
                className="menu-item"
                role="menuitemradio"
                aria-checked={one === choice}
                onClick={() => {
                  setTheme(one);
                  close();
                }}
              >
                <Icon name={one} />
                {themeNames[one]}
              </button>
            ))
          }
        </Menu>
        <button type="button" className="button plain square" aria-label={keyHint('app.help')} title={keyHint('app.help')} onClick={onHelp}>
          <Icon name="help" />
        </button>
        <AccountMenu />
      </div>
    </header>
  );
}

function PageItem({ label, keyId, icon, run, close }: { label: string; keyId: KeyId; icon: IconName; run: () => Promise<void>; close: () => void }) {
  return (
    <button
      type="button"
      className="menu-item"
      role="menuitem"
      onClick={() => {
        close();
        void run();
      }}
    >
      <Icon name={icon} />
      {label}
      <span className="end">
        <span className="kbd">{keyLabel(keyId)}</span>
      </span>
    </button>
  );
}

export function copyLink(): Promise<void> {
  return copyText(window.location.href, 'Link to this view');
}

function RunCrumbs() {
  const route = matchRoute(useLocation());
  if (route.page !== 'run') return null;
  return (
    <>
      <span className="sep">/</span>
      <Link to={route.project === defaultProject ? '/runs' : `/runs?project=${encodeURIComponent(route.project)}`} title="All runs of the project">
        {route.project}
      </Link>
      <span className="sep">/</span>
      <span className="here truncate">{route.id}</span>
    </>
  );
}

function SessionCrumbs({ session, sessionId, tool }: { session: SessionDetail | null; sessionId: string; tool: SessionTool | null }) {
  const [siblings, setSiblings] = useState<SessionSummary[] | null>(null);
  const load = () => {
    setSiblings(null);
    api.sessions({ q: session?.run ?? '', page_size: 200 }).then(
      (list) => setSiblings(list.sessions.filter((one) => !session || one.run === session.run).slice(0, 60)),
      () => setSiblings([]),
    );
  };
  const run = session?.run ?? '';
  return (
    <>
      <span className="sep">/</span>
      {run && (
        <>
          <Link to={`/?q=${encodeURIComponent(run)}`} className="truncate" title={`Sessions of ${run}`}>
            {run}
          </Link>
          <span className="sep">/</span>
        </>
      )}
      <Menu
        label={`${session ? sessionLabel(session.name) : sessionId}: switch session`}
        className="button plain switcher"
        onOpen={load}
        button={
          <>
            <span className="truncate">{session ? sessionLabel(session.name) : sessionId}</span>
            <Icon name="chevron" />
          </>
        }
      >
        {(close) => (
          <>
            <div className="menu-title label">{run ? `Sessions of ${run}` : 'Sessions'}</div>
            {siblings === null && <div className="menu-title muted">Loading</div>}
            {siblings?.length === 0 && <div className="menu-title muted">No other session found.</div>}
            {siblings?.map((one) => (
              <button
                key={one.id}
                type="button"
                className="menu-item"
                role="menuitemradio"
                aria-checked={one.id === sessionId}
                title={one.state_reason ?? undefined}
                onClick={() => {
                  close();
                  navigate(sessionPath(one.id, tool ?? 'overview'));
                }}
              >
                <Icon name={one.id === sessionId ? 'check' : one.state} />
                {sessionLabel(one.name)}
                <span className="end">{formatAge(one.modified_unix_ms, Date.now())}</span>
              </button>
            ))}
          </>
        )}
      </Menu>
    </>
  );
}

function CapturesRunning() {
  const running = useCaptures().filter((operation) => !operation.done);
  const first = running[0];
  if (!first) return null;
  return (
    <button type="button" className="button plain capture-running" onClick={() => openCapture(first.id)} title="Show the running capture">
      <span className="dot" />
      {plural(running.length, 'capture')}
    </button>
  );
}
