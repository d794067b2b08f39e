// The part of a module around one instruction: everything within `radius` steps over operands and users, and around every node that
// the reader has unfolded, up to a number of nodes that can still be read.
import type { HloText, Instruction } from './parse';

export interface GraphNode {
  readonly id: number; // Index of the instruction.
  readonly name: string;
  readonly opcode: string;
  readonly shape: string;
  readonly opName: string;
  readonly source: string;
  readonly calls: readonly string[];
  readonly hiddenOperands: number; // Not in the picture.
  readonly hiddenUsers: number;
  readonly center: boolean;
  readonly root: boolean;
}

export interface GraphEdge {
  readonly from: number;
  readonly to: number;
}

export interface Neighbourhood {
  readonly nodes: GraphNode[];
  readonly edges: GraphEdge[];
  readonly cut: boolean; // More would have belonged to it.
}

export const mostNodes = 160;

export function neighbourhood(module: HloText, center: number, radius: number, unfolded: readonly number[] = [], most = mostNodes): Neighbourhood {
  const picked = new Map<number, number>([[center, 0]]); // Instruction -> steps from where it was reached.
  let cut = false;
  const grow = (from: number, steps: number) => {
    let edge = [from];
    for (let step = 0; step < steps; step++) {
      const next: number[] = [];
      for (const at of edge) {
        const one = module.instructions[at]!;
        for (const other of [...one.operands, ...one.users]) {
          if (picked.has(other)) continue;
          if (picked.size >= most) {
            cut = true;
            return;
          }
          picked.set(other, step + 1);
          next.push(other);
        }
      }
      edge = next;
    }
  };
  grow(center, radius);
  for (const one of unfolded) {
    if (!module.instructions[one] || module.instructions[one]!.computation !== module.instructions[center]!.computation) continue;
    if (!picked.has(one)) picked.set(one, 0);
    grow(one, 1);
  }
  const nodes = [...picked.keys()].sort((a, b) => a - b).map((id): GraphNode => {
    const one = module.instructions[id]!;
    return {
      id, name: one.name, opcode: one.opcode, shape: one.shape, opName: one.opName, source: one.source, calls: one.calls, root: one.root, center: id === center,
      hiddenOperands: hidden(one.operands, picked), hiddenUsers: hidden(one.users, picked),
    };
  });
  const edges: GraphEdge[] = [];
  for (const node of nodes) for (const operand of module.instructions[node.id]!.operands) if (picked.has(operand)) edges.push({ from: operand, to: node.id });
  return { nodes, edges, cut };
}

function hidden(others: readonly number[], picked: ReadonlyMap<number, number>): number {
  return others.reduce((count, one) => count + (picked.has(one) ? 0 : 1), 0);
}

export interface Found {
  readonly name: string;
  readonly opcode: string;
  readonly shape: string;
  readonly computation: string;
  readonly opName: string;
}

// Names that begin with the text come first, then names that contain it, then opcodes and framework names.
export function findInstructions(module: HloText, text: string, most: number): Found[] {
  const wanted = text.trim().toLowerCase().replace(/^%/, '');
  if (wanted === '') return [];
  const ranked: { rank: number; at: number }[] = [];
  module.instructions.forEach((one, at) => {
    const rank = rankOf(one, wanted);
    if (rank < 9) ranked.push({ rank, at });
  });
  ranked.sort((a, b) => a.rank - b.rank || a.at - b.at);
  return ranked.slice(0, most).map(({ at }) => {
    const one = module.instructions[at]!;
    return { name: one.name, opcode: one.opcode, shape: one.shape, computation: module.computations[one.computation]!.name, opName: one.opName };
  });
}

function rankOf(one: Instruction, wanted: string): number {
  const name = one.name.toLowerCase();
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  if (one.opcode.includes(wanted)) return 3;
  return one.opName.toLowerCase().includes(wanted) || one.source.toLowerCase().includes(wanted) ? 4 : 9;
}
