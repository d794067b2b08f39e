import { describe, expect, it } from 'vitest';
import { HloAnswers } from './answers';
import { edgePath, layoutGraph } from './layout';
import { findInstructions, neighbourhood } from './neighbourhood';
import { parseHlo, parseInstruction } from './parse';
import type { InstructionFacts, ModuleFacts, Picture } from './protocol';

const short = `HloModule jit_f, is_scheduled=true

fused_add {
  p0 = f32[4]{0:T(128)} parameter(0)
  c = f32[] constant(1)
  b = f32[4]{0} broadcast(c), dimensions={}
  ROOT add.5 = f32[4]{0} add(p0, b), metadata={op_name="jit(f)/add" source_file="m.py" source_line=29 stack_frame_id=9}
}

ENTRY main.22 {
  x = f32[4]{0} parameter(0)
  start = (f32[4]{0}, f32[4]{0:S(5)}, u32[]) copy-start(x)
  done = f32[4]{0} copy-done(start)
  fusion.3 = f32[4]{0} fusion(done), kind=kLoop, calls=fused_add
  w = (f32[4]{0}) while(fusion.3), condition=cond, body=loop
  ROOT tuple.1 = (f32[4]{0}, f32[4]{0}) tuple(fusion.3, done)
}
`;
const long = `HloModule m
%fused (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  ROOT %neg = f32[2]{0} negate(f32[2]{0} %p), metadata={op_name="a(b, c)/neg"}
}

ENTRY %main (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %f = f32[2]{0} fusion(f32[2]{0} %x), kind=kLoop, calls=%fused, backend_config={"a":[1,2]}
}
`;

describe('reading HLO text', () => {
  it('reads the short form with tuples, metadata and calls', () => {
    const module = parseHlo(short);
    expect(module.name).toBe('jit_f');
    expect(module.computations.map((one) => [one.name, one.entry, one.last - one.first])).toEqual([['fused_add', false, 4], ['main.22', true, 6]]);
    const fusion = module.instructions[module.byName.get('fusion.3')!]!;
    expect(fusion.opcode).toBe('fusion');
    expect(fusion.calls).toEqual(['fused_add']);
    expect(fusion.operands.map((i) => module.instructions[i]!.name)).toEqual(['done']);
    expect(fusion.users.map((i) => module.instructions[i]!.name)).toEqual(['w', 'tuple.1']);
    const add = module.instructions[module.byName.get('add.5')!]!;
    expect([add.opName, add.source, add.root, add.line]).toEqual(['jit(f)/add', 'm.py:29', true, 6]);
    expect(module.instructions[module.byName.get('w')!]!.calls).toEqual(['cond', 'loop']);
  });
  it('reads the long form', () => {
    const module = parseHlo(long);
    expect(module.computations.map((one) => one.name)).toEqual(['fused', 'main']);
    const f = module.instructions[module.byName.get('f')!]!;
    expect(f.operands.map((i) => module.instructions[i]!.name)).toEqual(['x']);
    expect(f.calls).toEqual(['fused']);
    expect(module.instructions[module.byName.get('neg')!]!.opName).toBe('a(b, c)/neg');
  });
  it.each(['', 'no instruction', '  x = ', '  x = f32[', '  x = f32[2] add(a', '  a b = f32[] add()'])('makes nothing of %j', (line) => expect(parseInstruction(line)).toBeNull());
  // acceptance: GH1
  it('reads 37,000 instructions', () => {
    const lines = Array.from({ length: 37_000 }, (_, i) => `  add.${i} = f32[8,128]{1,0:T(8,128)} add(${i > 0 ? `add.${i - 1}` : 'p'}, p), metadata={op_name="jit(f)/add" source_file="/a/b.py" source_line=${i}}`);
    const module = parseHlo(`HloModule big\n\nENTRY main {\n  p = f32[8,128]{1,0} parameter(0)\n${lines.join('\n')}\n}\n`);
    expect(module.instructions).toHaveLength(37_001);
    expect(neighbourhood(module, 20_000, 3).nodes.length).toBeGreaterThan(6);
    expect(findInstructions(module, 'add.36999', 5)[0]!.name).toBe('add.36999');
  }, 30_000);
});

