// Everything about one op: cost, share of peak with its bound, spread over its runs, source line, HLO, operands and users, the same
// name in other programs, and the ways to timeline, graph and roofline.
import { formatCount, formatRate, formatShare, formatTime, plural, significant, unknown } from '../format/format';
import { useInstruction, useModule } from '../hlo/useHlo';
import { contextSearch, navigate, sessionPath, useLocation } from '../state/router';
import { replaceKeys } from '../state/url';
import { categoryOf } from '../theme/tokens';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { Skeleton } from '../ui/states';
import { copyText } from '../ui/toasts';
import { findTool } from './catalog';
import { opKey, type OpKey } from './drawerKeys';
import { FactList } from './Facts';
import { withOpShare } from './groupRows';
import { RowEventsSection } from './RowEventsSection';
import { useToolAnswer, useToolSession } from './session';
import { cellOf, numberOf, textOf, type Row, type ToolAnswer, type ToolTable } from './types';

const tickNames = 6; // Operands or users named at once; the graph has them all.

export interface FoundOp {
  readonly table: ToolTable;
  readonly row: Row;
  readonly twins: readonly Row[]; // The same name in other programs.
}

export function findOp(answer: ToolAnswer | null, op: OpKey): FoundOp | null {
  for (const whole of answer?.tables ?? []) {
    const table = withOpShare(whole);
    const same = table.rows.filter((row) => (row.subject?.opName || textOf(table, row, 'hlo_op_name')) === op.name);
    if (same.length === 0) continue;
    const row = same.find((one) => moduleOf(table, one) === op.moduleId) ?? same[0]!;
    return { table, row, twins: same.filter((one) => one !== row) };
  }
  return null;
}

export function moduleOf(table: ToolTable, row: Row): string {
  return row.subject?.moduleId || textOf(table, row, 'program_id') || textOf(table, row, 'hlo_module_id');
}

// "model.py:118" of "/home/me/model.py:118", and the whole for the tooltip.
export function shortSource(source: string): string {
  const first = source.split('\n')[0]!;
  return first.slice(first.lastIndexOf('/') + 1);
}

// `beside`: the row of another tool stands above, with its own events.
export function OpSections({ op, hosts, fromTool, beside = false }: { op: OpKey; hosts: string; fromTool: string; beside?: boolean }) {
  const { sessionId, tools } = useToolSession();
  const has = (id: string) => (tools && findTool(tools, id) ? id : null);
  const stats = useToolAnswer(has('hlo_stats'), { hosts });
  const roofline = useToolAnswer(has('roofline_model'), { hosts });
  const found = findOp(stats.value, op);
  const search = contextSearch(useLocation().search);
  if (!stats.value && stats.loading) return <Skeleton width="100%" height={160} />;
  if (!found && beside) return null;
  const moduleId = found ? moduleOf(found.table, found.row) : op.moduleId;
  return (
    <>
      {beside && (
        <section>
          <h3>The op {op.name}</h3>
        </section>
      )}
      {found ? <Cost found={found} /> : <p className="muted">HLO op stats have no op of this name{op.moduleId ? ' in this program' : ''}: it did not run on a device in the window, or it is no HLO op.</p>}
      <div className="drawer-links">
        {moduleId && fromTool !== 'graph_viewer' && has('graph_viewer') && (
          <Link className="button small" to={sessionPath(sessionId, 'graph_viewer', withKeys(search, { 'o.program_id': moduleId, 'o.node_name': op.name }))}>
            <Icon name="graph" />
            Graph
          </Link>
        )}
        {found && fromTool !== 'roofline_model' && (
          <Link className="button small" to={sessionPath(sessionId, 'roofline_model', withKeys(search, { op: opKey(moduleId, op.name) }))}>
            <Icon name="roofline" />
            Roofline
          </Link>
        )}
        {fromTool !== 'hlo_stats' && found && (
          <Link className="button small" to={sessionPath(sessionId, 'hlo_stats', withKeys(search, { op: opKey(moduleId, op.name), row: `${found.table.id}/${found.row.index}` }))}>
            <Icon name="ops" />
            Ops table
          </Link>
        )}
      </div>
      {found && <OfPeak found={found} roofline={roofline.value} moduleId={moduleId} />}
      {found && !beside && <RowEventsSection tool="hlo_stats" query={{ hosts }} table={found.table.id} row={found.row.index} />}
      {found && <Source found={found} />}
      {found && <HloText found={found} />}
      {moduleId && has('graph_viewer') && <Neighbours moduleId={moduleId} name={op.name} />}
      {found && found.twins.length > 0 && <Twins found={found} name={op.name} />}
    </>
  );
}

