// From the server's curves to charts: which curves stand in one chart, what they are called and how their values are written.
import { gapOf } from '../charts/curves';
import type { LineMark, LineSeries } from '../charts/LineChart';
import { formatTime, significant, unknown } from '../format/format';
import { lastPart, sessionAddress, timeOf } from './runs';
import type { MetricSeries, RunSeries, RunSession } from './types';

const categories = ['matmul', 'collective', 'reduce', 'movement', 'kernel', 'transfer', 'fusion', 'host'] as const;
const dashes = [undefined, '6 3', '2 3', '9 3 2 3'] as const;

export interface MetricChart {
  readonly name: string;
  readonly unit: string;
  readonly series: readonly LineSeries[];
}

function labelsOf(series: MetricSeries): string {
  return Object.entries(series.labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(', ');
}

// One chart for each name. The colour says the run where there are several, else the curve; a dash tells curves of one colour apart.
export function chartsOf(answer: RunSeries): MetricChart[] {
  const names = [...new Set(answer.series.map((one) => one.name))];
  const runs = answer.runs.map((run) => run.run);
  const several = runs.length > 1;
  return names.map((name) => {
    const own = answer.series.filter((one) => one.name === name);
    const countOfRun = new Map<string, number>();
    const series = own.map((one, at): LineSeries => {
      const run = runs.indexOf(one.run);
      const inRun = countOfRun.get(one.run) ?? 0;
      countOfRun.set(one.run, inRun + 1);
      const start = answer.by === 'time' ? (answer.runs[run]?.start_unix_ms ?? one.x[0] ?? 0) : 0;
      const x = answer.by === 'time' ? one.x.map((ms) => ms - start) : one.x;
      const place = several ? run : at;
      const of = [labelsOf(one), one.host].filter(Boolean).join(', ');
      const title = answer.runs[run]?.display_name || lastPart(one.run);
      return {
        id: `${one.run}/${labelsOf(one)}/${one.host ?? ''}`,
        label: several ? [title, of].filter(Boolean).join(': ') : of || title,
        category: categories[place % categories.length]!,
        dash: dashes[(several ? inRun + Math.floor(place / categories.length) : Math.floor(place / categories.length)) % dashes.length],
        x,
        min: one.min,
        mean: one.mean,
        max: one.max,
        gap: gapOf(x, one.bucket_width ?? 0),
      };
    });
    return { name, unit: own[0]!.unit, series };
  });
}

// The span that all charts of the page share.
export function spanOf(charts: readonly MetricChart[]): readonly [number, number] {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const chart of charts) {
    for (const one of chart.series) {
      if (one.x.length === 0) continue;
      from = Math.min(from, one.x[0]!);
      to = Math.max(to, one.x[one.x.length - 1]!);
    }
  }
  if (from > to) return [0, 1];
  return from === to ? [from, from + 1] : [from, to];
}

// The span widened to profiles that were taken in the run's time, but before or after what it recorded.
export function withMarks([from, to]: readonly [number, number], marks: readonly LineMark[]): readonly [number, number] {
  const own = marks.map((mark) => mark.x).filter((x) => x >= 0);
  return [Math.min(from, ...own), Math.max(to, ...own)];
}

export function formatValue(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return unknown;
  if (unit === 's') return formatTime(value * 1e12);
  const text = significant(value);
  return unit === '' || unit === '1' ? text : `${text} ${unit}`;
}

// "2 h 5 min" of the run's own time, as short as the span allows.
export function formatSince(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  const sign = ms < 0 ? '\u2212' : '';
  if (seconds < 120) return `${sign}${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${sign}${minutes} min`;
  const rest = minutes % 60;
  return `${sign}${Math.floor(minutes / 60)} h${rest > 0 ? ` ${rest} min` : ''}`;
}

// Where in the run's own time its profiles were taken.
export function profileMarks(sessions: readonly RunSession[], startMs: number | null): LineMark[] {
  if (startMs === null) return [];
  return sessions.flatMap((session) => {
    const at = timeOf(session.startTime) ?? timeOf(session.createTime);
    return at === null ? [] : [{ x: at - startMs, label: `profile ${lastPart(session.name)}`, to: sessionAddress(session) }];
  });
}

function cell(text: string | number | null): string {
  const plain = text === null ? '' : String(text);
  return /[",\n]/.test(plain) ? `"${plain.replace(/"/g, '""')}"` : plain;
}

// The same points as a table: one row for each point of each curve.
export function chartCsv(chart: MetricChart, by: 'step' | 'time'): string {
  const lines = [['curve', by === 'step' ? 'step' : 'ms_since_start', 'min', 'mean', 'max'].join(',')];
  for (const one of chart.series) one.x.forEach((x, i) => lines.push([one.label, x, one.min[i] ?? null, one.mean[i] ?? null, one.max[i] ?? null].map(cell).join(',')));
  return lines.join('\n') + '\n';
}
