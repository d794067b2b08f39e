// Every HLO op with its time, rates and bound: the table, folded by name, category, program, source or scope on demand, above it where
// the time goes by category.
import { useMemo, useRef } from 'react';
import { ChartMenu } from '../../charts/ChartFrame';
import type { ExportTable } from '../../export/model';
import { formatShare } from '../../format/format';
import { pushKeys, useUrlKey } from '../../state/url';
import { groupTable, withOpShare } from '../../tools/groupRows';
import { formatFilters, parseFilters } from '../../tools/rows';
import { DataTable } from '../../tools/DataTable';
import { ToolTableView } from '../../tools/ToolTableView';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { numberOf, textOf, type ToolTable } from '../../tools/types';
import { categoryOf } from '../../theme/tokens';
import { Select, Skeleton } from '../../ui/states';
import './hlostats.css';

const preset = {
  columns: ['hlo_op_name', 'category', 'own.share', 'total_self_time', 'avg_time', 'occurrences', 'normalized_flop_rate', 'hbm_bw', 'bound_by', 'source_info', 'tf_op_name', 'program_id'],
  sort: '-total_self_time',
};
const groupPreset = { sort: '-total_self_time' };
const groupings = [
  { value: '', label: 'every op' },
  { value: 'hlo_op_name', label: 'name' },
  { value: 'category', label: 'category' },
  { value: 'program_id', label: 'program' },
  { value: 'source_info', label: 'source line' },
  { value: 'tf_op_name', label: 'framework op' },
];

export default function HloStatsBody({ tool, query, answer }: ToolBodyProps) {
  const group = useUrlKey('group') ?? '';
  const first = answer?.tables[0] ?? null;
  const table = useMemo(() => (first ? withOpShare(first) : null), [first]);
  const grouped = useMemo(() => (table && group ? groupTable(table, group) : null), [table, group]);
  if (!answer) return <Skeleton width="100%" height={300} />;
  if (!table || table.columns.length === 0) return null;
  return (
    <>
      <CategoryStrip table={table} />
      <div className="options-bar">
        <label className="option">
          <span className="label">Rows for</span>
          <Select value={group} choices={groupings} onChange={(value) => pushKeys({ group: value || null, cols: null, sort: null, row: null, op: null })} />
        </label>
        {grouped && <span className="muted">Sums over the ops of a group; rates are means weighted by self time.</span>}
      </div>
      {grouped ? (
        <DataTable
          table={grouped}
          preset={groupPreset}
          onOpen={(row) => pushKeys({ group: null, sort: null, cols: null, f: formatFilters([...parseFilters(null), { column: group, operator: '=', value: row.cells[0] === '(none)' ? '' : String(row.cells[0]) }]) })}
        />
      ) : (
        <ToolTableView tool={tool.id} query={query} table={table} preset={preset} emptyText="No HLO op ran on a device in the window." />
      )}
    </>
  );
}

// The categories as one bar: a click filters the table.
function CategoryStrip({ table }: { table: ToolTable }) {
  const filters = parseFilters(useUrlKey('f'));
  const current = filters.find((one) => one.column === 'category' && one.operator === '=')?.value.toLowerCase() ?? null;
  const shares = useMemo(() => {
    const found = new Map<string, number>();
    for (const row of table.rows) {
      const category = textOf(table, row, 'category');
      found.set(category, (found.get(category) ?? 0) + (numberOf(table, row, 'own.share') ?? 0));
    }
    return [...found].filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
  }, [table]);
  const frame = useRef<HTMLElement>(null);
  if (shares.length < 2) return null;
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const choose = (category: string) => {
    const others = filters.filter((one) => one.column !== 'category');
    pushKeys({ f: formatFilters(current === category.toLowerCase() ? others : [...others, { column: 'category', operator: '=', value: category }]) });
  };
  return (
    <section ref={frame} className="panel category-strip" aria-label="Self time by category" data-chart="Self time by category">
      <div className="strip-parts">
        {shares.map(([category, share]) => {
          const token = categoryOf(category);
          return <button key={category} type="button" className={`cat-${token.key}`} aria-label={`${category}: ${formatShare(share)}`} aria-pressed={current === category.toLowerCase()} title={`${category}: ${formatShare(share)} of op time. Click to filter.`} style={{ flexGrow: share / total, backgroundColor: `var(--cat-${token.key})`, borderColor: `var(--cat-${token.key}-edge)` }} onClick={() => choose(category)} />;
        })}
      </div>
      <div className="chart-legend">
        {shares.slice(0, 8).map(([category, share]) => {
          const token = categoryOf(category);
          return (
            <button key={category} type="button" className={current !== null && current !== category.toLowerCase() ? 'faint' : ''} onClick={() => choose(category)}>
              <span className={`swatch cat-${token.key}`} style={{ backgroundColor: `var(--cat-${token.key})`, borderColor: `var(--cat-${token.key}-edge)` }} />
              {category || 'no category'} <strong>{formatShare(share)}</strong>
            </button>
          );
        })}
        <ChartMenu frame={frame} title="Self time by category" data={() => categoryTable(shares)} />
      </div>
    </section>
  );
}

function categoryTable(shares: readonly (readonly [string, number])[]): ExportTable {
  return {
    title: 'Self time by category',
    columns: [
      { id: 'category', label: 'Category', type: 'string' },
      { id: 'share', label: 'Share of op time', type: 'number', format: (value) => formatShare(value as number | null) },
    ],
    rows: shares.map(([category, share]) => [category || 'no category', share]),
  };
}
