// The mock's sessions and the JSON answers about them. One session for each state a real log directory can be in.
import { busyPs, makeProfile, topOps } from './mock-data.mjs';
import { goldenSpecs } from './mock-goldens.mjs';
import { linesPerChunk, rowCount } from './mock-tiles.mjs';

const minute = 60_000;

function specs(now) {
  const list = [
    { run: 'llama-8b-142', name: '2026_11_29_14_31_00', hosts: ['host0', 'host1'], devices: 4, kind: 'TPU', device: 'TPU v6 Lite', steps: 12, stepPs: 9e9, state: 'complete', age: 3 },
    { run: 'llama-8b-142', name: '2026_11_29_13_02_11', hosts: ['host0', 'host1'], devices: 4, kind: 'TPU', device: 'TPU v6 Lite', steps: 6, stepPs: 9e9, state: 'partial', reason: 'host1: cut off after 812,331 of 1,032,114 bytes', age: 92 },
    { run: 'vllm-moe-77', name: '2026_11_29_11_20_45', hosts: ['34.83.195.179_6003'], devices: 2, kind: 'GPU', device: 'NVIDIA H200', steps: 0, stepPs: 0, state: 'complete', age: 190 },
    { run: 'mlp/cpu', name: '2026_11_29_10_07_09', hosts: ['node0.example.com'], devices: 0, kind: 'CPU', device: '', steps: 0, stepPs: 0, state: 'complete', age: 260 },
    { run: 'conv-legacy', name: '2026_11_28_18_40_02', hosts: ['host0'], state: 'damaged', reason: 'not an XSpace: expected a field tag at byte 0, found the text "<html>"', age: 1200 },
    { run: 'conv-legacy', name: '2026_11_28_18_32_55', hosts: [], state: 'empty', reason: 'the session directory holds no profile file', age: 1210 },
    { run: 'llama-8b-142', name: '2026_11_29_14_33_40', hosts: ['host0'], devices: 1, kind: 'TPU', device: 'TPU v6 Lite', steps: 3, stepPs: 9e9, state: 'writing', reason: 'host0.xplane.pb grew within the last 2 s', age: 0 },
  ];
  const workers = Array.from({ length: 64 }, (_, i) => `worker-${String(i).padStart(2, '0')}.pretrain.example.com`);
  list.push({ run: 'mixtral-8x22b/pretrain-v5p-256/with-a-rather-long-name-of-a-run-and-more', name: 'after_the_restart_of_worker_17', hosts: workers, devices: 4, kind: 'TPU', device: 'TPU v5p', steps: 2, stepPs: 4e9, state: 'complete', age: 300, threads: 2 });
  list.push({ run: 'tiny-steps', name: '2026_11_29_08_00_00', hosts: ['host0'], devices: 1, kind: 'TPU', device: 'TPU v5e', steps: 700, stepPs: 1e9, state: 'complete', age: 320 });
  for (let i = 0; i < 60; i++) {
    list.push({ run: `sweep/lr-${String(i % 12).padStart(2, '0')}`, name: `2026_11_${String(27 - (i % 20)).padStart(2, '0')}_09_${String(i).padStart(2, '0')}_00`, hosts: ['host0', 'host1', 'host2', 'host3'].slice(0, 1 + (i % 4)), devices: 1, kind: 'TPU', device: 'TPU v5e', steps: 4, stepPs: 8e9, state: i % 9 === 4 ? 'complete' : 'unread', age: 1500 + i * 733 });
  }
  if (process.argv.includes('--goldens')) list.push(...goldenSpecs());
  return list.map((spec, i) => ({ ...spec, seed: 7 + i, id: idOf(i), modified: now - spec.age * minute }));
}

function idOf(i) {
  return 'k3v0w9m2c4' + String(i).padStart(3, '0');
}

export class MockSessions {
  constructor({ empty = false } = {}) {
    this.sessions = empty ? [] : specs(Date.now());
    this.profiles = new Map();
    this.sortNewest();
  }

