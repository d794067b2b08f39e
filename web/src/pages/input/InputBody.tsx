// Does the device wait for data? The verdict first, then the steps with what they are made of, then what the host did to feed them.
import { useMemo } from 'react';
import { StackedBars } from '../../charts/StackedBars';
import { partTotals, stepBars } from '../../charts/stepParts';
import { formatShare, formatTime, plural } from '../../format/format';
import { contextSearch, sessionPath, useLocation } from '../../state/router';
import { FactList } from '../../tools/Facts';
import { plainWords } from '../../tools/Notices';
import { saysInputBound } from '../../overview/findings';
import { ToolTableView } from '../../tools/ToolTableView';
import type { ToolBodyProps } from '../../tools/ToolPage';
import type { ToolAnswer, ToolTable } from '../../tools/types';
import { Icon } from '../../ui/Icon';
import { Link } from '../../ui/Link';
import { Skeleton } from '../../ui/states';
import './input.css';

const opPreset = { columns: ['opName', 'category', 'selfTimeInPercent', 'selfTimeInMs', 'timeInMs', 'count'], sort: '-selfTimeInMs' };

// Of a JAX program: what its steps called to get their input.
const functionPreset = { columns: ['name', 'count', 'totalMs'], sort: '-totalMs' };

export function findStepTable(answer: ToolAnswer | null): ToolTable | null {
  return answer?.tables.find((table) => table.columns.some((column) => column.id === 'stepnum') && table.columns.length > 3) ?? null;
}

function findOps(answer: ToolAnswer): ToolTable | null {
  return answer.tables.find((table) => table.columns.some((column) => column.id === 'opName')) ?? null;
}

export interface Verdict {
  readonly level: 'good' | 'bad' | 'unknown';
  readonly text: string;
}

// In words of the tool, or why there is none.
export function verdictOf(steps: ToolTable | null): Verdict {
  const said = plainWords(steps?.properties.input_conclusion ?? '');
  if (!steps || steps.rows.length === 0) return { level: 'unknown', text: 'Not known: no step was found, so the share of a step that waits for input cannot be told.' };
  if (/NOT input-bound/i.test(said)) return { level: 'good', text: said };
  if (saysInputBound(said)) return { level: 'bad', text: said };
  if (/belongs to no recorded work/.test(said)) return { level: 'unknown', text: said };
  return { level: said === '' ? 'unknown' : 'good', text: said || 'The tool gives no verdict for this kind of device.' };
}

export default function InputBody({ sessionId, tool, query, answer }: ToolBodyProps) {
  const search = contextSearch(useLocation().search);
  const steps = findStepTable(answer);
  const bars = useMemo(() => (steps ? stepBars(steps) : null), [steps]);
  if (!answer) return <Skeleton width="100%" height={300} />;
  const verdict = verdictOf(steps);
  const ops = findOps(answer);
  const functions = answer.tables.find((table) => table.id === 'host_input_functions') ?? null;
  const totals = bars ? partTotals(bars) : [];
  const outcome = plainWords(steps?.properties.output_conclusion ?? '');
  return (
    <>
      <section className={`panel verdict verdict-${verdict.level}`} aria-label="Verdict">
        <Icon name={verdict.level === 'good' ? 'complete' : verdict.level === 'bad' ? 'partial' : 'unread'} />
        <div className="prose">
          <strong>{verdict.level === 'bad' ? 'The device waits for input.' : verdict.level === 'good' ? 'Input is not the bottleneck.' : 'No verdict.'}</strong> {verdict.text}
          {outcome && <div className="text2">{outcome}</div>}
          {verdict.level === 'unknown' && (
            <div>
              <Link to={sessionPath(sessionId, 'timeline', search)}>Look for gaps on the timeline</Link>
            </div>
          )}
        </div>
      </section>
      {bars && bars.bars.length > 0 && (
        <section className="panel" aria-label="Steps">
          <header>
            <h2>Steps, by what their time goes to</h2>
            <span className="aside">{plural(bars.bars.length, 'step')}</span>
          </header>
          <StackedBars
            parts={bars.parts} bars={bars.bars} title="Step times"
            readout={(index) => {
              const bar = bars.bars[index];
              if (!bar) return null;
              const whole = bar.values.reduce((a, b) => a + b, 0);
              return (
                <>
                  <strong>Step {bar.label}</strong> {formatTime(whole)}: {bars.parts.map((part, i) => ({ part, value: bar.values[i]! })).filter((one) => one.value > 0).sort((a, b) => b.value - a.value).slice(0, 4).map((one) => `${one.part.label.toLowerCase()} ${formatTime(one.value)} (${formatShare(one.value / whole)})`).join(', ')}
                </>
              );
            }}
          />
          <FactList wide facts={totals.map((part) => [`${part.label}, mean`, `${formatTime(part.meanPs)} (${formatShare(part.share)})`, ''] as const)} />
        </section>
      )}
      {steps && steps.rows.length > 0 && Object.keys(steps.properties).length > 0 && <HostStages properties={ops?.properties ?? {}} />}
      {functions && <ToolTableView tool={tool.id} query={query} table={functions} preset={functionPreset} />}
      {ops && (!functions || ops.rows.length > 0) && <ToolTableView tool={tool.id} query={query} table={ops} preset={opPreset} emptyText="No input op of a data loader was recorded on the host. JAX loaders without tf.data show on the timeline as host threads." />}
    </>
  );
}

const stages: readonly (readonly [string, string])[] = [
  ['demanded_file_read_us', 'Reading files on demand'],
  ['advanced_file_read_us', 'Reading files ahead'],
  ['preprocessing_us', 'Preprocessing'],
  ['enqueue_us', 'Handing over to the device'],
  ['unclassified_nonequeue_us', 'Other'],
];

function HostStages({ properties }: { properties: Readonly<Record<string, string>> }) {
  const found = stages.map(([id, label]) => ({ label, us: Number(properties[id] ?? 0) })).filter((one) => one.us > 0);
  const total = found.reduce((sum, one) => sum + one.us, 0);
  if (total === 0) return null;
  return (
    <section className="panel" aria-label="Input work of the host">
      <header>
        <h2>Input work of the host</h2>
        <span className="aside">{formatTime(total * 1e6)} in all</span>
      </header>
      <div className="stage-list">
        {found.map((one) => (
          <div key={one.label} className="meter">
            <span>{one.label}</span>
            <span className="track">
              <span style={{ width: `${(one.us / total) * 100}%` }} />
            </span>
            <span className="value">{formatTime(one.us * 1e6)}</span>
          </div>
        ))}
      </div>
    </section>
  );
}
