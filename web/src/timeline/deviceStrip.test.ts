import { describe, expect, it } from 'vitest';
import { coverChunk } from './cover';
import { BUCKET_PX, DeviceStrip, MAX_STRIP_MEMBERS, hostMembers, isDense, planeMembers } from './deviceStrip';
import { makeLayout, representativeLine } from './layout';
import { TileCache } from './tileCache';
import { levelFor, rootLevelFor, visibleRange } from './tileGrid';
import { testHost, testLine, testPlane } from './testSession';
import { makeTile, type TestLines } from './testTiles';
import type { View } from './view';

const WIDTH = 400;
const WINDOW = { startPs: 0, endPs: 4_000_000 };
const VIEW: View = { startPs: 0, fractionPs: 0, durationPs: 4_000_000 };

/** Busy for the first `share` of every 1000 ps up to `untilPs`. */
function pulses(share: number, untilPs: number) {
  return [Array.from({ length: untilPs / 1000 }, (_, i) => ({ startPs: i * 1000, durationPs: share * 1000, name: 'op' }))];
}

function measure(lines: TestLines, groups: readonly string[]) {
  const cache = new TileCache();
  const level = levelFor(VIEW, WIDTH);
  const range = visibleRange(level, VIEW, WINDOW)!;
  for (let index = range.first; index <= range.last; ++index) cache.put({ chunk: 'x', level, index }, makeTile(lines, level, index));
  const segments = coverChunk(cache, 'x', level, range, rootLevelFor(WINDOW), WINDOW);
  const members = groups.map((group, i) => ({ group, chunk: 'x', lineIndex: i, line: testLine(`0.0.${i}`) }));
  return new DeviceStrip().measure(members, () => segments, VIEW, WIDTH, { from: 0, to: WIDTH });
}

describe('a strip', () => {
  it('shows the mean of what each bucket stands for, and nothing as busy that was idle', () => {
    const busy = measure([pulses(0.25, 2_000_000)], ['a'])!;
    expect(busy.buckets).toBe(WIDTH / BUCKET_PX);
    for (let i = 2; i < 48; ++i) expect(busy.mean[i]).toBeCloseTo(0.25, 1);
    for (let i = 52; i < 98; ++i) expect(busy.max[i]).toBe(0);
    expect(busy.all).toBeCloseTo(0.125, 2);
    expect([busy.devices, busy.least, busy.most]).toEqual([1, busy.all, busy.all]);
  });

  it('tells the idlest and the busiest of several devices', () => {
    const busy = measure([pulses(0.2, 4_000_000), pulses(0.8, 4_000_000), pulses(0.5, 4_000_000)], ['a', 'b', 'c'])!;
    expect(busy.devices).toBe(3);
    expect(busy.least).toBeCloseTo(0.2, 1);
    expect(busy.most).toBeCloseTo(0.8, 1);
    expect(busy.all).toBeCloseTo(0.5, 1);
    expect(busy.min[50]).toBeLessThan(0.3);
    expect(busy.max[50]).toBeGreaterThan(0.7);
    const around = [...busy.mean.slice(40, 60)];
    expect(around.reduce((sum, one) => sum + one, 0) / around.length).toBeCloseTo(0.5, 1);
  });

  it('counts the busiest of one device\'s streams, not their sum', () => {
    const busy = measure([pulses(0.6, 4_000_000), pulses(0.6, 4_000_000)], ['a', 'a'])!;
    expect(busy.devices).toBe(1);
    expect(busy.all).toBeCloseTo(0.6, 1);
  });

  it('is nothing while nothing is loaded', () => {
    const members = [{ group: 'a', chunk: 'x', lineIndex: 0, line: testLine('0.0.0') }];
    expect(new DeviceStrip().measure(members, () => [{ tile: null, startPs: 0, endPs: 4_000_000, exact: false }], VIEW, WIDTH, { from: 0, to: WIDTH })).toBe(null);
  });
});

describe('what a strip is made of', () => {
  const device = { ...testPlane('0.0', 0, { event_count: 30 }), lines: [testLine('0.0.0', { kind: 'modules' }), testLine('0.0.1', { kind: 'ops' }), testLine('0.0.2', { kind: 'ops', derived: true })] };
  const gpu = { ...testPlane('0.1', 0, { event_count: 15 }), lines: Array.from({ length: 30 }, (_, i) => testLine(`0.1.${i}`, { kind: 'stream', event_count: i % 2 })) };

  it('is the measured line of ops, or the streams with events, within a bound', () => {
    expect(planeMembers(device, representativeLine(device)).map((one) => one.line.id)).toEqual(['0.0.1']);
    expect(planeMembers(gpu, representativeLine(gpu)).length).toBe(15);
    expect(hostMembers(testHost('0', [device, gpu, { ...gpu, id: '0.2' }]), representativeLine).map((one) => one.group)).toEqual(['0.0', ...Array(4).fill('0.1'), ...Array(4).fill('0.2')]);
    const many = Array.from({ length: 40 }, (_, i) => ({ ...gpu, id: `0.${i}` }));
    expect(hostMembers(testHost('0', many), representativeLine).length).toBe(MAX_STRIP_MEMBERS);
  });

  it('belongs to folded tracks only, and sessions of many hosts begin with them folded', () => {
    const hosts = Array.from({ length: 64 }, (_, i) => testHost(String(i), [{ ...device, id: `${i}.0`, lines: device.lines.map((line) => ({ ...line, id: line.id.replace(/^0/, String(i)) })) }]));
    const layout = makeLayout(hosts, new Set());
    expect(layout.tracks.length).toBe(64);
    expect(layout.tracks.every((track) => track.kind === 'host' && !track.open && track.members.length === 1)).toBe(true);
    const opened = makeLayout(hosts, new Set(['h3']));
    expect(opened.find('h3')!.members).toEqual([]);
    expect(opened.find('3.0')!.open).toBe(true);
  });

  it('is drawn while single bars would be dust', () => {
    const members = [{ group: 'a', chunk: 'x', lineIndex: 0, line: testLine('0.0.0', { event_count: 1000, start_ps: 0, end_ps: 4_000_000 }) }];
    expect(isDense(members, VIEW, WIDTH)).toBe(true);
    expect(isDense(members, { ...VIEW, durationPs: 40_000 }, WIDTH)).toBe(false);
  });
});
