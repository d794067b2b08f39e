import { describe, expect, it } from 'vitest';
import { findingsOf, xprofsFigure } from '../overview/findings';
import { readAnswer, readTable } from '../tools/answer';
import { findOp, shortId, shortSource } from '../tools/OpSections';
import { verdictOf } from './input/InputBody';
import { heapTable, ownersOf, readHeap } from './memoryviewer/heap';
import { buffersTable, liveAt, readAllocators } from './memoryprofile/profile';
import { alignProfiles, findNode, firstOpen, isOp, readProfile, rootOf, visibleRows } from './opprofile/tree';

const node = (name: string, rawTime: number, children: unknown[] = [], more: object = {}) => ({ name, metrics: { rawTime, flops: 0, uncappedFlops: 0.1, bandwidthUtils: [0.5, 0, 0], rawFlops: 1, rawBytesAccessedArray: [1], occurrences: 2, avgTimePs: 0 }, children, numChildren: children.length, ...more });
const profile = { byProgram: node('by_program', 100, [node('IDLE', 40)]), byProgramExcludeIdle: node('by_program', 60, [node('jit_f(12)', 20, [node('fusion', 20, [node('fusion.3', 20, [], { xla: { expression: '%fusion.3', programId: '12', category: 'fusion', sourceInfo: { fileName: '/a/m.py', lineNumber: 9 } } })])]), node('jit_g(3)', 40, [], { numChildren: 5 })]) } as never;

describe('the op profile', () => {
  const root = readProfile(rootOf(profile, 'program', false))!;
  it('gives utilization of the node itself, not weighted by its time', () => {
    expect(root.flops).toBe(0.1);
    expect(root.children[0]!.share).toBeCloseTo(1 / 3);
    expect(root.children[0]!.flops).toBeCloseTo(0.3);
    expect(root.children[0]!.wastedPs).toBeCloseTo(10);
    expect(root.children[1]!.leftOut).toBe(5);
  });
  it('shows open nodes, heaviest first, and what a search finds with the way to it', () => {
    expect(visibleRows(root, new Set(), 'time', '').map((one) => one.name)).toEqual(['jit_g(3)', 'jit_f(12)']);
    expect(visibleRows(root, new Set(['0', '0.0']), 'time', '').map((one) => one.path)).toEqual(['1', '0', '0.0', '0.0.0']);
    expect(visibleRows(root, new Set(), 'time', 'M.PY').map((one) => one.name)).toEqual(['jit_f(12)', 'fusion', 'fusion.3']);
    expect(visibleRows(root, new Set(), 'time', 'nothing')).toEqual([]);
    expect(firstOpen(readProfile(rootOf(profile, 'program', true))!)).toEqual([]);
    expect(findNode(root, '0.0.0')!.name).toBe('fusion.3');
    expect(isOp(findNode(root, '0.0.0')!)).toBe(true);
    expect(isOp(root.children[0]!)).toBe(false);
  });
  it('is aligned with a baseline by names without program ids', () => {
    const other = readProfile(node('by_program', 70, [node('jit_g(99)', 10), node('jit_f(98)', 60, [node('fusion', 60)])]) as never)!;
    const pairs = alignProfiles(root, other);
    expect(pairs.get('0')!.timePs).toBe(60);
    expect(pairs.get('0.0')!.timePs).toBe(60);
    expect(pairs.get('0.0.0')).toBeUndefined();
    expect(pairs.get('1')!.timePs).toBe(10);
  });
});

