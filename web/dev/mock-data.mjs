// Invented but plausible sessions for working on the console without the server. Seeded: every start gives the same data.

export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const categoryNames = [
  'other', 'matmul', 'fusion', 'custom kernel', 'reduce', 'data movement', 'collective', 'host transfer', 'host code', 'step',
];

const us = 1e6;
const ms = 1e9;

const tpuOps = [
  // name, category, mean ps, source
  ['dot_general.41', 1, 410 * us, 'model.py:118'],
  ['flash_fwd', 3, 300 * us, 'attention.py:64'],
  ['fusion.3', 2, 59 * us, 'model.py:122'],
  ['all-reduce.7', 6, 240 * us, 'train.py:201'],
  ['loop_convert_fusion.3', 2, 33 * us, 'model.py:97'],
  ['reduce.12', 4, 48 * us, 'loss.py:31'],
  ['copy-done.4', 7, 160 * us, 'offload.py:12'],
  ['transpose.9', 5, 21 * us, 'model.py:140'],
  ['dot_general.52', 1, 380 * us, 'model.py:131'],
  ['multiply_add_fusion.17', 2, 12 * us, 'optimizer.py:88'],
  ['dynamic-update-slice.2', 5, 9 * us, null],
  ['sort.1', 4, 70 * us, 'sampling.py:20'],
  ['loop_dynamic-update-slice_multiply_subtract_broadcast_select_fusion.1284', 2, 44 * us, 'models/transformer/blocks/feed_forward_network.py:1284'],
  ['<b>custom-call</b>.7', 3, 18 * us, null],
];
const pythonStack = ['train_loop', 'train_step', 'PjitFunction(train_step)', 'ExecuteSharded', 'BufferFromHost', 'next_batch', 'shard', 'decode_jpeg', 'device_put'];

class LineBuilder {
  constructor(name, kind, options = {}) {
    Object.assign(this, { name, kind, derived: false, threadId: '0', ...options });
    this.start = [];
    this.duration = [];
    this.nameIndex = [];
    this.row = [];
    this.parent = [];
  }
  add(start, duration, nameIndex, row = 0, parent = -1) {
    this.start.push(Math.round(start));
    this.duration.push(Math.max(0, Math.round(duration)));
    this.nameIndex.push(nameIndex);
    this.row.push(row);
    this.parent.push(parent);
    return this.start.length - 1;
  }
  get count() {
    return this.start.length;
  }
}

class Names {
  constructor() {
    this.text = [];
    this.category = [];
    this.source = [];
    this.byText = new Map();
  }
  of(text, category, source = null) {
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    this.text.push(text);
    this.category.push(category);
    this.source.push(source);
    this.byText.set(text, this.text.length - 1);
    return this.text.length - 1;
  }
}

function devicePlane(names, random, index, kind, stepCount, stepPs) {
  const steps = new LineBuilder('Steps', 'steps', { threadId: '1' });
  const modules = new LineBuilder('XLA Modules', 'modules', { threadId: '2' });
  const ops = new LineBuilder('XLA Ops', 'ops', { threadId: '3' });
  const async = new LineBuilder('Async XLA Ops', 'async', { threadId: '4' });
  const scope = new LineBuilder('Framework Name Scope', 'scope', { threadId: '5', derived: true });
  let cursor = 2 * ms + index * 0.02 * ms;
  for (let step = 0; step < stepCount; step++) {
    const begin = cursor;
    const length = stepPs * (0.97 + 0.06 * random()) * (step === Math.floor(stepCount / 2) ? 1.35 : 1);
    const end = begin + length;
    cursor = end + stepPs * 0.03;
    steps.add(begin, end - begin, names.of(String(step + 1), 9));
    modules.add(begin + 20 * us, end - begin - 40 * us, names.of('jit_train_step(7f3a)', 9));
    let at = begin + 30 * us;
    let layer = 0;
    while (at < end - 0.6 * ms) {
      const scopeBegin = at;
      const loop = ops.add(at, 0, names.of('while.8', 0), 0);
      for (let k = 0; k < 9; k++) {
        const op = tpuOps[Math.floor(random() * tpuOps.length)];
        const duration = op[2] * (0.8 + 0.4 * random());
        if (at + duration > end - 40 * us) break;
        ops.add(at, duration, names.of(op[0], op[1], op[3]), 1, loop);
        if (op[1] === 6) async.add(at - 40 * us, duration + 80 * us, names.of('all-reduce-start.7', 6));
        at += duration + (random() < 0.08 ? 300 * us * random() : 0.4 * us);
      }
      ops.duration[loop] = Math.floor(at - ops.start[loop]);
      scope.add(scopeBegin, at - scopeBegin, names.of(`jit(train_step)/layer_${layer++ % 32}`, 0));
      at += 5 * us;
    }
  }
  return { name: `/device:${kind}:${index}`, kind: 'device', lines: [steps, modules, ops, async, scope] };
}

