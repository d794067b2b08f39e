// The HLO modules of a session, as XProf's own route lists them: "jit_f(12190760917235803885)".
import { request } from '../api/client';
import { isAbort, toApiError } from '../api/client';
import { href } from '../state/router';
import { useResource, type Resource } from '../ui/useResource';
import { useToolSession } from './session';

export interface HloModuleName {
  readonly full: string; // What the tools take as module_name.
  readonly name: string;
  readonly id: string; // Empty when the name has none.
}

export function readModuleName(full: string): HloModuleName {
  const match = /^(.*)\((\d+)\)$/.exec(full.trim());
  return match ? { full: full.trim(), name: match[1]!, id: match[2]! } : { full: full.trim(), name: full.trim(), id: '' };
}

// What XProf's route lists for a session that has none.
const NO_MODULE = 'NO_MODULE';

// Names may hold commas inside brackets; an id closes each name that has one.
export function splitModules(text: string): HloModuleName[] {
  return text.split(/,(?![^(]*\))/).map((one) => one.trim()).filter((one) => one !== '' && one !== NO_MODULE).map(readModuleName);
}

async function ask(runName: string, signal: AbortSignal): Promise<HloModuleName[]> {
  // Not below /api/v1, hence the address by hand.
  const response = await fetch(href(`/data/plugin/profile/module_list?run=${encodeURIComponent(runName)}`), { signal, cache: 'no-cache' }).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    return null;
  });
  if (!response) await request('/config', { signal }); // Tells a lost connection from a refused route.
  if (!response?.ok) throw toApiError(new Error('The list of modules could not be read.'));
  return splitModules(await response.text());
}

export function useModules(): Resource<HloModuleName[]> {
  const { sessionId, runName, reloads, ready } = useToolSession();
  return useResource(ready && runName ? `modules/${sessionId}/${reloads}` : null, (signal) => ask(runName, signal));
}

export function findModule(modules: readonly HloModuleName[], wanted: string | null): HloModuleName | null {
  if (!wanted) return null;
  return modules.find((one) => one.full === wanted) ?? modules.find((one) => one.id !== '' && one.id === wanted) ?? modules.find((one) => one.name === wanted) ?? null;
}

// A program id as four hex digits beside the name, enough to tell two modules of one name apart.
export function moduleLabel(module: HloModuleName): string {
  if (module.id === '') return module.name;
  const hex = BigInt(module.id).toString(16);
  return `${module.name} (${hex.length <= 4 ? module.id : hex.slice(-4)})`;
}
