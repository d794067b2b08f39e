// What the page and the HLO worker say to each other. The worker keeps parsed modules by key, so that a text is read once.
import type { Layout } from './layout';
import type { Found, Neighbourhood } from './neighbourhood';

export interface ModuleFacts {
  readonly name: string;
  readonly instructionCount: number;
  readonly computations: readonly { name: string; entry: boolean; line: number; count: number; root: string }[];
  readonly entryRoot: string; // Where to begin when nothing was asked.
}

export interface InstructionFacts {
  readonly name: string;
  readonly opcode: string;
  readonly shape: string;
  readonly opName: string;
  readonly source: string;
  readonly computation: string;
  readonly line: number;
  readonly calls: readonly string[];
  readonly operands: readonly { name: string; opcode: string; shape: string }[];
  readonly users: readonly { name: string; opcode: string; shape: string }[];
}

export interface Picture {
  readonly graph: Neighbourhood;
  readonly layout: Layout;
  readonly computation: string;
}

export type WorkerQuestion =
  | { kind: 'load'; key: string; text: string }
  | { kind: 'picture'; key: string; name: string; radius: number; unfolded: readonly string[] }
  | { kind: 'find'; key: string; text: string; most: number }
  | { kind: 'instruction'; key: string; name: string };

export interface WorkerAnswers {
  load: ModuleFacts;
  picture: Picture | null;
  find: readonly Found[];
  instruction: InstructionFacts | null;
}