function hostPlane(names, random, threads, spanPs) {
  const lines = [];
  for (let t = 0; t < threads; t++) {
    const line = new LineBuilder(t === 0 ? 'python' : `tf_XLAEigen/${4200 + t}`, 'thread', { threadId: String(t % 2 ? -4200 - t : 4200 + t) });
    let at = 0.5 * ms * random();
    while (at < spanPs) {
      const length = (t === 0 ? 6 : 1.5) * ms * (0.4 + random());
      if (at + length > spanPs) break;
      nest(line, names, random, at, length, 0, -1, t === 0 ? 5 : 2);
      at += length + 0.4 * ms * random();
    }
    lines.push(line);
  }
  return { name: '/host:CPU', kind: 'host', lines };
}

function nest(line, names, random, at, length, depth, parent, deepest) {
  const self = line.add(at, length, names.of(pythonStack[(depth * 2 + Math.floor(random() * 3)) % pythonStack.length], 8), depth, parent);
  if (depth + 1 >= deepest || length < 2 * us) return;
  const parts = 2 + Math.floor(random() * 4);
  let child = at + length * 0.02;
  for (let i = 0; i < parts; i++) {
    const part = (length * 0.9 * (0.4 + random())) / parts / 1.4;
    if (child + part > at + length) break;
    nest(line, names, random, child, part, depth + 1, self, deepest);
    child += part * 1.15;
  }
}

// A device or host profile with `hosts` machines. Events of a line are sorted by (start, depth), as in a real file.
export function makeProfile({ seed, hosts, devices, kind, stepCount, stepPs, threads = 6 }) {
  const random = randomFrom(seed);
  const names = new Names();
  const spanPs = Math.round(4 * ms + (stepCount + 0.5) * stepPs * 1.04 + (stepCount ? 0 : 180 * ms));
  const result = { names, spanPs, hosts: [] };
  for (const host of hosts) {
    const planes = [];
    for (let d = 0; d < devices; d++) planes.push(devicePlane(names, random, d, kind, stepCount, stepPs));
    planes.push(hostPlane(names, random, threads, spanPs));
    for (const plane of planes) plane.lines = plane.lines.filter((line) => line.count > 0);
    result.hosts.push({ host, planes });
  }
  return result;
}

export function busyPs(line) {
  let busy = 0;
  let until = -Infinity;
  for (let i = 0; i < line.count; i++) {
    const from = Math.max(line.start[i], until);
    const to = line.start[i] + line.duration[i];
    if (to > from) {
      busy += to - from;
      until = to;
    }
  }
  return busy;
}

// Total and self time by name over the given lines.
export function topOps(profile, planeKind, most) {
  const byName = new Map();
  let allSelf = 0;
  profile.hosts.forEach((host, h) =>
    host.planes.forEach((plane, p) => {
      if (plane.kind !== planeKind) return;
      plane.lines.forEach((line, l) => {
        if (planeKind === 'device' && line.kind !== 'ops') return;
        const self = line.duration.slice();
        for (let e = 0; e < line.count; e++) if (line.parent[e] >= 0) self[line.parent[e]] -= line.duration[e];
        for (let e = 0; e < line.count; e++) {
          const n = line.nameIndex[e];
          const op = byName.get(n) ?? { count: 0, total: 0, self: 0, longest: -1, event: '' };
          op.count++;
          op.total += line.duration[e];
          op.self += Math.max(0, self[e]);
          allSelf += Math.max(0, self[e]);
          if (line.duration[e] > op.longest) {
            op.longest = line.duration[e];
            op.event = `${h}.${p}.${l}.${e}`;
          }
          byName.set(n, op);
        }
      });
    }),
  );
  const ops = [...byName].map(([n, op]) => ({
    name: profile.names.text[n],
    category: categoryNames[profile.names.category[n]],
    count: op.count,
    total_ps: op.total,
    self_ps: op.self,
    share: allSelf > 0 ? op.self / allSelf : null,
    source: profile.names.source[n],
    event: op.event,
  }));
  ops.sort((a, b) => b.self_ps - a.self_ps);
  return { ops: ops.slice(0, most), total: allSelf };
}
