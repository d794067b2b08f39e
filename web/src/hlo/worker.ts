// Reads HLO texts and places graphs away from the page, so that a module of 37,000 instructions never stops it.
import { HloAnswers } from './answers';
import type { WorkerQuestion } from './protocol';

const answers = new HloAnswers();

self.onmessage = (event: MessageEvent<{ id: number; question: WorkerQuestion }>) => {
  const { id, question } = event.data;
  try {
    self.postMessage({ id, value: answers.answer(question) });
  } catch (error) {
    self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
