// What the job recorded: a chart for each metric, by step or by time, of one run or of several in one chart. All charts share the place of
// the pointer and the span; profiles are marks on the time axis that open in one action.
import { useState } from 'react';
import { LineChart } from '../charts/LineChart';
import { formatCount, plural } from '../format/format';
import { pushKeys, replaceKeys, useUrlKey } from '../state/url';
import { Icon } from '../ui/Icon';
import { saveFile } from '../ui/saveFile';
import { ErrorNotice, Select, Skeleton } from '../ui/states';
import { runsApi, type RunKey } from './client';
import { chartCsv, chartsOf, formatSince, formatValue, type MetricChart, profileMarks, spanOf, withMarks } from './metrics';
import { nameOfKey } from './runs';
import type { RunSession } from './types';
import { useRefreshed } from './useRefreshed';

const refreshMs = 2000;
const pointsOfCurve = 500;
const axes = [
  { value: '', label: 'By step' },
  { value: 'time', label: 'By time' },
];
const splits = [
  { value: '', label: 'Hosts together' },
  { value: 'host', label: 'Each host' },
];

function parseSpan(text: string | null): readonly [number, number] | null {
  const [from, to] = (text ?? '').split(',').map(Number);
  return from !== undefined && to !== undefined && Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null;
}

interface RunMetricsProps {
  runKey: RunKey;
  others: readonly RunKey[];
  sessions: readonly RunSession[];
  running: boolean;
}

export default function RunMetrics({ runKey, others, sessions, running }: RunMetricsProps) {
  const by = useUrlKey('x') === 'time' ? 'time' : 'step';
  const split = useUrlKey('split') === 'host';
  const q = useUrlKey('m') ?? '';
  const span = parseSpan(useUrlKey('span'));
  const [at, setAt] = useState<number | null>(null);
  const names = others.map(nameOfKey);
  // Steps mean the same for all runs, so the server can look closer at a span of them; times are each run's own.
  const closer = span && by === 'step' ? { from: Math.floor(span[0]), to: Math.ceil(span[1]) } : {};
  const question = `series/${nameOfKey(runKey)}/${names.join(',')}/${by}/${split}/${JSON.stringify(closer)}`;
  const answer = useRefreshed(question, (signal) => runsApi.series(runKey, { by, others: names, split, points: pointsOfCurve, ...closer }, { signal }), running ? refreshMs : refreshMs * 10);
  const value = answer.value;
  const charts = value ? chartsOf(value) : [];
  const words = q.trim().toLowerCase();
  const shown = words ? charts.filter((chart) => chart.name.toLowerCase().includes(words)) : charts;
  const marks = by === 'time' && value ? profileMarks(sessions, value.runs[0]?.start_unix_ms ?? null) : [];
  const range = span ?? withMarks(spanOf(charts), marks);
  const setSpan = (next: readonly [number, number] | null) => pushKeys({ span: next ? next.map((one) => Number(one.toFixed(3))).join(',') : null });
  if (answer.error && !answer.error.lostConnection && !value) {
    return <ErrorNotice what="The metrics could not be read." error={answer.error} onRetry={answer.reload} />;
  }
  return (
    <>
      <div className="metrics-bar">
        <Select label="Axis" value={by === 'time' ? 'time' : ''} choices={axes} onChange={(next) => pushKeys({ x: next || null, span: null })} />
        <Select label="Hosts" value={split ? 'host' : ''} choices={splits} onChange={(next) => pushKeys({ split: next || null })} />
        {span && (
          <button type="button" className="button small" onClick={() => setSpan(null)} title="Show the whole run (double click in a chart)">
            Whole run
          </button>
        )}
        {marks.length > 0 && <span className="muted">{plural(marks.length, 'profile')} marked; a click on a mark opens it</span>}
        {value?.truncated && <span className="warn">Only the first metrics are shown; find one by its name.</span>}
        <label className="filter">
          <Icon name="search" />
          <input className="input" type="search" value={q} placeholder="Name of a metric" aria-label="Find a metric" spellCheck={false} onChange={(event) => replaceKeys({ m: event.target.value })} />
        </label>
      </div>
      {!value && <Skeleton width="100%" height={220} />}
      {value && charts.length === 0 && <NoMetrics by={by} without={value.without_steps} />}
      {value && charts.length > 0 && shown.length === 0 && <div className="none">No metric has {q} in its name.</div>}
      <div className="metrics-grid">
        {shown.map((chart) => (
          <LineChart
            key={chart.name}
            title={chart.name}
            unit={chart.unit}
            series={chart.series}
            range={range}
            marks={marks}
            at={at}
            onAt={setAt}
            onSpan={setSpan}
            formatX={by === 'time' ? formatSince : (step) => `${span && range[1] - range[0] < 8 ? Number(step.toFixed(1)) : formatCount(Math.round(step))}`}
            formatY={(y) => formatValue(y, chart.unit)}
            actions={<CsvButton chart={chart} by={by} />}
          />
        ))}
      </div>
      {value && by === 'step' && charts.length > 0 && value.without_steps.length > 0 && (
        <p className="text2">
          {value.without_steps.join(', ')}: recorded without steps.{' '}
          <button type="button" className="button small" onClick={() => pushKeys({ x: 'time', span: null })}>
            Show by time
          </button>
        </p>
      )}
    </>
  );
}

function CsvButton({ chart, by }: { chart: MetricChart; by: 'step' | 'time' }) {
  return (
    <button type="button" className="button plain small" title={`The points of ${chart.name} as CSV`} onClick={() => saveFile(`${chart.name}.csv`, chartCsv(chart, by), 'text/csv')}>
      <Icon name="download" />
      CSV
    </button>
  );
}

function NoMetrics({ by, without }: { by: 'step' | 'time'; without: readonly string[] }) {
  if (by === 'step' && without.length > 0) {
    return (
      <div className="none">
        What this run recorded has no steps: {without.join(', ')}.{' '}
        <button type="button" className="button small" onClick={() => pushKeys({ x: 'time' })}>
          Show by time
        </button>
      </div>
    );
  }
  return (
    <div className="none">
      This run recorded no metric yet. The ML Diagnostics SDK sends them with <code>metrics.record(...)</code>; any job can send OTLP to <code>{window.location.origin}/v1/metrics</code>.
    </div>
  );
}