function withKeys(search: string, keys: Readonly<Record<string, string>>): string {
  const text = Object.entries(keys).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  return search ? `${search}&${text}` : `?${text}`;
}

function Cost({ found }: { found: FoundOp }) {
  const { table, row } = found;
  const us = (id: string) => {
    const value = numberOf(table, row, id);
    return value === null ? null : value * 1e6;
  };
  const category = textOf(table, row, 'category');
  const token = categoryOf(category);
  const share = numberOf(table, row, 'own.share') ?? shareOf(table, row, 'total_self_time_percent');
  const program = moduleOf(table, row);
  const framework = textOf(table, row, 'tf_op_name') || row.subject?.frameworkOp || '';
  return (
    <>
      <p className="op-line text2">
        <span className={`swatch cat-${token.key}`} style={{ backgroundColor: `var(--cat-${token.key})`, borderColor: `var(--cat-${token.key}-edge)` }} aria-hidden="true" /> {category || 'no category'}
        {program && <span title={`Program ${program}`}>, program {shortId(program)}</span>}
        {textOf(table, row, 'core_type') === 'SparseCore' && ', SparseCore'}
      </p>
      {framework && (
        <p className="mono text2 op-framework" title={framework}>
          {framework}
        </p>
      )}
      <div className="drawer-kpis">
        <div title="Self time as a share of the time of all ops; idle time is left out">
          <b>{formatShare(share)}</b>
          <span>of op time</span>
        </div>
        <div>
          <b>{formatTime(us('avg_time'))}</b>
          <span>mean of a run</span>
        </div>
        <div>
          <b>{formatCount(numberOf(table, row, 'occurrences'))}</b>
          <span>runs, {formatTime(us('total_time'))} in all</span>
        </div>
      </div>
      {us('total_self_time') !== us('total_time') && <p className="text2">Self time {formatTime(us('total_self_time'))}: the rest is spent in ops inside it.</p>}
    </>
  );
}

export function shareOf(table: ToolTable, row: Row, id: string): number | null {
  const value = numberOf(table, row, id);
  if (value === null) return null;
  return table.columns.find((column) => column.id === id)?.unit === 'fraction' ? value : value / 100;
}

// Programs are told apart by four hex digits.
export function shortId(id: string): string {
  if (!/^\d+$/.test(id)) return id;
  const hex = BigInt(id).toString(16);
  return hex.length <= 4 ? id : hex.slice(-4);
}

function Meter({ label, share, note }: { label: string; share: number | null; note?: string }) {
  return (
    <div className="meter" title={note}>
      <span className="muted">{label}</span>
      <span className="track">{share !== null && <span style={{ width: `${Math.min(1, Math.max(0, share)) * 100}%` }} />}</span>
      <span className="value">{formatShare(share)}</span>
    </div>
  );
}

function OfPeak({ found, roofline, moduleId }: { found: FoundOp; roofline: ToolAnswer | null; moduleId: string }) {
  const { table, row } = found;
  const roofTable = roofline?.tables.find((one) => one.columns.some((column) => column.id === 'roofline_efficiency')) ?? null;
  const name = textOf(table, row, 'hlo_op_name');
  const point = roofTable?.rows.find((one) => textOf(roofTable, one, 'operation') === name && (textOf(roofTable, one, 'hlo_module_id') || moduleId) === moduleId && ['Total', ''].includes(textOf(roofTable, one, 'step'))) ?? null;
  const flops = numberOf(table, row, 'normalized_flop_rate') ?? numberOf(table, row, 'model_flop_rate');
  const facts: [string, string, string][] = [];
  if (flops !== null) facts.push(['FLOP rate', flops > 0 ? formatRate(flops * 1e9) : 'none counted', '']);
  const bandwidth = numberOf(table, row, 'hbm_bw') ?? numberOf(table, row, 'measured_memory_bw');
  if (bandwidth !== null) facts.push(['HBM bandwidth', bandwidth > 0 ? `${significant(bandwidth)} GiB/s` : 'none counted', '']);
  const intensity = numberOf(table, row, 'operational_intensity');
  if (intensity !== null) facts.push(['Intensity', intensity > 0 ? `${significant(intensity)} FLOP/B` : unknown, '']);
  const stall = shareOf(table, row, 'dma_stall_percent');
  if (stall) facts.push(['Stalled by DMA', formatShare(stall), '']);
  const bound = textOf(table, row, 'bound_by') || (point && roofTable ? textOf(roofTable, point, 'bound_by') : '');
  return (
    <section>
      <h3>Of peak{bound && bound !== 'Unknown' ? `: bound by ${bound}` : ''}</h3>
      {roofTable && point && (
        <>
          <Meter label="FLOP rate" share={shareOf(roofTable, point, 'compute_efficiency')} note="Measured FLOP rate over the peak of the device" />
          <Meter label="Memory" share={shareOf(roofTable, point, 'max_mem_bw_utilization')} note="Bandwidth over the peak, of the memory that is used most" />
          <Meter label="Roofline" share={shareOf(roofTable, point, 'roofline_efficiency')} note="Share of what the roofline allows at this intensity" />
        </>
      )}
      <FactList facts={facts} />
    </section>
  );
}

