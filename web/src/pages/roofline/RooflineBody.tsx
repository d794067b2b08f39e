// How far every op is from what the device allows: the chart, and the table of the same ops; both show what the filter lets through.
import { useMemo } from 'react';
import { type Box, RooflineChart } from '../../charts/RooflineChart';
import { formatCount, formatShare, plural } from '../../format/format';
import { pushKeys, useUrlKey } from '../../state/url';
import { opKey, parseOpKey, rowKey } from '../../tools/drawerKeys';
import { type Filter, filterRows, formatFilters, parseFilters } from '../../tools/rows';
import { ToolTableView } from '../../tools/ToolTableView';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { numberOf, textOf, type ToolTable } from '../../tools/types';
import { categoryOf } from '../../theme/tokens';
import { Select, Skeleton } from '../../ui/states';
import { deviceOf, opRows, type Point, pointsOf, programRows, roofAt } from '../../charts/roof';

const preset = {
  columns: ['operation', 'category', 'total_self_time_percent', 'total_self_time', 'measured_flop_rate', 'hbm_bw', 'hbm_operational_intensity', 'roofline_efficiency', 'compute_efficiency', 'max_mem_bw_utilization', 'bound_by', 'occurrences', 'hlo_module_id', 'source_info'],
  sort: '-total_self_time_percent',
};

export default function RooflineBody({ tool, query, answer }: ToolBodyProps) {
  const feeds = useUrlKey('feeds') !== '0';
  const view = useUrlKey('points') === 'program' ? 'program' : 'ops';
  const memoryKey = useUrlKey('memory');
  const filterKey = useUrlKey('f');
  const text = useUrlKey('q') ?? '';
  const op = parseOpKey(useUrlKey('op'));
  const whole = answer?.tables.find((table) => table.columns.some((column) => column.id === 'bound_by')) ?? null;
  const device = useMemo(() => (whole ? deviceOf(whole) : null), [whole]);
  const memory = device?.memories.find((one) => one.id === memoryKey) ?? device?.memories[0] ?? null;
  const table = useMemo<ToolTable | null>(() => {
    if (!whole) return null;
    const rows = view === 'ops' ? opRows(whole, feeds) : programRows(whole, feeds);
    return { ...whole, rows, totalRows: rows.length, title: view === 'ops' ? 'Ops' : 'Program and steps' };
  }, [whole, feeds, view]);
  const { points, without } = useMemo(() => (table ? pointsOf(table, table.rows, memory) : { points: [], without: [] }), [table, memory]);
  const filters = useMemo(() => parseFilters(filterKey), [filterKey]);
  const passing = useMemo(() => (table ? new Set(filterRows(table, filters, text).map((row) => row.index)) : new Set<number>()), [table, filters, text]);
  if (!answer) return <Skeleton width="100%" height={420} />;
  if (!whole || !table || !device) return null;
  const xColumn = memory?.intensity ?? 'operational_intensity';
  const box = boxOf(filters, xColumn);
  const setBox = (next: Box | null) => {
    const others = filters.filter((one) => one.column !== xColumn && one.column !== 'measured_flop_rate');
    const short = (value: number) => String(Number(value.toPrecision(4)));
    pushKeys({ f: formatFilters(next ? [...others, ...bounds(xColumn, short(next.x.min), short(next.x.max)), ...bounds('measured_flop_rate', short(next.y.min), short(next.y.max))] : others) });
  };
  const select = (point: Point) => {
    const module = point.row.subject?.moduleId || textOf(table, point.row, 'hlo_module_id');
    pushKeys({ row: rowKey(table.id, point.row.index), op: view === 'ops' ? opKey(module === '0' ? '' : module, point.name) : null });
  };
  const selected = op ? (points.find((point) => point.name === op.name)?.row.index ?? null) : null;
  const missing = without.reduce((sum, row) => sum + shareIn(table, row), 0);
  return (
    <>
      <section className="panel" aria-label="Roofline">
        <header>
          <h2>{device.name || 'Device'}</h2>
          <span className="aside">
            <label className="option">
              <span className="label">Points</span>
              <Select value={view} choices={[{ value: 'ops', label: 'ops' }, { value: 'program', label: 'program and steps' }]} onChange={(value) => pushKeys({ points: value === 'ops' ? null : value, row: null, op: null, f: null })} />
            </label>
            {device.memories.length > 1 && (
              <label className="option">
                <span className="label">Roof of</span>
                <Select value={memory?.id ?? ''} choices={device.memories.map((one) => ({ value: one.id, label: one.label }))} onChange={(value) => pushKeys({ memory: value === device.memories[0]!.id ? null : value })} />
              </label>
            )}
            <label className="option check">
              <input type="checkbox" checked={feeds} onChange={() => pushKeys({ feeds: feeds ? '0' : null })} />
              with infeed and outfeed
            </label>
          </span>
        </header>
        {points.length > 0 ? (
          <RooflineChart legend={<Legend points={points} />} device={device} memory={memory} points={points} faint={(point) => !passing.has(point.row.index)} selected={selected} box={box} onSelect={select} onBox={setBox} />
        ) : (
          <p className="panel-note">{table.rows.length === 0 ? 'No op ran on a device in the window.' : 'No op has both a FLOP count and a byte count, so none can be placed under a roof. They are all in the table.'}</p>
        )}
        {without.length > 0 && points.length > 0 && (
          <p className="panel-note chart-foot muted">
            {plural(without.length, view === 'ops' ? 'op' : 'row')} without FLOPs or bytes ({formatShare(missing)} of the time) {without.length === 1 ? 'is' : 'are'} in the table only.
          </p>
        )}
      </section>
      <ToolTableView tool={tool.id} query={query} table={table} preset={preset} pageRows={table.rows.length !== whole.rows.length} note={memory && points.length > 0 ? <span className="nowrap">median {formatShare(medianEfficiency(points, memory, device.peakGflops))} of the roof</span> : undefined} emptyText="No op ran on a device in the window." />
    </>
  );
}

