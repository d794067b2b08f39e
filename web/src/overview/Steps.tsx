// Step times as bars from zero. A click opens that step on the timeline, a drag a range of steps; the keyboard does the same
// with arrows (Shift extends) and Enter.
import { useMemo, useRef, useState } from 'react';
import type { Overview, StepItem } from '../api/types';
import { ChartMenu } from '../charts/ChartFrame';
import type { ExportTable } from '../export/model';
import { exactTime, formatCount, formatShare, formatTime, inUnit, plural, timeUnit } from '../format/format';
import { keyLabel } from '../keys/table';
import { navigate, sessionPath } from '../state/router';
import { formatViewport } from '../state/url';
import { Skeleton } from '../ui/states';

const denseSteps = 120; // From here on bars touch: a gap would leave nothing of them.
const slowFactor = 1.2; // A step this far above the median stands out.

export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

// The step with a little of what is around it, so that its edges can be seen.
export function stepView(first: StepItem, last: StepItem = first): string {
  const startPs = Math.min(first.start_ps, last.start_ps);
  const endPs = Math.max(first.start_ps + first.duration_ps, last.start_ps + last.duration_ps);
  const margin = Math.max(1, Math.round((endPs - startPs) * 0.05));
  return formatViewport({ startPs: startPs - margin, durationPs: Math.max(1, endPs - startPs + 2 * margin) });
}

export function Steps({ sessionId, overview }: { sessionId: string; overview: Overview | null }) {
  const steps = overview?.steps ?? null;
  const frame = useRef<HTMLElement>(null);
  return (
    <section className="panel">
      <header>
        <h2>Steps</h2>
        {steps && (
          <span className="aside">
            {steps.items.length < steps.count ? `first ${formatCount(steps.items.length)} of ${formatCount(steps.count)}` : plural(steps.count, 'step')} from {steps.source}
            {steps.items.length > 0 && <ChartMenu frame={frame} title="Step times" data={() => stepTable(steps.items)} />}
          </span>
        )}
      </header>
      {!overview && (
        <div className="steps-chart">
          <Skeleton width="100%" height={112} />
        </div>
      )}
      {overview && !steps && (
        <p className="panel-note">
          {overview.steps_reason ?? 'The profile marks no steps.'}
          {!overview.steps_reason?.includes('StepTraceAnnotation') && (
            <>
              {' '}
              Wrap each step in <code>jax.profiler.StepTraceAnnotation("train", step_num=i)</code> to see them here.
            </>
          )}
        </p>
      )}
      {steps && steps.items.length > 0 && (
        <figure ref={frame} data-chart="Step times">
          <StepBars sessionId={sessionId} items={steps.items} meanPs={steps.mean_ps} />
        </figure>
      )}
    </section>
  );
}

function stepTable(items: readonly StepItem[]): ExportTable {
  const time = (value: unknown) => formatTime(value as number | null);
  return {
    title: 'Step times',
    columns: [
      { id: 'step', label: 'Step', type: 'string' },
      { id: 'start_ps', label: 'Begins', type: 'number', whole: true, format: time },
      { id: 'duration_ps', label: 'Duration', type: 'number', whole: true, format: time },
    ],
    rows: items.map((item) => [item.name, item.start_ps, item.duration_ps]),
  };
}

