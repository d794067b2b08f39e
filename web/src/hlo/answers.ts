// Answers the worker's questions. Apart from worker.ts so that tests need no worker.
import { layoutGraph } from './layout';
import { findInstructions, neighbourhood } from './neighbourhood';
import { type HloText, parseHlo } from './parse';
import type { InstructionFacts, ModuleFacts, Picture, WorkerQuestion } from './protocol';

const mostModules = 4; // Parsed texts kept; a module of 37,000 instructions takes some 30 MB.
const nodeHeight = 40;
const letterWidth = 7.3;
const smallLetterWidth = 6.7;
const widestNode = 260;
const easyNodes = 48;
const enterWidth = 24; // Room for the badge of what a node calls.

export class HloAnswers {
  private readonly modules = new Map<string, HloText>();

  answer(question: WorkerQuestion): unknown {
    if (question.kind === 'load') return this.load(question.key, question.text);
    const module = this.modules.get(question.key);
    if (!module) throw new Error('The module is not loaded.');
    this.modules.delete(question.key);
    this.modules.set(question.key, module);
    if (question.kind === 'find') return findInstructions(module, question.text, question.most);
    const at = resolveName(module, question.name);
    if (at < 0) return null;
    return question.kind === 'instruction' ? instructionFacts(module, at) : picture(module, at, question.radius, question.unfolded);
  }

  private load(key: string, text: string): ModuleFacts {
    const module = parseHlo(text);
    this.modules.set(key, module);
    for (const old of this.modules.keys()) {
      if (this.modules.size <= mostModules) break;
      this.modules.delete(old);
    }
    const entry = module.computations.find((one) => one.entry) ?? module.computations[module.computations.length - 1];
    return {
      name: module.name,
      instructionCount: module.instructions.length,
      computations: module.computations.map((one) => ({ name: one.name, entry: one.entry, line: one.line, count: one.last - one.first, root: module.instructions[one.root]?.name ?? '' })),
      entryRoot: entry ? (module.instructions[entry.root >= 0 ? entry.root : entry.last - 1]?.name ?? '') : '',
    };
  }
}

// An instruction by name, or the root of a computation of that name.
export function resolveName(module: HloText, name: string): number {
  const clean = name.replace(/^%/, '').replace(/\{[\d,]*\}$/, '');
  const found = module.byName.get(clean);
  if (found !== undefined) return found;
  const computation = module.computationByName.get(clean);
  if (computation === undefined) return -1;
  const one = module.computations[computation]!;
  return one.root >= 0 ? one.root : one.last - 1;
}

function instructionFacts(module: HloText, at: number): InstructionFacts {
  const one = module.instructions[at]!;
  const short = (index: number) => {
    const other = module.instructions[index]!;
    return { name: other.name, opcode: other.opcode, shape: other.shape };
  };
  return {
    name: one.name, opcode: one.opcode, shape: one.shape, opName: one.opName, source: one.source, line: one.line, calls: one.calls,
    computation: module.computations[one.computation]!.name, operands: one.operands.map(short), users: one.users.map(short),
  };
}

// Radius 0: two steps, or one where two would be more than a reader takes in.
function picture(module: HloText, at: number, radius: number, unfolded: readonly string[]): Picture {
  const open = unfolded.map((name) => resolveName(module, name)).filter((index) => index >= 0);
  const wide = neighbourhood(module, at, radius || 2, open);
  const graph = radius === 0 && wide.nodes.length > easyNodes ? neighbourhood(module, at, 1, open) : wide;
  const nodes = graph.nodes.map((node) => ({ id: node.id, height: nodeHeight, width: Math.min(widestNode, Math.max(96, Math.max(node.name.length * letterWidth, (node.opcode.length + (node.root ? 5 : 0) + 10) * smallLetterWidth) + 22 + (node.calls.length > 0 ? enterWidth : 0))) }));
  return { graph, layout: layoutGraph(nodes, graph.edges), computation: module.computations[module.instructions[at]!.computation]!.name };
}