  sortNewest() {
    this.sessions.sort((a, b) => b.modified - a.modified);
  }

  find(id) {
    return this.sessions.find((session) => session.id === id);
  }

  addCaptured(name, run, hosts) {
    const session = { run: run || 'live', name, hosts, devices: 1, kind: 'TPU', device: 'TPU v6 Lite', steps: 8, stepPs: 9e9, state: 'complete', seed: 400 + this.sessions.length, id: idOf(500 + this.sessions.length), modified: Date.now() };
    this.sessions.push(session);
    this.sortNewest();
    return session;
  }

  profile(session) {
    if (session.state === 'damaged' || session.state === 'empty') return null;
    if (!this.profiles.has(session.id)) {
      this.profiles.set(session.id, makeProfile({ seed: session.seed, hosts: session.hosts, devices: session.devices, kind: session.kind, stepCount: session.steps, stepPs: session.stepPs, ...(session.threads ? { threads: session.threads } : {}) }));
    }
    return this.profiles.get(session.id);
  }

  summary(s) {
    return {
      id: s.id, run: s.run, name: s.name, hosts: s.hosts, host_count: s.hosts.length,
      size_bytes: s.state === 'empty' ? 0 : 431_353 * Math.max(1, s.hosts.length) * (1 + (s.seed % 5)),
      modified_unix_ms: s.modified, state: s.state, state_reason: s.reason ?? null, root: '/srv/logs',
      path: `${s.run}/plugins/profile/${s.name}`,
    };
  }

  list(q) {
    const wanted = q.toLowerCase();
    return this.sessions.filter((s) => [s.run, s.name, ...s.hosts].some((text) => text.toLowerCase().includes(wanted))).map((s) => this.summary(s));
  }

  detail(s) {
    const summary = this.summary(s);
    const profile = this.profile(s);
    return {
      ...summary,
      version: '9f31c2d0a7e4b65d',
      origin_unix_ns: profile ? String(BigInt(s.modified) * 1_000_000n) : null,
      window: profile ? { start_ps: 0, end_ps: profile.spanPs } : null,
      files: s.hosts.map((host) => ({ host, file: `${host}.xplane.pb`, format: 'xplane.pb', size_bytes: Math.round(summary.size_bytes / s.hosts.length), state: s.state, state_reason: s.reason ?? null })),
      load: { stage: s.state === 'damaged' ? 'failed' : 'ready', done_bytes: summary.size_bytes, total_bytes: summary.size_bytes },
    };
  }

  completeness(s) {
    const profile = this.profile(s);
    const damaged = s.state === 'damaged' || s.state === 'partial';
    return {
      state: s.state, reasons: s.reason ? [s.reason] : [],
      hosts_expected: null, hosts_expected_reason: 'the profile does not say how many hosts took part', hosts_received: s.hosts.length,
      hosts: s.hosts.map((host, h) => {
        const cut = damaged && h === s.hosts.length - 1;
        const planes = profile ? profile.hosts[h].planes : [];
        const events = planes.reduce((sum, plane) => sum + plane.lines.reduce((n, line) => n + line.count, 0), 0);
        return {
          host, file: `${host}.xplane.pb`, size_bytes: 1_032_114, readable_bytes: s.state === 'damaged' ? 0 : cut ? 812_331 : 1_032_114,
          content_hash: `xxh3:${(s.seed * 2654435761 + h).toString(16).padStart(16, '0')}`, state: cut ? s.state : 'complete',
          window: profile ? { start_ps: 0, end_ps: profile.spanPs, source: 'Task Environment' } : null, clock_offset_ps: profile ? h * 12_500_000 : null,
          events: profile ? events : null, lines: profile ? planes.reduce((n, plane) => n + plane.lines.length, 0) : null, planes: profile ? planes.length : null,
          empty_planes: profile && h === 0 ? ['/host:metadata', '/device:CUSTOM:Megascale Trace'] : [],
          events_out_of_order: profile ? 0 : null, events_beyond_window: profile ? (cut ? 14 : 0) : null, events_overlapping: profile ? 0 : null,
          events_negative: profile ? 0 : null, missing_metadata: profile ? (cut ? 3 : 0) : null,
          errors: cut && s.state === 'partial' ? ['Failed to collect trace from device 3: buffer overflow, 41 events dropped'] : [], warnings: [],
          damage: cut ? [{ name: s.state === 'damaged' ? 'NOT_AN_XSPACE' : 'FILE_CUT_OFF', message: s.state === 'damaged' ? 'Expected a field tag, found the text "<html>".' : 'A length of 3,211 bytes reaches beyond the end of the file.', offset_bytes: s.state === 'damaged' ? 0 : 812_331, plane: s.state === 'damaged' ? null : '/host:CPU', line: s.state === 'damaged' ? null : 'python' }] : [],
        };
      }),
    };
  }

