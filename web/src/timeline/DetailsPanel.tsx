// The bottom panel: everything known about the selected event, its stats with their units, and where to go from it.

import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { exactTime, formatCount, formatShare, formatTime, plural } from '../format/format';
import { keyHint } from '../keys/table';
import { sessionPath } from '../state/router';
import { findTool } from '../tools/catalog';
import { opKey } from '../tools/drawerKeys';
import { useToolSession } from '../tools/session';
import { PanelTableExport } from '../export/TableExport';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { hostOf } from './flowArrows';
import { splitEventId, type EventDetail, type FlowEnd } from './model';
import type { DrawnEvent } from './scene';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { formatStat } from './statValue';
import { useStore } from './store';
import { formatTimeAt } from './time';
import './details.css';

const FIRST_HEIGHT_PX = 252;
const LEAST_HEIGHT_PX = 120;
/** Ends of flows listed; arrows show the others. */
const MAX_FLOW_ENDS = 5;

interface Props {
  readonly store: TimelineStore;
  readonly session: TimelineSession | null;
  readonly container: RefObject<HTMLElement | null>;
}

export function DetailsPanel({ store, session, container }: Props) {
  const selection = useStore(store, (state) => state.selection);
  const detail = useStore(store, (state) => state.detail);
  const error = useStore(store, (state) => state.detailError);
  const picked = useStore(store, (state) => state.picked);
  const [height, setHeight] = useState(FIRST_HEIGHT_PX);
  if (selection === null) return null;
  const shown = detail !== null && detail.id === selection ? detail : null;
  const resize = (to: number): void => setHeight(Math.max(LEAST_HEIGHT_PX, Math.min(to, (container.current?.clientHeight ?? 800) * 0.6)));
  return (
    <section className="tl-details" style={{ height }} aria-label="Selected event" data-testid="timeline-details">
      <Grip height={height} onResize={resize} />
      <header>
        <h2 className="mono truncate" title={shown?.name ?? picked?.name}>{shown?.name ?? picked?.name ?? selection}</h2>
        <div className="tl-details-actions">
          <OpLink detail={shown} />
          <button type="button" className="button plain small square" aria-label="Previous event" title={keyHint('timeline.previous_event')} onClick={() => session?.navigator.stepEvent('previous')}>
            <Icon name="left" />
          </button>
          <button type="button" className="button plain small square" aria-label="Next event" title={keyHint('timeline.next_event')} onClick={() => session?.navigator.stepEvent('next')}>
            <Icon name="right" />
          </button>
          <button type="button" className="button plain small" title={keyHint('timeline.fit_selection')} onClick={() => session?.navigator.fitSelection()}>
            Fit
          </button>
          <PanelTableExport title="Stats of the event" />
          <button type="button" className="button plain small square" aria-label="Close" title="Close (Esc)" onClick={() => session?.navigator.select(null)}>
            <Icon name="close" />
          </button>
        </div>
      </header>
      {error !== null ? (
        <div className="tl-details-message">
          <p className="crit" role="alert">{error.message}</p>
          {error.hint && <p className="text2">{error.hint}</p>}
        </div>
      ) : (
        <div className="tl-details-body">
          <Facts detail={shown} picked={picked} session={session} flows={<FlowList store={store} session={session} />} />
          <Stats detail={shown} />
        </div>
      )}
    </section>
  );
}

const programStats = /^(program_id|hlo_module_id)$/;

// From an event of a device op to the op in every tool that knows it.
function OpLink({ detail }: { detail: EventDetail | null }) {
  const { sessionId, tools } = useToolSession();
  if (detail === null || !detail.plane.startsWith('/device:') || tools === null) return null;
  const op = detail.stats.find((stat) => stat.name === 'hlo_op')?.value;
  const program = detail.stats.find((stat) => programStats.test(stat.name))?.value;
  const name = typeof op === 'string' && op !== '' ? op : detail.name;
  const moduleId = program === undefined || program === null || typeof program === 'object' ? '' : String(program);
  const asOp = new URLSearchParams({ op: opKey(moduleId, name) }).toString();
  const targets = [
    { tool: 'hlo_stats', label: 'Op', query: asOp },
    { tool: 'op_profile', label: 'Op profile', query: asOp },
    { tool: 'roofline_model', label: 'Roofline', query: asOp },
    { tool: 'kernel_stats', label: 'Kernels', query: asOp },
    ...(moduleId === '' ? [] : [{ tool: 'graph_viewer', label: 'Graph', query: new URLSearchParams({ 'o.program_id': moduleId, 'o.node_name': name }).toString() }]),
  ] as const;
  return (
    <>
      {targets.filter((target) => findTool(tools, target.tool)?.applies).map((target) => (
        <Link key={target.tool} className="button plain small" to={sessionPath(sessionId, target.tool, `?${target.query}`)}>
          {target.label}
        </Link>
      ))}
    </>
  );
}

function Grip({ height, onResize }: { height: number; onResize: (to: number) => void }) {
  const from = useRef<{ y: number; height: number } | null>(null);
  return (
    <div
      className="tl-grip" role="separator" aria-orientation="horizontal" aria-label="Height of the details" aria-valuenow={Math.round(height)} tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { y: event.clientY, height };
      }}
      onPointerMove={(event) => {
        if (from.current !== null) onResize(from.current.height + from.current.y - event.clientY);
      }}
      onPointerUp={() => {
        from.current = null;
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
        event.preventDefault();
        event.stopPropagation();
        onResize(height + (event.key === 'ArrowUp' ? 24 : -24));
      }}
    />
  );
}