describe('the memory profile', () => {
  const snapshot = (time: number, heap: number, activity: object) => ({ timeOffsetPs: String(time), aggregationStats: { stackReservedBytes: '10', heapAllocatedBytes: String(heap) }, activityMetadata: activity });
  const allocators = readAllocators({ memoryProfilePerAllocator: { 1: { profileSummary: { memoryCapacity: '100', peakStatsTimePs: '2', peakStats: { peakBytesInUse: '40', stackReservedBytes: '10', heapAllocatedBytes: '30' } }, memoryProfileSnapshots: [snapshot(1, 20, { memoryActivity: 'ALLOCATION', allocationBytes: '20', requestedBytes: '19', address: '7', tfOpName: 'a', tensorShape: 'unknown' })], sampledTimelineSnapshots: [snapshot(2, 30, { memoryActivity: 'ALLOCATION', allocationBytes: '10', address: '8' }), snapshot(1, 20, { memoryActivity: 'ALLOCATION', allocationBytes: '20', address: '7' }), snapshot(3, 10, { memoryActivity: 'DEALLOCATION', allocationBytes: '20', address: '7' })], specialAllocations: [{ allocationBytes: '10', tfOpName: 'stack' }], activeAllocations: [{ snapshotIndex: '-1', specialIndex: '0', numOccurrences: '1' }, { snapshotIndex: '0', specialIndex: '-1', numOccurrences: '3' }] }, 0: { profileSummary: {} } } } as never);
  it('puts the fullest memory first and its curve in order of time', () => {
    expect(allocators.map((one) => one.id)).toEqual(['1', '0']);
    expect(allocators[0]!.curve.map((one) => one.timePs)).toEqual([1, 2, 3]);
    expect(allocators[0]!.peak.bytes).toBe(40);
    expect(readAllocators(null)).toEqual([]);
  });
  it('lists buffers of the peak, and what was alive at a moment', () => {
    const table = buffersTable('t', allocators[0]!.atPeak);
    expect(table.rows.map((row) => row.cells.slice(0, 4))).toEqual([['stack', 10, 0, 1], ['a', 60, 57, 3]]);
    expect(liveAt(allocators[0]!, 1).map((one) => one.activity.address)).toEqual(['7', '8']);
    expect(liveAt(allocators[0]!, 2).map((one) => one.activity.address)).toEqual(['8']);
  });
});

describe('the memory viewer', () => {
  const heap = readHeap({ moduleName: 'jit_f', entryComputationName: 'main', heapSizes: [1, 3, 2], unpaddedHeapSizes: [1, 2, 2], hloInstructionNames: ['a', 'b', 'c'], peakHeapMib: 3, peakUnpaddedHeapMib: 2, totalBufferAllocationMib: 3.5, maxHeap: [{ logicalBufferId: 14, logicalBufferSizeMib: 1.5, unpaddedShapeMib: 1, instructionName: 'copy{0}', groupName: 'Temporary' }, { logicalBufferId: 15, logicalBufferSizeMib: 1, unpaddedShapeMib: 1, instructionName: 'p', groupName: 'Parameter' }, { logicalBufferId: -1, logicalBufferSizeMib: 0.25, label: 'small (<16384 bytes)' }], logicalBufferSpans: { 14: { limit: 2 } }, bufferBlocks: [{ logicalBufferId: 14, size: 8, endStep: 2 }] } as never)!;
  it('reads sizes in bytes and lives from the program', () => {
    expect(heap.peakBytes).toBe(3 * 1024 * 1024);
    expect(heap.peakAt).toBe(1);
    expect([heap.buffers[0]!.start, heap.buffers[0]!.end]).toEqual([0, 2]);
    expect(heap.buffers[1]!.start).toBeNull();
    expect(heap.fragmentationBytes).toBe(0.5 * 1024 * 1024);
    expect(readHeap({} as never)).toBeNull();
  });
  it('gives every byte of the peak an owner', () => {
    const owners = ownersOf(heap);
    expect(owners.map((one) => one.name)).toEqual(['Temporary', 'Parameter', 'Small buffers', 'Not listed']);
    expect(owners.reduce((sum, one) => sum + one.bytes, 0)).toBe(heap.peakBytes);
  });
  it('links buffers to their instruction', () => expect(heapTable(heap).rows[0]!.subject!.opName).toBe('copy'));
});