  overview(s) {
    const profile = this.profile(s);
    const window = { start_ps: 0, end_ps: profile.spanPs };
    const devices = [];
    let events = 0;
    for (const host of profile.hosts) {
      for (const plane of host.planes) {
        for (const line of plane.lines) events += line.count;
        if (plane.kind !== 'device') continue;
        const ops = plane.lines.find((line) => line.kind === 'ops');
        const busy = ops ? busyPs(ops) : null;
        devices.push({ host: host.host, plane: plane.name, kind: s.kind, name: s.device, busy_ps: busy, busy_share: busy === null ? null : busy / profile.spanPs });
      }
    }
    const by = devices.some((device) => device.busy_ps !== null) ? 'device' : 'host';
    const { ops, total } = topOps(profile, by, 100);
    return {
      duration_ps: profile.spanPs, window,
      hosts: profile.hosts.map((host) => ({ host: host.host, device_count: host.planes.filter((plane) => plane.kind === 'device').length })),
      devices, event_count: events, ...this.steps(profile),
      top_ops: ops, top_ops_by: by, top_ops_total_ps: total, top_ops_reason: null,
    };
  }

  steps(profile) {
    const p = profile.hosts[0].planes.findIndex((plane) => plane.lines.some((line) => line.kind === 'steps'));
    if (p < 0) return { steps: null, steps_reason: 'The profile marks no steps: no "Steps" line and no StepTraceAnnotation was recorded.' };
    const l = profile.hosts[0].planes[p].lines.findIndex((line) => line.kind === 'steps');
    const line = profile.hosts[0].planes[p].lines[l];
    const d = line.duration;
    return {
      steps: {
        source: 'Steps', count: line.count, mean_ps: Math.round(d.reduce((a, b) => a + b, 0) / d.length), min_ps: Math.min(...d), max_ps: Math.max(...d),
        items: line.start.slice(0, 500).map((start, i) => ({ name: profile.names.text[line.nameIndex[i]], start_ps: start, duration_ps: d[i], line: `0.${p}.${l}` })),
      },
      steps_reason: null,
    };
  }

  lines(s) {
    const profile = this.profile(s);
    return {
      version: '9f31c2d0a7e4b65d', complete: true, window: { start_ps: 0, end_ps: profile.spanPs },
      hosts: profile.hosts.map((host, h) => ({
        id: String(h), host: host.host,
        planes: host.planes.map((plane, p) => ({
          id: `${h}.${p}`, name: plane.name, kind: plane.kind, chunks: Math.ceil(plane.lines.length / linesPerChunk),
          event_count: plane.lines.reduce((n, line) => n + line.count, 0),
          lines: plane.lines.map((line, l) => ({
            id: `${h}.${p}.${l}`, name: line.name, display_name: line.name, thread_id: line.threadId, kind: line.kind, derived: line.derived, row_count: rowCount(line),
            event_count: line.count, start_ps: line.start[0], end_ps: line.start.reduce((m, start, i) => Math.max(m, start + line.duration[i]), 0), chunk: Math.floor(l / linesPerChunk),
          })),
        })),
      })),
    };
  }