function StepBars({ sessionId, items, meanPs }: { sessionId: string; items: readonly StepItem[]; meanPs: number | null }) {
  const [at, setAt] = useState<number | null>(null);
  const [focused, setFocused] = useState(false);
  const [from, setFrom] = useState<number | null>(null); // The other end of a range of steps.
  const middle = useMemo(() => median(items.map((item) => item.duration_ps)), [items]);
  const maxPs = Math.max(1, ...items.map((item) => item.duration_ps));
  const unit = timeUnit(maxPs);
  const slow = (item: StepItem) => middle !== null && middle > 0 && item.duration_ps > middle * slowFactor;
  const slowCount = items.filter(slow).length;
  const current = at !== null ? items[at] : undefined;
  const low = at === null ? -1 : Math.min(at, from ?? at);
  const high = at === null ? -1 : Math.max(at, from ?? at);
  const open = () => {
    const first = items[low];
    const last = items[high];
    if (!first || !last) return;
    const selection = low === high && first.event ? `&sel=${first.event}` : '';
    navigate(sessionPath(sessionId, 'timeline', `?v=${stepView(first, last)}${selection}`));
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    const from = at ?? -1;
    const next = event.key === 'ArrowRight' ? from + 1 : event.key === 'ArrowLeft' ? from - 1 : event.key === 'Home' ? 0 : event.key === 'End' ? items.length - 1 : null;
    if (next !== null) {
      if (!event.shiftKey) setFrom(null);
      else if (from === null) setFrom(at);
      setAt(Math.max(0, Math.min(items.length - 1, next)));
    } else if (event.key === 'Enter' && at !== null) {
      open();
    } else return;
    event.preventDefault();
  };

  return (
    <div className="steps-chart">
      <div className="steps-axis" aria-hidden="true">
        <span>
          {inUnit(maxPs, unit)} {unit.name}
        </span>
        <span>0</span>
      </div>
      <div
        className={items.length > denseSteps ? 'steps-bars dense' : 'steps-bars'}
        role="slider"
        tabIndex={0}
        aria-label="Step times. Arrow keys move, Enter opens the step on the timeline."
        aria-valuemin={1}
        aria-valuemax={items.length}
        aria-valuenow={(at ?? 0) + 1}
        aria-valuetext={current ? `Step ${current.name}: ${formatTime(current.duration_ps)}` : 'no step chosen'}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false);
          setAt(null);
          setFrom(null);
        }}
        onMouseLeave={() => {
          if (focused) return;
          setAt(null);
          setFrom(null);
        }}
        onMouseDown={(event) => {
          event.preventDefault();
          setFrom(at);
        }}
        onMouseUp={open}
      >
        {items.map((item, i) => (
          <div key={i} className={`step${slow(item) ? ' slow' : ''}${i >= low && i <= high ? ' at' : ''}`} onMouseEnter={(event) => {
            if (event.buttons === 0) setFrom(null);
            setAt(i);
          }}>
            <div style={{ height: `${(item.duration_ps / maxPs) * 100}%` }} />
          </div>
        ))}
        {meanPs !== null && <div className="steps-mean" style={{ bottom: `${(meanPs / maxPs) * 100}%` }} title={`Mean ${formatTime(meanPs)}`} />}
      </div>
      <div className="steps-read muted" title={current ? exactTime(current.duration_ps) : undefined}>
        {current && low !== high ? (
          <>
            <strong>
              Steps {items[low]!.name} to {items[high]!.name}
            </strong>{' '}
            {formatTime(items[high]!.start_ps + items[high]!.duration_ps - items[low]!.start_ps)}. Release or {keyLabel('list.open')} opens them on the timeline.
          </>
        ) : current ? (
          <>
            <strong>Step {current.name}</strong> {formatTime(current.duration_ps)}
            {meanPs ? deviation(current.duration_ps, meanPs) : ''}, begins at {formatTime(current.start_ps)}. Click or {keyLabel('list.open')} opens it on the timeline.
          </>
        ) : (
          <>
            Dashed: mean {formatTime(meanPs)}.
            {slowCount > 0 && (
              <>
                {' '}
                <span className="swatch slow-swatch" aria-hidden="true" /> {plural(slowCount, 'step')} slower than 1.2 x the median.
              </>
            )}
          </>
        )}
      </div>
    </div>
  );
}

function deviation(ps: number, meanPs: number): string {
  const share = ps / meanPs - 1;
  if (Math.abs(share) < 0.0005) return ', at the mean';
  return share > 0 ? `, ${formatShare(share)} above the mean` : `, ${formatShare(-share)} below the mean`;
}