describe('the verdict on input', () => {
  const steps = (conclusion: string, rows: number) => readTable({ id: 's', columns: [{ id: 'stepnum', type: 'string' }, { id: 'a', type: 'number' }], rows: Array.from({ length: rows }, (_, i) => [String(i), 1]), properties: { input_conclusion: conclusion } });
  it.each([
    ['Your program is HIGHLY input-bound because', 3, 'bad'],
    ['Input limits the steps: 79.6 % of the step time goes into waiting for it.', 3, 'bad'],
    ['Input slows the steps down: 9.1 % of the step time goes into waiting for it.', 3, 'bad'],
    ['Input does not limit the steps: it takes 0.1 % of the step time.', 3, 'good'],
    ['12.0 % of the step time belongs to no recorded work: it may be input or Python.', 3, 'unknown'],
    ['Your program is NOT input-bound because only 0.1% of the', 3, 'good'],
    ['No step time measured. Therefore we cannot tell', 0, 'unknown'],
    ['', 2, 'unknown'],
  ])('%s with %i steps is %s', (conclusion, rows, level) => expect(verdictOf(steps(conclusion, rows)).level).toBe(level));
  it('without a table says what is missing', () => expect(verdictOf(null).text).toMatch(/no step/));
});

describe('an op', () => {
  const answer = readAnswer({ tool: 'hlo_stats', tables: [{ id: 'ops', columns: [{ id: 'program_id', type: 'string' }, { id: 'hlo_op_name', type: 'string' }], rows: [['11', 'fusion.3'], ['12', 'fusion.3'], ['12', 'dot.1']] }] });
  it('is found in its program, with its twins in others', () => {
    const found = findOp(answer, { moduleId: '12', name: 'fusion.3' })!;
    expect(found.row.index).toBe(1);
    expect(found.twins.map((row) => row.index)).toEqual([0]);
    expect(findOp(answer, { moduleId: '', name: 'fusion.3' })!.row.index).toBe(0);
    expect(findOp(answer, { moduleId: '', name: 'none' })).toBeNull();
    expect(findOp(null, { moduleId: '', name: 'x' })).toBeNull();
  });
  it('has a short source and program', () => {
    expect(shortSource('/a/b/model.py:9\n/a/c.py:1')).toBe('model.py:9');
    expect(shortId('12190760917235803885')).toBe('26ed');
  });
});

describe('findings', () => {
  const ops = readTable({ id: 'ops', columns: [{ id: 'category', type: 'string' }, { id: 'total_self_time_percent', type: 'number', unit: 'percent' }], rows: [['copy-done', 48], ['copy-done', 48], ['fusion', 2]] });
  const device = (busy: number | null) => ({ host: 'h', plane: `/device:GPU:${busy}`, kind: 'GPU', name: null, busy_ps: busy, busy_share: busy === null ? null : busy / 100 });
  const overview = { devices: [device(90), device(80), device(0), device(null)] } as never;
  const nothing = { overview: null, page: null, profile: null, ops: null, memory: null, beyondXprof: null };
  it('name the heavy category as a share of op time, with a link to it', () => {
    const found = findingsOf({ ...nothing, ops })[0]!;
    expect(found.title).toMatch(/host/);
    expect(found.detail).toMatch(/98\.0 % of device op time goes to 2 ops/);
    expect(found.search).toBe('f=category%3Dcopy-done');
  });
  it('say how many devices worked', () => expect(findingsOf({ ...nothing, overview })[0]!.detail).toBe('2 of 4 devices ran anything in the window.'));
  it("find XProf's figure in what the tool says of it", () => {
    expect(xprofsFigure('The devices reach 17.0 % of their peak flop rate while they work. XProf shows 2.80 %: it counts nothing')).toBe('2.80 %');
    expect(xprofsFigure(null)).toBeNull();
  });
  it('are none when nothing is known', () => expect(findingsOf(nothing)).toEqual([]));
});
