// The page's side of the HLO worker: one worker for all, made when first needed.
//
//   const facts = await hlo.ask({ kind: 'load', key, text });
import type { WorkerAnswers, WorkerQuestion } from './protocol';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

let worker: Worker | null = null;
let nextId = 1;
const waiting = new Map<number, Waiting>();

function fail(message: string): void {
  for (const one of waiting.values()) one.reject(new Error(message));
  waiting.clear();
  worker?.terminate();
  worker = null;
}

function start(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = (event: MessageEvent<{ id: number; value?: unknown; error?: string }>) => {
    const one = waiting.get(event.data.id);
    if (!one) return;
    waiting.delete(event.data.id);
    if (event.data.error !== undefined) one.reject(new Error(event.data.error));
    else one.resolve(event.data.value);
  };
  worker.onerror = (event) => fail(event.message || 'The part of the page that reads HLO could not be started.');
  return worker;
}

export function askHlo<K extends keyof WorkerAnswers>(question: Extract<WorkerQuestion, { kind: K }>): Promise<WorkerAnswers[K]> {
  return new Promise((resolve, reject) => {
    const id = nextId++;
    waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    start().postMessage({ id, question });
  });
}