describe('a neighbourhood', () => {
  const module = parseHlo(short);
  const names = (radius: number, unfolded: readonly string[] = []) => neighbourhood(module, module.byName.get('done')!, radius, unfolded.map((name) => module.byName.get(name)!)).nodes.map((node) => node.name);
  it('holds what is within its steps, and counts what it hides', () => {
    expect(names(1)).toEqual(['start', 'done', 'fusion.3', 'tuple.1']);
    const around = neighbourhood(module, module.byName.get('done')!, 1);
    expect(around.nodes.find((node) => node.name === 'start')!.hiddenOperands).toBe(1);
    expect(around.nodes.find((node) => node.name === 'fusion.3')!.hiddenUsers).toBe(1);
    expect(around.edges).toHaveLength(4);
  });
  it('grows where the reader unfolds', () => expect(names(1, ['start'])).toContain('x'));
  it('stops at its bound and says so', () => {
    const cut = neighbourhood(module, module.byName.get('done')!, 5, [], 3);
    expect(cut.cut).toBe(true);
    expect(cut.nodes).toHaveLength(3);
  });
  it('is found by name first, then by opcode and framework op', () => {
    expect(findInstructions(module, 'fusion', 5).map((one) => one.name)).toEqual(['fusion.3']);
    expect(findInstructions(module, 'jit(f)', 5).map((one) => one.name)).toEqual(['add.5']);
    expect(findInstructions(module, ' ', 5)).toEqual([]);
  });
});

describe('a layout', () => {
  const nodes = [0, 1, 2, 3, 4].map((id) => ({ id, width: 100, height: 40 }));
  const edges = [{ from: 0, to: 1 }, { from: 0, to: 2 }, { from: 1, to: 3 }, { from: 2, to: 3 }, { from: 0, to: 3 }, { from: 4, to: 3 }];
  const layout = layoutGraph(nodes, edges);
  it('puts operands above users and no box over another', () => {
    const at = new Map(layout.nodes.map((node) => [node.id, node]));
    for (const edge of edges) expect(at.get(edge.from)!.y + 40).toBeLessThan(at.get(edge.to)!.y);
    for (const a of layout.nodes) for (const b of layout.nodes) if (a.id < b.id && a.y === b.y) expect(Math.abs(a.x - b.x)).toBeGreaterThanOrEqual(100);
    expect(at.get(4)!.y).toBe(at.get(1)!.y);
    expect(Math.min(...layout.nodes.map((node) => node.x))).toBeGreaterThanOrEqual(0);
  });
  it('bends an edge that passes a layer', () => {
    expect(layout.edges.find((edge) => edge.from === 0 && edge.to === 3)!.points).toHaveLength(3);
    expect(edgePath([[0, 0], [10, 20]])).toBe('M0.0,0.0C0.0,10.0 10.0,10.0 10.0,20.0');
  });
  it('places nothing and survives a circle', () => {
    expect(layoutGraph([], []).nodes).toEqual([]);
    expect(layoutGraph(nodes.slice(0, 2), [{ from: 0, to: 1 }, { from: 1, to: 0 }]).nodes).toHaveLength(2);
  });
});

describe('the worker', () => {
  it('answers about a loaded module, names of computations lead to their root', () => {
    const answers = new HloAnswers();
    const facts = answers.answer({ kind: 'load', key: 'k', text: short }) as ModuleFacts;
    expect(facts.instructionCount).toBe(10);
    expect(facts.entryRoot).toBe('tuple.1');
    const one = answers.answer({ kind: 'instruction', key: 'k', name: 'copy-start{0}' }) as InstructionFacts | null;
    expect(one).toBeNull();
    expect((answers.answer({ kind: 'instruction', key: 'k', name: '%start{0}' }) as InstructionFacts).users.map((user) => user.name)).toEqual(['done']);
    expect((answers.answer({ kind: 'picture', key: 'k', name: 'fused_add', radius: 1, unfolded: [] }) as Picture).computation).toBe('fused_add');
    expect(answers.answer({ kind: 'picture', key: 'k', name: 'nothing', radius: 1, unfolded: [] })).toBeNull();
    const star = `HloModule s\n\nENTRY main {\n${Array.from({ length: 60 }, (_, i) => `  p${i} = f32[] parameter(${i})\n  n${i} = f32[] negate(p${i})`).join('\n')}\n  ROOT t = (f32[]) tuple(${Array.from({ length: 60 }, (_, i) => `n${i}`).join(', ')})\n}\n`;
    answers.answer({ kind: 'load', key: 'star', text: star });
    expect((answers.answer({ kind: 'picture', key: 'star', name: 't', radius: 0, unfolded: [] }) as Picture).graph.nodes).toHaveLength(61);
    expect((answers.answer({ kind: 'picture', key: 'star', name: 't', radius: 2, unfolded: [] }) as Picture).graph.nodes).toHaveLength(121);
    expect(() => answers.answer({ kind: 'find', key: 'other', text: 'x', most: 1 })).toThrow();
  });
});