function Source({ found }: { found: FoundOp }) {
  const source = textOf(found.table, found.row, 'source_info').replace(/<[^>]*>/g, '').trim();
  if (!source) {
    return (
      <section>
        <h3>Source</h3>
        <p className="muted">The profile names no source line for this op.</p>
      </section>
    );
  }
  const [first, ...stack] = source.split('\n');
  return (
    <section>
      <h3>Source</h3>
      <button type="button" className="copyable mono" title="Click to copy" onClick={() => void copyText(first!, 'Source line')}>
        {first}
      </button>
      {stack.length > 0 && <pre className="stack">{stack.join('\n')}</pre>}
    </section>
  );
}

function HloText({ found }: { found: FoundOp }) {
  const text = textOf(found.table, found.row, 'hlo_op_expression');
  if (!text) return null;
  return (
    <section>
      <h3>HLO</h3>
      <pre>{text}</pre>
      <button type="button" className="button plain small" onClick={() => void copyText(text, 'HLO text')}>
        <Icon name="copy" />
        Copy
      </button>
    </section>
  );
}

function Neighbours({ moduleId, name }: { moduleId: string; name: string }) {
  const module = useModule(moduleId);
  const facts = useInstruction(module.value, name);
  if (module.error) return null; // Without a module there is no graph; the op stats above stand by themselves.
  if (!facts.value) return module.loading || facts.loading ? <section><h3>Neighbours</h3><Skeleton width="100%" height={60} /></section> : null;
  const { operands, users } = facts.value;
  const list = (title: string, all: typeof operands) => (
    <section>
      <h3>
        {title} <span className="muted">{formatCount(all.length)}</span>
      </h3>
      {all.length === 0 && <p className="muted">none</p>}
      <div className="neighbour-list">
        {all.slice(0, tickNames).map((one) => (
          <button key={one.name} type="button" title={one.shape} onClick={() => replaceKeys({ op: opKey(moduleId, one.name), row: null })}>
            <span className="mono truncate">{one.name}</span>
            <span className="end">{one.opcode}</span>
          </button>
        ))}
      </div>
      {all.length > tickNames && <p className="muted">and {formatCount(all.length - tickNames)} more in the graph</p>}
    </section>
  );
  return (
    <>
      {list('Reads', operands)}
      {list('Read by', users)}
    </>
  );
}

function Twins({ found, name }: { found: FoundOp; name: string }) {
  const { table, twins } = found;
  const { sessionId } = useToolSession();
  const search = contextSearch(useLocation().search);
  const all = [found.row, ...twins];
  const total = all.reduce((sum, row) => sum + (numberOf(table, row, 'own.share') ?? 0), 0);
  return (
    <section>
      <h3>
        Same name in {plural(all.length, 'program')}: together {formatShare(total)}
      </h3>
      <div className="neighbour-list">
        {twins.map((row) => (
          <button key={row.index} type="button" onClick={() => navigate(sessionPath(sessionId, 'hlo_stats', withKeys(search, { op: opKey(moduleOf(table, row), name), row: `${table.id}/${row.index}` })))}>
            program {shortId(moduleOf(table, row))}
            <span className="end">
              {formatShare(numberOf(table, row, 'own.share'))}, {plural(Number(cellOf(table, row, 'occurrences') ?? 0), 'run')}
            </span>
          </button>
        ))}
      </div>
    </section>
  );
}