  event(s, id) {
    const [h, p, l, e] = id.split('.').map(Number);
    const profile = this.profile(s);
    const host = profile.hosts[h];
    const line = host?.planes[p]?.lines[l];
    if (!line || !(e < line.count)) return null;
    const name = profile.names.text[line.nameIndex[e]];
    const stats = [
      { name: 'run_id', value: 71, type: 'uint64', unit: null, origin: 'event' },
      { name: 'bytes_accessed', value: 5368709120, type: 'uint64', unit: 'B', origin: 'metadata' },
      { name: 'flops', value: '274877906944000000', type: 'uint64', unit: null, origin: 'metadata' },
      { name: 'source', value: profile.names.source[line.nameIndex[e]] ?? 'unknown', type: 'string', unit: null, origin: 'metadata' },
      { name: 'tf_op', value: `jit(train_step)/transformer/${name}`, type: 'ref', unit: null, origin: 'metadata' },
    ];
    return {
      id, name, full_name: `%${name} = bf16[4,2048,4096]{2,1,0} op(%p0, %p1)`, host: host.host, plane: host.planes[p].name, line: line.name,
      start_ps: line.start[e], duration_ps: line.duration[e], self_ps: line.duration[e], depth: line.row[e], occurrences: 1,
      parent: line.parent[e] >= 0 ? `${h}.${p}.${l}.${line.parent[e]}` : null, offset_bytes: String(81233 + e * 17), stats,
    };
  }

  neighbours(s, query) {
    const [h, p, l] = query.get('line').split('.').map(Number);
    const line = this.profile(s).hosts[h].planes[p].lines[l];
    let e = query.has('event') ? Number(query.get('event')) : -1;
    if (e < 0) {
      const at = Number(query.get('at_ps'));
      let best = Infinity;
      for (let i = 0; i < line.count; i++) {
        const away = at < line.start[i] ? line.start[i] - at : Math.max(0, at - line.start[i] - line.duration[i]);
        if (away <= best) {
          best = away;
          e = i;
        }
      }
    }
    const id = (i) => (i >= 0 && i < line.count ? `${h}.${p}.${l}.${i}` : null);
    return { event: id(e), previous: id(e - 1), next: id(e + 1) };
  }

  search(s, query) {
    const q = query.get('q') ?? '';
    const profile = this.profile(s);
    const isRegex = q.length > 2 && q.startsWith('/') && q.endsWith('/');
    const test = isRegex ? (text) => new RegExp(q.slice(1, -1), 'i').test(text) : (text) => text.toLowerCase().includes(q.toLowerCase());
    const wanted = new Set(profile.names.text.map((text, i) => (test(text) ? i : -1)).filter((i) => i >= 0));
    const from = Number(query.get('from_ps') ?? 0);
    const to = Number(query.get('to_ps') ?? profile.spanPs);
    const limit = Math.min(10000, Number(query.get('limit') ?? 1000));
    const hits = [];
    const density = new Array(256).fill(0);
    profile.hosts.forEach((host, h) => host.planes.forEach((plane, p) => plane.lines.forEach((line, l) => {
      for (let e = 0; e < line.count; e++) {
        if (!wanted.has(line.nameIndex[e]) || line.start[e] >= to || line.start[e] + line.duration[e] < from) continue;
        hits.push({ event: `${h}.${p}.${l}.${e}`, name: profile.names.text[line.nameIndex[e]], start_ps: line.start[e], duration_ps: line.duration[e], line: `${h}.${p}.${l}` });
        density[Math.max(0, Math.min(255, Math.floor(((line.start[e] - from) / (to - from)) * 256)))]++;
      }
    })));
    hits.sort((a, b) => a.start_ps - b.start_ps);
    return { query: q, total: hits.length, names: wanted.size, hits: hits.slice(0, limit), truncated: hits.length > limit, density };
  }
}
