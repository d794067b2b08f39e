// One answer, asked for again every `everyMs` while the page is in sight; what is shown stays until the next is there.
import { useEffect } from 'react';
import { useVisible } from '../state/url';
import { type Resource, useResource } from '../ui/useResource';

export function useRefreshed<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, everyMs: number): Resource<T> {
  const resource = useResource(key, load);
  const visible = useVisible();
  const { reload, loading } = resource;
  useEffect(() => {
    if (!visible || key === null || loading) return;
    const timer = setTimeout(reload, everyMs);
    return () => clearTimeout(timer);
  }, [visible, key, loading, reload, everyMs]);
  return resource;
}
