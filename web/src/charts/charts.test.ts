import { describe, expect, it } from 'vitest';
import { readTable } from '../tools/answer';
import { areaPaths } from './AreaChart';
import { spreadOf } from './Histogram';
import { deviceOf, opRows, placeLabels, pointsOf, programRows, rangesOf, ridgeOf, roofAt } from './roof';
import { rateText } from './RooflineChart';
import { lastAtOrBefore, linearScale, linearTicks, logScale, logTicks, tickText, rangeTicks, tickBeside } from './scale';
import { groupBars, labelPlaces } from './StackedBars';
import { partTotals, stepBars } from './stepParts';
import { squarify } from './Treemap';

describe('axes', () => {
  it('have round ticks that cover the largest value', () => {
    expect(linearTicks(12.3)).toEqual([0, 5, 10, 15]);
    expect(linearTicks(0.7)).toEqual([0, 0.2, 0.4, 0.6, 0.8]);
    expect(linearTicks(0)).toEqual([0, 1]);
    for (const max of [1, 3.7, 99, 100, 1234]) expect(linearTicks(max).at(-1)).toBeGreaterThanOrEqual(max);
    expect(logTicks(0.1, 1000).map((tick) => tick.value)).toEqual([0.1, 1, 10, 100, 1000]);
    expect(tickText(2.5)).toBe('2.5');
    expect(tickText(10_000)).toBe('10,000');
  });
  it('map there and back', () => {
    expect(linearScale(0, 10, 100, 200)(5)).toBe(150);
    expect(linearScale(0, 10, 100, 200).invert(150)).toBe(5);
    const log = logScale(1, 1000, 0, 300);
    expect(log(10)).toBeCloseTo(100);
    expect(log.invert(200)).toBeCloseTo(100);
  });
  it('find the last value at or before a place', () => expect([-1, 0, 3, 9].map((x) => lastAtOrBefore([0, 2, 5], x))).toEqual([-1, 0, 1, 2]));
});

describe('bars', () => {
  it('are joined to means when there are more than pixels', () => {
    const bars = [1, 3, 5].map((value, i) => ({ label: String(i), values: [value, 10] }));
    expect(groupBars(bars, 2)).toEqual([{ label: '0', values: [2, 10] }, { label: '2', values: [5, 10] }]);
    expect(groupBars(bars, 1)).toBe(bars);
    expect(labelPlaces(3, 1000)).toEqual([0, 1, 2]);
    expect(labelPlaces(100, 440)).toHaveLength(10);
  });
  const steps = readTable({ id: 's', columns: [{ id: 'stepnum', type: 'string' }, { id: 'tcComputeTimeMs', label: 'TensorCore compute (in ms)', type: 'number', unit: 'ms' }, { id: 'tcIdleTimeMs', label: 'TensorCore idle (in ms)', type: 'number', unit: 'ms' }, { id: 'tcInfeedTimeMs', label: 'TensorCore input (in ms)', type: 'number', unit: 'ms' }, { id: 'tooltip', type: 'string' }, { id: 'infeedPercentAverage', type: 'number' }], rows: [['0', 3, 0.5, 0.5, 'x', 12], ['1', 5, 0.5, 0.5, 'y', 8]] });
  it('take the parts of a step from the table, work below and idle on top', () => {
    const { parts, bars } = stepBars(steps);
    expect(parts.map((part) => [part.label, part.category])).toEqual([['TensorCore compute', 'matmul'], ['TensorCore input', 'transfer'], ['TensorCore idle', 'other']]);
    expect(bars[1]).toEqual({ label: '1', values: [5e9, 0.5e9, 0.5e9] });
    expect(partTotals({ parts, bars }).map((part) => [part.id, part.meanPs, part.share])).toEqual([['tcComputeTimeMs', 4e9, 0.8], ['tcInfeedTimeMs', 0.5e9, 0.1], ['tcIdleTimeMs', 0.5e9, 0.1]]);
  });
});

describe('areas', () => {
  it('stack as steps', () => {
    const same = (value: number) => value;
    const paths = areaPaths([0, 1], [{ id: 'a', label: '', category: 'other', values: [1, 2] }, { id: 'b', label: '', category: 'other', values: [10, 10] }], same, same);
    expect(paths[0]).toBe('M0.0,1.0H1.0V2.0L1.0,0.0V0.0H0.0Z');
    expect(paths[1]).toBe('M0.0,11.0H1.0V12.0L1.0,2.0V1.0H0.0Z');
  });
});

describe('a spread', () => {
  it('names values that were measured', () => {
    expect(spreadOf([])).toBeNull();
    expect(spreadOf(Array.from({ length: 100 }, (_, i) => i + 1))).toEqual({ count: 100, min: 1, p50: 50, p99: 99, max: 100 });
    expect(spreadOf([7])).toEqual({ count: 1, min: 7, p50: 7, p99: 7, max: 7 });
  });
});

