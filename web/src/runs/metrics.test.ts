import { describe, expect, it } from 'vitest';
import { sparkPath } from '../charts/Spark';
import { figuresOf } from './figures';
import { chartCsv, chartsOf, formatSince, formatValue, profileMarks, spanOf, withMarks } from './metrics';
import type { MetricSeries, RunSeries } from './types';

const runName = (id: string) => `projects/p/locations/local/machineLearningRuns/${id}`;
const series = (run: string, name: string, fields: Partial<MetricSeries> = {}): MetricSeries => ({
  run: runName(run), name, unit: '1', labels: {}, host: null, host_count: 1, point_count: 2, bucket_width: null,
  x: [0, 1], min: [1, 2], mean: [1, 2], max: [1, 2], count: [1, 1], ...fields,
});
const answer = (by: 'step' | 'time', runs: string[], all: MetricSeries[]): RunSeries => ({
  by, truncated: false, without_steps: [], absent: [],
  runs: runs.map((id, i) => ({ run: runName(id), display_name: id, start_unix_ms: 1000 * (i + 1), end_unix_ms: null })),
  series: all,
});

describe('charts of metrics', () => {
  it('put the runs of one metric into one chart, a colour each', () => {
    const charts = chartsOf(answer('step', ['a', 'b'], [series('a', 'loss'), series('b', 'loss'), series('a', 'mfu', { unit: '%' })]));
    expect(charts.map((chart) => [chart.name, chart.series.map((one) => one.label)])).toEqual([['loss', ['a', 'b']], ['mfu', ['a']]]);
    expect(charts[0]!.series[0]!.category).not.toBe(charts[0]!.series[1]!.category);
    expect(charts[1]!.series[0]!.category).toBe(charts[0]!.series[0]!.category);
  });
  it('tell curves of one run by labels and hosts', () => {
    const [chart] = chartsOf(answer('step', ['a', 'b'], [series('a', 'loss', { labels: { phase: 'train' } }), series('a', 'loss', { labels: { phase: 'eval' }, host: 'h0' })]));
    expect(chart!.series.map((one) => one.label)).toEqual(['a: phase=train', 'a: phase=eval, h0']);
    expect(chart!.series[0]!.category).toBe(chart!.series[1]!.category);
    expect(chart!.series[0]!.dash).not.toBe(chart!.series[1]!.dash);
  });
  it('lay the times of several runs over each other, from the start of each', () => {
    const charts = chartsOf(answer('time', ['a', 'b'], [series('a', 'loss', { x: [1000, 1500] }), series('b', 'loss', { x: [2000, 2700] })]));
    expect(charts[0]!.series.map((one) => one.x)).toEqual([[0, 500], [0, 700]]);
    expect(spanOf(charts)).toEqual([0, 700]);
  });
  it('have a span even without points', () => {
    expect(spanOf([])).toEqual([0, 1]);
    expect(spanOf(chartsOf(answer('step', ['a'], [series('a', 'loss', { x: [4], min: [1], mean: [1], max: [1] })])))).toEqual([4, 5]);
  });
});

it('writes values in their unit', () => {
  expect(formatValue(0.4126, 's')).toBe('413 ms');
  expect(formatValue(41.2, '%')).toBe('41.2 %');
  expect(formatValue(0.41, '1')).toBe('0.410');
  expect(formatValue(null, 's')).toBe('\u2013');
});

it('writes the time of a run', () => {
  expect([0, 1500, 90_000, 600_000, 7_500_000].map(formatSince)).toEqual(['0 s', '1.5 s', '90 s', '10 min', '2 h 5 min']);
});

it('marks the profiles that can be opened, and those that cannot', () => {
  const at = Date.parse('2026-11-30T10:00:05Z');
  const session = { name: 'x/profilerSessions/s1', state: 'SUCCEEDED', createTime: '2026-11-30T10:00:05Z' };
  expect(profileMarks([{ ...session, dashboardUri: 'http://h/s/abc' }, session], at - 5000)).toEqual([
    { x: 5000, label: 'profile s1', to: '/s/abc/overview' },
    { x: 5000, label: 'profile s1', to: null },
  ]);
  expect(profileMarks([session], null)).toEqual([]);
  const mark = (x: number) => ({ x, label: 'p', to: null });
  expect(withMarks([10, 20], [mark(5), mark(30), mark(-4)])).toEqual([5, 30]);
  expect(withMarks([10, 20], [])).toEqual([10, 20]);
});

it('writes the points of a chart as CSV', () => {
  const [chart] = chartsOf(answer('step', ['a,b'], [series('a,b', 'loss', { mean: [1, null] })]));
  expect(chartCsv(chart!, 'step')).toBe('curve,step,min,mean,max\n"a,b",0,1,1,1\n"a,b",1,2,,2\n');
});

describe('figures of the list', () => {
  it('are the latest known values, and nothing where nothing was recorded', () => {
    const found = figuresOf(answer('step', ['a', 'b', 'c'], [series('a', 'step_time', { mean: [0.4, 0.5, null] }), series('a', 'mfu', { mean: [40, 41] }), series('b', 'loss')]), ['a', 'b', 'c'].map(runName));
    expect(found.get(runName('a'))).toEqual({ stepSeconds: 0.5, stepSpark: [0.4, 0.5, null], ofPeak: 41 });
    expect(found.get(runName('b'))).toEqual({ stepSeconds: null, stepSpark: [], ofPeak: null });
    expect(found.get(runName('c'))?.stepSeconds).toBeNull();
  });
  it('are drawn with gaps, and in the middle when they never change', () => {
    expect(sparkPath([1, 1])).toBe('M2.0,8.0L54.0,8.0');
    expect(sparkPath([0, null, 1])).toBe('M2.0,14.0M54.0,2.0');
    expect(sparkPath([1])).toBe('');
    expect(sparkPath([])).toBe('');
  });
});
