// What the overview tool adds to the first sight: what a step is made of, what to do next, the environment of the run.
import { useMemo } from 'react';
import { StackedBars } from '../charts/StackedBars';
import { partTotals, stepBars } from '../charts/stepParts';
import { formatShare, formatTime, plural } from '../format/format';
import { findStepTable } from '../pages/input/InputBody';
import { contextSearch, navigate, sessionPath, useLocation } from '../state/router';
import { plainWords } from '../tools/Notices';
import { findTool } from '../tools/catalog';
import { useToolAnswer, useToolSession } from '../tools/session';
import { asText, items, member, textOf, type ToolAnswer } from '../tools/types';
import { Link } from '../ui/Link';
import { tableWithProperty } from './findings';

export default function StepBreakdown({ page }: { page: ToolAnswer | null }) {
  const { sessionId } = useToolSession();
  const search = contextSearch(useLocation().search);
  const table = findStepTable(page);
  const bars = useMemo(() => (table ? stepBars(table) : null), [table]);
  if (!bars || bars.bars.length === 0) return null;
  const totals = partTotals(bars);
  return (
    <section className="panel" aria-label="What a step is made of">
      <header>
        <h2>What a step is made of</h2>
        <span className="aside">{totals.slice(0, 3).map((part) => `${part.label.toLowerCase()} ${formatShare(part.share)}`).join(', ')}</span>
      </header>
      <StackedBars
        parts={bars.parts} bars={bars.bars} title="Step times by part" height={150}
        onOpen={() => navigate(sessionPath(sessionId, 'input', search))}
        readout={(index) => {
          const bar = bars.bars[index];
          if (!bar) return null;
          const whole = bar.values.reduce((a, b) => a + b, 0);
          return (
            <>
              <strong>Step {bar.label}</strong> {formatTime(whole)}: {bars.parts.map((part, i) => ({ part, value: bar.values[i]! })).filter((one) => one.value > 0).sort((a, b) => b.value - a.value).slice(0, 3).map((one) => `${one.part.label.toLowerCase()} ${formatShare(one.value / whole)}`).join(', ')}
            </>
          );
        }}
      />
    </section>
  );
}

interface Advice {
  readonly text: string;
  readonly page: string | null;
}

const pageNames: readonly (readonly [RegExp, string])[] = [
  [/input_pipeline/i, 'input_pipeline_analyzer'],
  [/hlo_stats/i, 'hlo_stats'],
  [/framework_op_stats|tensorflow_stats/i, 'framework_op_stats'],
  [/op_profile/i, 'op_profile'],
  [/trace_viewer/i, 'timeline'],
  [/memory_viewer/i, 'memory_viewer'],
  [/memory_profile/i, 'memory_profile'],
  [/roofline/i, 'roofline_model'],
];

// XProf's general tips are shown only where the tool says what the bottleneck is; our own suggestions always.
function adviceOf(page: ToolAnswer | null, suggestions: ToolAnswer | null): Advice[] {
  const own = items(member(suggestions?.document ?? null, 'suggestions')).map((one) => ({ text: plainWords(asText(member(one, 'suggestionText')) || asText(member(one, 'suggestion_text')) || asText(member(one, 'text'))), page: null })).filter((one) => one.text !== '');
  const tips = tableWithProperty(page, 'bottleneck');
  const bottleneck = tips?.properties.bottleneck ?? '';
  if (!tips || !['host', 'device', 'both'].includes(bottleneck)) return own;
  const wanted = tips.rows.filter((row) => bottleneck === 'both' ? ['host', 'device'].includes(textOf(tips, row, 'tip_type')) : textOf(tips, row, 'tip_type') === bottleneck);
  return [...own, ...wanted.map((row) => {
    const link = plainWords(textOf(tips, row, 'link'));
    // A bare tool id says nothing to a reader; what the tool shows stands beside it.
    const text = /^[a-z_@]+$/.test(link) ? plainWords(textOf(tips, row, 'description')) || link : link;
    return { text, page: pageNames.find(([pattern]) => pattern.test(link))?.[1] ?? null };
  })];
}

export function NextSteps({ page }: { page: ToolAnswer | null }) {
  const { sessionId, tools } = useToolSession();
  const search = contextSearch(useLocation().search);
  const suggestions = useToolAnswer(tools && findTool(tools, 'smart_suggestion')?.applies ? 'smart_suggestion' : null, {});
  const advice = adviceOf(page, suggestions.value);
  if (advice.length === 0) return null;
  return (
    <section className="panel" aria-label="Next steps">
      <header>
        <h2>Next steps</h2>
        <span className="aside">{plural(advice.length, 'suggestion')}</span>
      </header>
      <ul className="advice-list">
        {advice.map((one, i) => (
          <li key={i}>{one.page ? <Link to={sessionPath(sessionId, one.page, search)}>{one.text}</Link> : one.text}</li>
        ))}
      </ul>
    </section>
  );
}

// Facts of the run that only the tool knows: name, value.
export function environmentFacts(page: ToolAnswer | null): (readonly [string, string])[] {
  const run = tableWithProperty(page, 'device_core_count')?.properties ?? {};
  const share = tableWithProperty(page, 'device_op_time_eager_percent')?.properties ?? {};
  const facts: (readonly [string, string])[] = [];
  if (run.device_core_count && run.device_core_count !== '0') facts.push(['Cores', `${run.device_core_count}${run.device_type ? ` of ${run.device_type}` : ''}`]);
  if (run.task_count) facts.push(['Tasks', run.task_count.replace(' (num tasks per host = 1)', '')]);
  if (run.is_training) facts.push(['Kind', run.is_training === 'true' ? 'training' : 'inference, or not told']);
  if (share.device_compute_16bit_percent) facts.push(['Precision', `${share.device_compute_16bit_percent} in 16 bit, ${share.device_compute_32bit_percent ?? '?'} in 32 bit`]);
  return facts;
}