/** What caused the event and what it caused, to follow. */
function FlowList({ store, session }: Pick<Props, 'store' | 'session'>) {
  const flows = useStore(store, (state) => state.flows);
  const total = useStore(store, (state) => state.flowsTotal);
  const selection = useStore(store, (state) => state.selection);
  if (flows.length === 0) return null;
  // Of flows between hosts it counts where the other end is.
  const own = splitEventId(selection ?? '')?.line ?? '';
  const whereOf = (end: FlowEnd): string => {
    const host = hostOf(end.line);
    if (own === '' || host === hostOf(own)) return '';
    return ` on ${session?.engine.lines?.hosts.find((one) => one.id === host)?.host ?? `host ${host}`}`;
  };
  const ends = (label: string, of: readonly FlowEnd[]) => of.length > 0 && (
    <>
      <dt>{label}</dt>
      <dd>
        {of.slice(0, MAX_FLOW_ENDS).map((end) => (
          <div key={end.event}>
            <button type="button" className="tl-link mono" onClick={() => session?.navigator.select(end.event, { reveal: true })}>{end.name}</button>{' '}
            <span className="muted">{formatTime(end.duration_ps)}{whereOf(end)}</span>
          </div>
        ))}
        {of.length > MAX_FLOW_ENDS && <span className="muted">and {formatCount(of.length - MAX_FLOW_ENDS)} more</span>}
      </dd>
    </>
  );
  return (
    <dl className="tl-flow-list" data-testid="timeline-flow-list" title={`${formatCount(total)} in all`}>
      {ends('Caused by', flows.filter((flow) => flow.to.event === selection).map((flow) => flow.from))}
      {ends('Caused', flows.filter((flow) => flow.from.event === selection).map((flow) => flow.to))}
    </dl>
  );
}

function Facts({ detail, picked, session, flows }: { detail: EventDetail | null; picked: DrawnEvent | null; session: TimelineSession | null; flows: ReactNode }) {
  const merged = picked !== null && picked.count > 1 ? picked : null;
  return (
    <div className="tl-facts">
      {merged !== null && (
        <p className="tl-merged" data-testid="timeline-merged">
          This bar stands for {plural(merged.count, 'event')}, busy {formatShare(merged.share)} of {formatTime(merged.endPs - merged.startPs)}. Shown is the longest; zoom in for each.
        </p>
      )}
      <dl>
        <Fact label="Start" value={detail && formatTimeAt(detail.start_ps, 1e3)} exact={detail && exactTime(detail.start_ps)} />
        <Fact label="Line" value={detail && detail.line} />
        <Fact label="Duration" value={detail && formatTime(detail.duration_ps)} exact={detail && exactTime(detail.duration_ps)} strong />
        <Fact label="Process" value={detail && `${detail.plane}${detail.host === '' ? '' : ` on ${detail.host}`}`} />
        <Fact label="Self time" value={detail && formatTime(detail.self_ps)} exact={detail && exactTime(detail.self_ps)} note={detail && shareNote(detail)} />
        <dt>Parent</dt>
        <dd>
          {detail === null ? <span className="skeleton" /> : detail.parent === null ? <span className="muted">none</span> : <Parent id={detail.parent} session={session} />}
        </dd>
        <Fact label="Depth" value={detail && (detail.depth === null ? '\u2013' : String(detail.depth))} />
        {detail !== null && (detail.occurrences ?? 1) > 1 && <Fact label="Stands for" value={plural(detail.occurrences, 'occurrence')} />}
      </dl>
      {flows}
      {detail !== null && detail.full_name !== '' && detail.full_name !== null && detail.full_name !== detail.name && (
        <div className="tl-full-name">
          <span className="label">Full name</span>
          <code>{detail.full_name}</code>
          <button type="button" className="button plain small" onClick={() => void navigator.clipboard?.writeText(detail.full_name)}>
            <Icon name="copy" />
            Copy
          </button>
        </div>
      )}
    </div>
  );
}

function shareNote(detail: EventDetail): string | null {
  if (detail.self_ps === null || detail.duration_ps === 0 || detail.self_ps === detail.duration_ps) return null;
  return `${formatShare(detail.self_ps / detail.duration_ps)} of it`;
}

function Fact({ label, value, exact, note, strong }: { label: string; value: string | null; exact?: string | null; note?: string | null; strong?: boolean }) {
  return (
    <>
      <dt>{label}</dt>
      <dd title={exact ?? undefined}>
        {value === null ? <span className="skeleton" /> : strong ? <strong>{value}</strong> : value}
        {note && <span className="muted"> {note}</span>}
      </dd>
    </>
  );
}

function Parent({ id, session }: { id: string; session: TimelineSession | null }) {
  const [name, setName] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    setName('');
    session?.navigator.detailOf(id, stop.signal).then((detail) => setName(detail.name), () => undefined);
    return () => stop.abort();
  }, [id, session]);
  return (
    <button type="button" className="tl-link mono" onClick={() => session?.navigator.select(id, { reveal: true })}>
      {name === '' ? id : name}
    </button>
  );
}

function Stats({ detail }: { detail: EventDetail | null }) {
  if (detail === null) return <div className="tl-stats" />;
  if (detail.stats.length === 0) return <div className="tl-stats muted">The profile has no stats for this event.</div>;
  return (
    <div className="tl-stats">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Stat</th>
            <th scope="col">Value</th>
            <th scope="col" className="tl-origin">From</th>
          </tr>
        </thead>
        <tbody>
          {detail.stats.map((stat, i) => {
            const { text, exact, long } = formatStat(stat);
            return (
              <tr key={`${i}-${stat.name}`}>
                <td className="mono" title={stat.name}>{stat.name}</td>
                <td className={long ? 'tl-long mono' : 'mono'} title={exact}>{text}</td>
                <td className="muted tl-origin" title={stat.type}>{stat.origin === 'metadata' ? 'op' : 'event'}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
