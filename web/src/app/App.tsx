import { lazy, Suspense, useEffect } from 'react';
import { matchRoute, navigate, useLocation } from '../state/router';

const TimelinePage = lazy(() => import('../timeline/TimelinePage'));

export function App() {
  const route = matchRoute(useLocation());
  const redirect = route.page === 'redirect' ? route.to : null;
  useEffect(() => {
    if (redirect) navigate(redirect, { replace: true });
  }, [redirect]);
  if (route.page === 'session' && route.tool === 'timeline') {
    return (
      <Suspense fallback={null}>
        <TimelinePage sessionId={route.sessionId} />
      </Suspense>
    );
  }
  return <p>Sessions</p>;
}
