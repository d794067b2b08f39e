// Picks the page for the address and holds what all pages share: top bar, dialogs, toasts, the banner for a lost connection.
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { MeProvider, useMay, useMe } from '../access/me';
import { signedIn } from '../access/rights';
import { api } from '../api/client';
import type { SessionDetail } from '../api/types';
import { CaptureDialog } from '../capture/CaptureDialog';
import { openCapture, resumeCaptures, useCaptureDialog } from '../capture/store';
import { copyPageAsMarkdown, savePageAsHtml } from '../export/page';
import { useKeys } from '../keys/useKeys';
import { RunPage } from '../runs/RunPage';
import { RunsPage } from '../runs/RunsPage';
import { SessionsPage } from '../sessions/SessionsPage';
import { matchRoute, navigate, type Route, useLocation } from '../state/router';
import { useVisible } from '../state/url';
import { Skeleton } from '../ui/states';
import { nextTheme } from '../theme/theme';
import { ToastStack } from '../ui/ToastStack';
import { useResource } from '../ui/useResource';
import { ConnectionBanner } from './ConnectionBanner';
import { ErrorBoundary } from './ErrorBoundary';
import { HelpDialog } from './HelpDialog';
import { LostPage } from './LostPage';
import { Palette } from './Palette';
import { HomeRail } from './Rail';
import { SessionShell } from './SessionShell';
import { copyLink, TopBar } from './TopBar';
import './shell.css';

const AdminPage = lazy(() => import('../admin/AdminPage'));
const AccountPage = lazy(() => import('../admin/AccountPage'));
const ShareDialog = lazy(() => import('../share/ShareDialog'));
// Spelled out here, so that the bundler sees that a production build never asks for it.
const GalleryPage = import.meta.env.MODE !== 'production' ? lazy(() => import('../gallery/GalleryPage')) : null;

const foldKey = 'strobe.rail';

function useFold(): [boolean, () => void] {
  const [folded, setFolded] = useState(() => {
    try {
      return localStorage.getItem(foldKey) === 'folded';
    } catch {
      return false;
    }
  });
  const toggle = useCallback(() => {
    setFolded((old) => {
      try {
        localStorage.setItem(foldKey, old ? 'open' : 'folded');
      } catch {
        // Kept for this page only.
      }
      return !old;
    });
  }, []);
  return [folded, toggle];
}

function sessionOf(route: Route): string | null {
  return route.page === 'session' || route.page === 'unknown_tool' ? route.sessionId : null;
}

export function App() {
  const { page } = matchRoute(useLocation());
  if (page === 'gallery' && GalleryPage) {
    return (
      <Suspense fallback={null}>
        <GalleryPage />
      </Suspense>
    );
  }
  return (
    <MeProvider>
      <Shell />
    </MeProvider>
  );
}

function Shell() {
  const me = useMe();
  const mayCapture = useMay('capture');
  const location = useLocation();
  const route = matchRoute(location);
  const [folded, toggleFold] = useFold();
  const [layer, setLayer] = useState<'help' | 'palette' | 'share' | null>(null);
  const [detail, setDetail] = useState<SessionDetail | null>(null);
  const [count, setCount] = useState<number | null>(null);
  const dialog = useCaptureDialog();
  const config = useResource('config', (signal) => api.config({ signal })).value;
  const sessionId = sessionOf(route);
  const tool = route.page === 'session' ? route.tool : null;
  const redirect = route.page === 'redirect' ? route.to : null;
  const closeLayer = useCallback(() => setLayer(null), []);
  const showHelp = useCallback(() => setLayer('help'), []);
  const share = useCallback(() => setLayer('share'), []);

  useEffect(() => {
    if (redirect) navigate(redirect, { replace: true });
  }, [redirect]);
  const visible = useVisible();
  // Who only came by a link has no captures, and would be sent to sign in for asking.
  const hasCaptures = me?.kind === 'local' || signedIn(me);
  useEffect(() => {
    if (visible && hasCaptures) void resumeCaptures();
  }, [visible, hasCaptures]);

  useKeys({
    'app.search': () => setLayer('palette'),
    'app.help': showHelp,
    'app.theme': nextTheme,
    'app.rail': toggleFold,
    'app.capture': () => {
      if (!mayCapture) return false;
      openCapture();
      return true;
    },
    'app.link': () => void copyLink(),
    'app.share': share,
    'app.save': () => void savePageAsHtml(),
    'app.markdown': () => void copyPageAsMarkdown(),
    'go.sessions': () => navigate('/'),
    'go.runs': () => navigate('/runs'),
    'go.admin': () => navigate('/admin'),
  });

  const session = detail && detail.id === sessionId ? detail : null;
  return (
    <div className={folded ? 'shell folded' : 'shell'}>
      <a className="button primary skip" href="#page" onClick={skipToPage}>
        Skip to the page
      </a>
      <TopBar config={config} session={session} sessionId={sessionId} tool={tool} onSearch={() => setLayer('palette')} onHelp={showHelp} onShare={share} />
      {sessionId !== null ? (
        <SessionShell key={sessionId} sessionId={sessionId} tool={tool} unknownTool={route.page === 'unknown_tool' ? route.tool : null} folded={folded} onFold={toggleFold} onDetail={setDetail} />
      ) : (
        <>
          <HomeRail page={route.page} count={count} folded={folded} onFold={toggleFold} />
          <main className="main">
            <ConnectionBanner />
            {route.page === 'not_found' ? (
              <LostPage title="There is no such page">
                The address <code>{route.path}</code> leads nowhere in this console.
              </LostPage>
            ) : route.page === 'sessions' ? (
              <SessionsPage config={config} onCount={setCount} />
            ) : route.page === 'runs' ? (
              <RunsPage uploads={config?.uploads_enabled ?? false} />
            ) : route.page === 'admin' || route.page === 'account' ? (
              <ErrorBoundary resetKey={location.path}>
                <Suspense fallback={<div className="page"><Skeleton width="100%" height={200} /></div>}>{route.page === 'admin' ? <AdminPage part={route.part} /> : <AccountPage />}</Suspense>
              </ErrorBoundary>
            ) : route.page === 'run' ? (
              <RunPage key={location.path} runKey={{ project: route.project, location: route.location, id: route.id }} />
            ) : null}
          </main>
        </>
      )}
      {layer === 'help' && <HelpDialog onClose={closeLayer} version={config?.version ?? null} />}
      {layer === 'share' && (
        <Suspense fallback={null}>
          <ShareDialog session={session} onClose={closeLayer} />
        </Suspense>
      )}
      {layer === 'palette' && <Palette sessionId={sessionId} onHelp={showHelp} onShare={share} onClose={closeLayer} />}
      {dialog.open && <CaptureDialog key={dialog.operationId ?? 'form'} config={config} operationId={dialog.operationId} />}
      <ToastStack />
    </div>
  );
}

// A fragment link would follow <base href> away from this page, so the jump is done by hand.
function skipToPage(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('page')?.focus();
}