describe('a treemap', () => {
  const item = (id: string, size: number) => ({ id, label: id, size, category: 'other', title: id });
  it('fills the box with areas in proportion', () => {
    const tiles = squarify([item('a', 6), item('b', 3), item('c', 1), item('none', 0)], 100, 50);
    expect(tiles).toHaveLength(3);
    expect(tiles.reduce((sum, tile) => sum + tile.width * tile.height, 0)).toBeCloseTo(5000);
    expect(tiles[0]!.width * tiles[0]!.height).toBeCloseTo(3000);
    for (const tile of tiles) {
      expect(tile.x + tile.width).toBeLessThanOrEqual(100.001);
      expect(tile.y + tile.height).toBeLessThanOrEqual(50.001);
    }
  });
  it('of nothing is empty', () => expect(squarify([item('a', 0)], 10, 10)).toEqual([]));
});

describe('the roofline', () => {
  const table = readTable({
    id: 'r',
    properties: { device_type: 'TPU v6 Lite', peak_flop_rate: '918000', peak_hbm_bw: '1525.5', peak_cmem_read_bw: '0' },
    columns: [{ id: 'step', type: 'string' }, { id: 'category', type: 'string' }, { id: 'operation', type: 'string' }, { id: 'measured_flop_rate', type: 'number', unit: 'GFLOP/s' }, { id: 'hbm_operational_intensity', type: 'number' }, { id: 'total_self_time_percent', type: 'number', unit: 'fraction' }, { id: 'total_time_in_percentage', type: 'number', unit: 'fraction' }, { id: 'include_infeed_outfeed', type: 'boolean' }, { id: 'bound_by', type: 'string' }],
    rows: [['Total', 'Program', 'Program', 4.4, 0.06, 0, 1, true, 'HBM'], ['Total', 'copy', 'copy.1', 0, 0, 0.6, 0, true, 'HBM'], ['Total', 'fusion', 'add.1', 50, 0.125, 0.4, 0, true, 'HBM'], ['Total', 'fusion', 'add.1', 50, 0.125, 0.4, 0, false, 'HBM'], ['3', 'Program', 'Program', 5, 0.06, 0, 0.1, true, 'HBM']],
  });
  const device = deviceOf(table);
  it('knows the device, its roofs and their ridge', () => {
    expect(device.memories.map((memory) => memory.id)).toEqual(['hbm']);
    expect(ridgeOf(device.memories[0]!, device.peakGflops)).toBeCloseTo(560.44, 1);
    expect(roofAt(1e9, device.memories[0]!, device.peakGflops)).toBe(918_000);
    expect(roofAt(1, device.memories[0]!, device.peakGflops)).toBeCloseTo(1638, 0);
  });
  // acceptance: RF4
  it('places ops, and lists apart those without FLOPs', () => {
    const rows = opRows(table, true);
    expect(rows.map((row) => row.index)).toEqual([1, 2]);
    const { points, without } = pointsOf(table, rows, device.memories[0]!);
    expect(points.map((point) => [point.name, point.x, point.y, point.share])).toEqual([['add.1', 0.125, 50, 0.4]]);
    expect(without.map((row) => row.index)).toEqual([1]);
    expect(pointsOf(table, programRows(table, true), device.memories[0]!).points.map((point) => point.name)).toEqual(['whole program, total', 'step 3']);
    const range = rangesOf(points, device);
    expect(range.x.min).toBeLessThan(0.125);
    expect(range.y.max).toBeGreaterThan(918_000);
    expect(rangesOf([], { name: '', peakGflops: 0, memories: [] }).x.min).toBeGreaterThan(0);
  });
  // acceptance: RF2
  it('puts no label over another', () => {
    const places = Array.from({ length: 30 }, (_, i) => ({ x: 100 + (i % 3) * 4, y: 50 + Math.floor(i / 3) * 5, radius: 5, text: 'fusion.123' }));
    const labels = placeLabels(places, 600, 8);
    const boxes = labels.map((label) => ({ x0: label.anchor === 'start' ? label.x : label.x - 66, x1: label.anchor === 'start' ? label.x + 66 : label.x, y: label.y }));
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => expect(a.x0 < b.x1 && a.x1 > b.x0 && Math.abs(a.y - b.y) < 14).toBe(false)));
    expect(labels.length).toBeGreaterThan(1);
  });
  it('writes rates', () => expect([918_000, 12, 0.5].map(rateText)).toEqual(['918 TFLOP/s', '12.0 GFLOP/s', '500 MFLOP/s']));
});

describe('ticks of a range', () => {
  it('enclose it at round distances', () => {
    expect(rangeTicks(0.41, 7.5)).toEqual([0, 2, 4, 6, 8]);
    expect(rangeTicks(-3, 4)).toEqual([-4, -2, 0, 2, 4]);
    expect(rangeTicks(5, 5)).toEqual([4, 6]);
    expect(rangeTicks(0, 0)).toEqual([0, 0.25]);
    expect(rangeTicks(Number.NaN, 1)).toEqual([0, 1]);
  });
  it('are written without exponents, all alike', () => {
    expect([0, 0.00001, 0.00002].map((value) => tickBeside(value, 0.00001))).toEqual(['0.00000', '0.00001', '0.00002']);
    expect([0, 2.5, 5].map((value) => tickBeside(value, 2.5))).toEqual(['0.0', '2.5', '5.0']);
    expect(tickBeside(20_000, 10_000)).toBe('20,000');
    expect(tickBeside(-0.5, 0.5)).toBe('\u22120.5');
  });
});