function bounds(column: string, min: string, max: string): Filter[] {
  return [{ column, operator: '>', value: min }, { column, operator: '<', value: max }];
}

function boxOf(filters: readonly Filter[], xColumn: string): Box | null {
  const bound = (column: string, operator: '>' | '<') => {
    const found = filters.find((one) => one.column === column && one.operator === operator);
    return found && Number(found.value) > 0 ? Number(found.value) : null;
  };
  const x0 = bound(xColumn, '>');
  const x1 = bound(xColumn, '<');
  const y0 = bound('measured_flop_rate', '>');
  const y1 = bound('measured_flop_rate', '<');
  return x0 !== null && x1 !== null && y0 !== null && y1 !== null ? { x: { min: x0, max: x1 }, y: { min: y0, max: y1 } } : null;
}

function shareIn(table: ToolTable, row: ToolTable['rows'][number]): number {
  const share = numberOf(table, row, 'total_self_time_percent') ?? 0;
  return table.columns.find((column) => column.id === 'total_self_time_percent')?.unit === 'percent' ? share / 100 : share;
}

function medianEfficiency(points: readonly Point[], memory: Parameters<typeof roofAt>[1], peak: number): number {
  const all = points.map((point) => point.y / roofAt(point.x, memory, peak)).sort((a, b) => a - b);
  return all[all.length >> 1]!;
}

function Legend({ points }: { points: readonly Point[] }) {
  const seen = new Map<string, { label: string; count: number }>();
  for (const point of points) {
    const token = categoryOf(point.category);
    const key = point.colour;
    const old = seen.get(key);
    seen.set(key, { label: key === 'marker' ? 'Program, step' : token.label, count: (old?.count ?? 0) + 1 });
  }
  return (
    <>
      {[...seen].map(([key, one]) => (
        <span key={key}>
          <span className={`swatch cat-${key}`} style={{ backgroundColor: `var(--cat-${key})`, borderColor: `var(--cat-${key}-edge)` }} />
          {one.label} <span className="muted">{formatCount(one.count)}</span>
        </span>
      ))}
    </>
  );
}
