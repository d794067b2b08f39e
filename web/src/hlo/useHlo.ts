// An HLO module of the session, read by the worker.
import { useResource, type Resource } from '../ui/useResource';
import { once, useToolSession } from '../tools/session';
import { askText, toolSearch } from '../tools/client';
import { askHlo } from './client';
import type { InstructionFacts, ModuleFacts } from './protocol';

export interface LoadedModule {
  readonly key: string; // What the worker knows it by.
  readonly text: string;
  readonly facts: ModuleFacts;
}

// `module` is "name(id)" as XProf writes it, or a bare program id.
export function moduleOptions(module: string): Record<string, string> {
  return /^\d+$/.test(module) ? { program_id: module } : { module_name: module };
}

export function useModule(module: string | null): Resource<LoadedModule> {
  const session = useToolSession();
  const query = { options: { ...(module ? moduleOptions(module) : {}), type: 'short_txt', show_metadata: 'true' } };
  const key = module && session.ready ? `hlo/${session.sessionId}/${session.reloads}${toolSearch(query)}` : null;
  return useResource(key, (signal) =>
    once(key!, signal, async (inner) => {
      const text = await askText(session.sessionId, 'graph_viewer', query, { signal: inner });
      return { key: key!, text, facts: await askHlo<'load'>({ kind: 'load', key: key!, text }) };
    }),
  );
}

export function useInstruction(module: LoadedModule | null, name: string | null): Resource<InstructionFacts | null> {
  const key = module && name ? `${module.key}/${name}` : null;
  return useResource(key, async () => {
    const ask = () => askHlo<'instruction'>({ kind: 'instruction', key: module!.key, name: name! });
    try {
      return await ask();
    } catch {
      // The worker has dropped it for others meanwhile: read it again.
      await askHlo<'load'>({ kind: 'load', key: module!.key, text: module!.text });
      return ask();
    }
  });
}
