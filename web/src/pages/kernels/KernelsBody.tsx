// GPU kernels: which take the time, how they are launched, whether they use the tensor cores they could.
import { useMemo } from 'react';
import { formatCount, formatShare, formatTime } from '../../format/format';
import { pushKeys, useUrlKey } from '../../state/url';
import { DataTable } from '../../tools/DataTable';
import { groupTable } from '../../tools/groupRows';
import { formatFilters } from '../../tools/rows';
import { ToolTableView } from '../../tools/ToolTableView';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { cellOf, numberOf, type ToolTable } from '../../tools/types';
import { Select, Skeleton } from '../../ui/states';

const preset = {
  columns: ['kernel_name', 'op_name', 'total_duration_us', 'occurrences', 'avg_duration_us', 'max_duration_us', 'occupancy_pct', 'is_kernel_using_tensor_core', 'is_op_tensor_core_eligible', 'block_dim', 'grid_dim', 'registers_per_thread', 'shmem_bytes'],
  sort: '-total_duration_us',
};
const groupings = [
  { value: '', label: 'every kernel' },
  { value: 'kernel_name', label: 'kernel name' },
  { value: 'op_name', label: 'op' },
];

export default function KernelsBody({ tool, query, answer }: ToolBodyProps) {
  const group = useUrlKey('group') ?? '';
  const table = answer?.tables[0] ?? null;
  const grouped = useMemo(() => (table && group ? groupTable(table, group) : null), [table, group]);
  if (!answer) return <Skeleton width="100%" height={300} />;
  if (!table || table.columns.length === 0) return null;
  return (
    <>
      {table.rows.length > 0 && <Summary table={table} />}
      <div className="options-bar">
        <label className="option">
          <span className="label">Rows for</span>
          <Select value={group} choices={groupings} onChange={(value) => pushKeys({ group: value || null, cols: null, sort: null, row: null })} />
        </label>
      </div>
      {grouped ? (
        <DataTable table={grouped} preset={{ sort: '-total_duration_us' }} onOpen={(row) => pushKeys({ group: null, sort: null, cols: null, f: formatFilters([{ column: group, operator: '=', value: String(row.cells[0] === '(none)' ? '' : row.cells[0]) }]) })} />
      ) : (
        <ToolTableView tool={tool.id} query={query} table={table} preset={preset} emptyText="No GPU kernel was recorded." />
      )}
    </>
  );
}

function Summary({ table }: { table: ToolTable }) {
  const facts = useMemo(() => {
    let total = 0;
    let launches = 0;
    let onCores = 0;
    let missed = 0;
    for (const row of table.rows) {
      const us = numberOf(table, row, 'total_duration_us') ?? 0;
      total += us;
      launches += numberOf(table, row, 'occurrences') ?? 0;
      const uses = cellOf(table, row, 'is_kernel_using_tensor_core') === true;
      if (uses) onCores += us;
      else if (cellOf(table, row, 'is_op_tensor_core_eligible') === true) missed += us;
    }
    return { total, launches, onCores, missed };
  }, [table]);
  const share = (us: number) => formatShare(facts.total > 0 ? us / facts.total : null);
  return (
    <section className="panel kpis four" aria-label="Totals">
      <div className="kpi">
        <div className="label">Kernel time</div>
        <div className="kpi-value">{formatTime(facts.total * 1e6)}</div>
        <div className="kpi-note">sum over all streams</div>
      </div>
      <div className="kpi">
        <div className="label">Launches</div>
        <div className="kpi-value">{formatCount(facts.launches)}</div>
        <div className="kpi-note">{facts.launches > 0 ? `${formatTime((facts.total * 1e6) / facts.launches)} on average` : ''}</div>
      </div>
      <div className="kpi">
        <div className="label">On tensor cores</div>
        <div className="kpi-value">{share(facts.onCores)}</div>
        <div className="kpi-note">of kernel time</div>
      </div>
      <div className="kpi" title="Kernels of matrix ops that could use tensor cores and do not">
        <div className="label">Eligible, not used</div>
        <div className="kpi-value">{share(facts.missed)}</div>
        <div className="kpi-note">{facts.missed > 0 ? 'worth a look: filter by the last columns' : 'no matrix op misses them'}</div>
      </div>
    </section>
  );
}
