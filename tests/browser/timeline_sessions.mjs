// Generated sessions for the timeline's browser tests: as large, as many hosts and as many rows as the points ask for, and small
// ones with facts planted. Written by xspace.mjs, so nothing here depends on the server's own code.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { line, manyEvents, plane, xspace } from './xspace.mjs';

const US = 1_000_000;

function sessionDirectory(root, run, session) {
  const directory = path.join(root, run, 'plugins', 'profile', session);
  mkdirSync(directory, { recursive: true });
  return directory;
}

export function randomSource(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const OPS = Array.from({ length: 200 }, (_, i) => `${['fusion', 'dot', 'all-reduce', 'copy', 'custom-call', 'reduce'][i % 6]}.${i}`);

// Back-to-back ops of 0.3 to 3 us with pauses; `busy` is the share of time in which one runs.
function opsLine(count, seed, busy) {
  const random = randomSource(seed);
  let at = 0;
  return manyEvents(2, 'XLA Ops', 0n, count, (_, out) => {
    const duration = Math.floor(US * (0.3 + 2.7 * random()));
    out.id = 1 + Math.floor(random() * OPS.length);
    out.offset = at;
    out.duration = duration;
    at += duration + Math.floor(duration * (1 / busy - 1) * 2 * random());
  });
}

// As many events as a TPU's file of 100 MB: four devices, 3.6 million ops.
export function largeTpu(root, { events = 3_600_000 } = {}) {
  const planes = Array.from({ length: 4 }, (_, i) => plane(`/device:TPU:${i}`, OPS, [opsLine(Math.floor(events / 4), 11 + i, 0.8)]));
  writeFileSync(path.join(sessionDirectory(root, 'large', '2026_01_01_00_00_00'), 'host0.xplane.pb'), xspace(planes));
}

export const MANY_HOSTS = 64;

// 64 hosts of two devices; host h is busy for 30 % + h/2 %.
export function manyHosts(root) {
  const directory = sessionDirectory(root, 'many-hosts', '2026_01_01_00_00_00');
  for (let h = 0; h < MANY_HOSTS; ++h) {
    const planes = [0, 1].map((i) => plane(`/device:TPU:${i}`, OPS, [opsLine(4000, 1000 + h * 2 + i, 0.3 + h / 200)]));
    writeFileSync(path.join(directory, `host${String(h).padStart(2, '0')}.xplane.pb`), xspace(planes));
  }
}

export const MANY_ROWS = 500;

// 500 threads, each with 4,200 events of some microseconds over 60 ms: a screen of them is more than 100,000 bars.
export function manyRows(root) {
  const lines = Array.from({ length: MANY_ROWS }, (_, row) => {
    const random = randomSource(row + 7);
    let at = 0;
    return manyEvents(row + 1, `thread ${String(row).padStart(3, '0')}`, 0n, 4200, (_, out) => {
      const duration = Math.floor(US * (2 + 10 * random()));
      out.id = 1 + Math.floor(random() * OPS.length);
      out.offset = at;
      out.duration = duration;
      at += duration + Math.floor(US * (1 + 12 * random()));
    });
  });
  writeFileSync(path.join(sessionDirectory(root, 'many-rows', '2026_01_01_00_00_00'), 'host0.xplane.pb'), xspace([plane('/host:CPU', OPS, lines)]));
}

// Two sessions of one job: ten steps of 10 ms; the second begins 3.7 ms later and its steps take 12 ms.
export const STEPS_A = { firstPs: 5_000 * US, lengthPs: 10_000 * US };
export const STEPS_B = { firstPs: 8_700 * US, lengthPs: 12_000 * US };

export function twoRuns(root) {
  for (const [session, steps] of [['2026_01_01_00_00_00', STEPS_A], ['2026_01_01_01_00_00', STEPS_B]]) {
    const names = ['dot.1', 'jit_step(7716253410928341207)', ...Array.from({ length: 10 }, (_, i) => String(i + 1))];
    const at = (i) => BigInt(steps.firstPs + i * steps.lengthPs);
    const events = (id, share) => Array.from({ length: 10 }, (_, i) => [id(i), at(i), BigInt(Math.floor(steps.lengthPs * share))]);
    const planes = [plane('/device:TPU:0', names, [
      line(1, 'Steps', 0n, events((i) => i + 3, 1)), line(2, 'XLA Modules', 0n, events(() => 2, 0.9)), line(3, 'XLA Ops', 0n, events(() => 1, 0.5)),
    ])];
    writeFileSync(path.join(sessionDirectory(root, 'two-runs', session), 'host0.xplane.pb'), xspace(planes));
  }
}

// Counters of a trace: a ramp of a thousand samples with a peak in the middle, and one that says nothing for long.
export const COUNTER_PEAK = { atUs: 500_500, value: 5000 };

export function counters(root) {
  const events = [
    { ph: 'M', pid: 1, name: 'process_name', args: { name: 'job' } },
    { ph: 'X', pid: 1, tid: 1, ts: 0, dur: 1_000_000, name: 'all of it' },
    ...Array.from({ length: 1000 }, (_, i) => ({ ph: 'C', pid: 1, name: 'queue', ts: i * 1000, args: { length: i } })),
    { ph: 'C', pid: 1, name: 'queue', ts: COUNTER_PEAK.atUs, args: { length: COUNTER_PEAK.value } },
    { ph: 'C', pid: 1, name: 'batch', ts: 10_000, args: { size: 32 } },
    { ph: 'C', pid: 1, name: 'batch', ts: 900_000, args: { size: 64 } },
  ];
  writeFileSync(path.join(sessionDirectory(root, 'counters', '2026_01_01_00_00_00'), 'host0.trace.json.gz'), gzipSync(JSON.stringify({ traceEvents: events })));
}
