// Reads the text of an HLO module, short or long form, into instructions with operands, users and called computations. A line that
// is not understood is skipped, never an error: the text itself is always shown.

export interface Instruction {
  readonly name: string;
  readonly opcode: string;
  readonly shape: string;
  readonly computation: number;
  readonly line: number; // In the text, from 0.
  readonly root: boolean;
  readonly operands: number[];
  readonly users: number[];
  readonly calls: string[]; // Names of computations.
  readonly opName: string; // Of the framework.
  readonly source: string; // file:line
}

export interface Computation {
  readonly name: string;
  readonly entry: boolean;
  readonly line: number;
  readonly first: number; // Instructions first .. last - 1.
  last: number;
  root: number; // -1: none marked.
}

export interface HloText {
  readonly name: string;
  readonly computations: Computation[];
  readonly instructions: Instruction[];
  readonly byName: Map<string, number>;
  readonly computationByName: Map<string, number>;
}

const header = /^(ENTRY )?%?([^\s({]+).*\{\s*$/;
const mayCall = /calls=|to_apply=|body=|condition=|computation|select=|scatter=/; // Most instructions do not.
const called = /\b(?:calls|to_apply|body|condition|branch_computations|called_computations|select|scatter|true_computation|false_computation|async_computation)=(?:%?([\w.\-$]+)|\{([^}]*)\})/g;

// The end of a bracketed text that begins at `from`; -1 when it is not closed.
function closing(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = from; i < text.length; i++) {
    const letter = text[i];
    if (letter === '"' && text[i - 1] !== '\\') quoted = !quoted;
    if (quoted) continue;
    if (letter === '(' || letter === '{' || letter === '[') depth++;
    else if (letter === ')' || letter === '}' || letter === ']') {
      depth--;
      if (depth === 0) return i;
    }
  }
  return -1;
}

function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (letter === '(' || letter === '{' || letter === '[') depth++;
    else if (letter === ')' || letter === '}' || letter === ']') depth--;
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

interface RawInstruction {
  readonly name: string;
  readonly opcode: string;
  readonly shape: string;
  readonly root: boolean;
  readonly operandNames: string[];
  readonly rest: string;
}

export function parseInstruction(line: string): RawInstruction | null {
  const equals = line.indexOf(' = ');
  if (equals < 0) return null;
  let name = line.slice(0, equals).trim();
  const root = name.startsWith('ROOT ');
  if (root) name = name.slice(5).trim();
  if (name.startsWith('%')) name = name.slice(1);
  if (name === '' || /\s/.test(name)) return null;
  const body = line.slice(equals + 3);
  let shapeEnd: number;
  if (body.startsWith('(')) {
    shapeEnd = closing(body, 0) + 1;
    if (shapeEnd <= 0) return null;
  } else {
    shapeEnd = body.indexOf(' ');
    if (shapeEnd < 0) return null;
  }
  const shape = body.slice(0, shapeEnd);
  const open = body.indexOf('(', shapeEnd);
  if (open < 0) return null;
  const opcode = body.slice(shapeEnd, open).trim();
  if (!/^[\w-]+$/.test(opcode)) return null;
  const close = closing(body, open);
  if (close < 0) return null;
  const operandNames = opcode === 'constant' || opcode === 'parameter' ? [] : splitTop(body.slice(open + 1, close)).map((one) => one.trim().split(/\s+/).pop()!.replace(/^%/, '')).filter(Boolean);
  return { name, opcode, shape, root, operandNames, rest: body.slice(close + 1) };
}

function callsOf(rest: string): string[] {
  const names: string[] = [];
  if (!mayCall.test(rest)) return names;
  for (const match of rest.matchAll(called)) {
    if (match[1]) names.push(match[1]);
    else for (const one of (match[2] ?? '').split(',')) if (one.trim()) names.push(one.trim().replace(/^%/, ''));
  }
  return names;
}

export function parseHlo(text: string): HloText {
  const lines = text.split('\n');
  const module: HloText = { name: /^HloModule\s+([^\s,]+)/.exec(text)?.[1] ?? '', computations: [], instructions: [], byName: new Map(), computationByName: new Map() };
  const operandNames: string[][] = [];
  let current: Computation | null = null;
  lines.forEach((line, at) => {
    if (line.startsWith('}')) {
      current = null;
      return;
    }
    if (!line.startsWith(' ')) {
      const match = header.exec(line);
      if (!match || line.startsWith('HloModule')) return;
      current = { name: match[2]!, entry: match[1] !== undefined, line: at, first: module.instructions.length, last: module.instructions.length, root: -1 };
      module.computationByName.set(current.name, module.computations.length);
      module.computations.push(current);
      return;
    }
    if (!current) return;
    const raw = parseInstruction(line);
    if (!raw) return;
    const index = module.instructions.length;
    const file = /source_file="([^"]*)"/.exec(raw.rest)?.[1] ?? '';
    const sourceLine = /source_line=(\d+)/.exec(raw.rest)?.[1];
    module.instructions.push({
      name: raw.name, opcode: raw.opcode, shape: raw.shape, computation: module.computations.length - 1, line: at, root: raw.root,
      operands: [], users: [], calls: callsOf(raw.rest),
      opName: /op_name="([^"]*)"/.exec(raw.rest)?.[1] ?? '', source: file ? (sourceLine ? `${file}:${sourceLine}` : file) : '',
    });
    operandNames.push(raw.operandNames);
    module.byName.set(raw.name, index);
    current.last = index + 1;
    if (raw.root) current.root = index;
  });
  operandNames.forEach((names, index) => {
    const own = module.instructions[index]!;
    for (const name of names) {
      const found = module.byName.get(name);
      if (found === undefined || module.instructions[found]!.computation !== own.computation || own.operands.includes(found)) continue;
      own.operands.push(found);
      module.instructions[found]!.users.push(index);
    }
  });
  return module;
}
