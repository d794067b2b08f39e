// Who looks at this page. Asked once for the whole console.
//
//   const mayEdit = useMay('edit', run.project);
import { createContext, type ReactNode, useContext } from 'react';
import { ApiError, setChangeToken, setGuest } from '../api/client';
import { useResource } from '../ui/useResource';
import { accessApi } from './client';
import { mayDo } from './rights';
import type { Me, Right } from './types';

const local: Me = { kind: 'local', subject: null, csrf_token: null };
const MeContext = createContext<Me | null>(local);

async function whoAmI(signal: AbortSignal): Promise<Me> {
  try {
    const me = await accessApi.me({ signal });
    setChangeToken(me.csrf_token);
    setGuest(me.kind === 'link');
    return me;
  } catch (error) {
    // A server without the route has no access control either.
    if (error instanceof ApiError && error.status === 404) return local;
    throw error;
  }
}

export function MeProvider({ children }: { children: ReactNode }) {
  const me = useResource('me', whoAmI).value;
  return <MeContext value={me}>{children}</MeContext>;
}

// Null until it is known.
export function useMe(): Me | null {
  return useContext(MeContext);
}

export function useMay(right: Right, project?: string): boolean {
  return mayDo(useMe(), right, project);
}

// Whom to turn to, as the administrator of the server wrote it; null when nothing was written.
export function useContact(asked = true): string | null {
  return useResource(asked ? 'sign-in' : null, (signal) => accessApi.ways({ signal })).value?.contact ?? null;
}
