// Totals of the chosen area: by name, by category, by line, by device. Each moment counts once: derived rows are left out.

import { useState } from 'react';
import { api } from '../api/client';
import { exactTime, formatCount, formatShare, formatTime, nounFor, plural } from '../format/format';
import { categories } from '../theme/tokens';
import { useToolSession } from '../tools/session';
import { ErrorNotice } from '../ui/states';
import { useResource } from '../ui/useResource';
import { PanelFrame, type PanelProps } from './BottomPanel';
import type { AreaTotals } from './model';
import type { TimeSpan } from './view';

type View = 'names' | 'categories' | 'lines' | 'planes';
const VIEWS: readonly (readonly [View, string])[] = [['names', 'By name'], ['categories', 'By category'], ['lines', 'By line'], ['planes', 'By device and host']];

export function AreaPanel({ session, area }: PanelProps & { area: TimeSpan }) {
  const { sessionId } = useToolSession();
  const [side, setSide] = useState<'devices' | 'hosts' | undefined>(undefined);
  const [view, setView] = useState<View>('names');
  const pinned = session?.engine.tracksChosen.pinned ?? [];
  const [onlyPinned, setOnlyPinned] = useState(false);
  const lines = onlyPinned && pinned.length > 0 ? pinned.join(',') : undefined;
  const { value: data, error, reload } = useResource(
    `${sessionId}/${area.startPs}/${area.endPs}/${side ?? ''}/${lines ?? ''}`,
    (signal) => api.totals(sessionId, { from_ps: area.startPs, to_ps: area.endPs, side, lines }, { signal }),
  );
  const length = area.endPs - area.startPs;
  const shownSide = data?.side ?? side ?? 'devices';
  return (
    <PanelFrame
      label="Totals of the area" testId="timeline-totals" onClose={() => session?.setArea(null)}
      title={
        <>
          Area <strong>{formatTime(length)}</strong> <span className="muted">from {formatTime(area.startPs)}</span>
        </>
      }
      actions={
        <>
          <Choice label="Counted lines" value={lines !== undefined ? 'pinned' : shownSide} choices={[['devices', 'Devices'], ['hosts', 'Host threads'], ...(pinned.length > 0 ? [['pinned', 'Pinned'] as const] : [])]} onChange={(to) => {
            setOnlyPinned(to === 'pinned');
            if (to !== 'pinned') setSide(to as 'devices' | 'hosts');
          }} />
          <Choice label="Totals by" value={view} choices={VIEWS} onChange={(to) => setView(to as View)} />
          <button type="button" className="button plain small" onClick={() => session?.engine.fitTo(area)}>Fit</button>
        </>
      }
    >
      {error !== null && <ErrorNotice what="The totals could not be worked out." error={error} onRetry={reload} />}
      {data !== null && (
        <>
          <Summary totals={data} length={length} />
          {data.count === 0 && <p className="tl-panel-empty">Nothing ran in this area on the {shownSide === 'devices' ? 'devices' : 'host threads'} counted here.</p>}
          <div className="tl-panel-body" hidden={data.count === 0}>
            {view === 'names' && <Names totals={data} onPick={(id) => session?.navigator.select(id, { reveal: true })} onFind={(name) => session?.find(name)} />}
            {view === 'categories' && <Categories totals={data} />}
            {view === 'lines' && <Lines totals={data} length={length} onPick={(line) => session?.engine.showTrack(line)} />}
            {view === 'planes' && <Planes totals={data} length={length} onPick={(plane) => session?.openGaps(plane)} />}
          </div>
        </>
      )}
      {data === null && error === null && <div className="tl-panel-body tl-skeleton" role="status" aria-label="Working out the totals" />}
    </PanelFrame>
  );
}

export function Choice({ label, value, choices, onChange }: { label: string; value: string; choices: readonly (readonly [string, string])[]; onChange: (to: string) => void }) {
  return (
    <div className="tl-choice" role="group" aria-label={label}>
      {choices.map(([id, text]) => (
        <button key={id} type="button" className="button plain small" aria-pressed={id === value} onClick={() => onChange(id)}>{text}</button>
      ))}
    </div>
  );
}

function Summary({ totals, length }: { totals: AreaTotals; length: number }) {
  const devices = totals.planes.length;
  const busy = totals.planes.reduce((sum, plane) => sum + plane.busy_ps, 0);
  return (
    <p className="tl-panel-summary">
      <span><b>{formatCount(totals.count)}</b> {nounFor(totals.count, 'event')}</span>
      <span title={exactTime(totals.self_ps)}><b>{formatTime(totals.self_ps)}</b> in all</span>
      {totals.side === 'devices' && devices > 0 && <span title={`Mean of ${plural(devices, 'device')}`}><b>{formatShare(busy / (devices * length))}</b> busy</span>}
      <span><b>{formatCount(totals.name_count)}</b> {nounFor(totals.name_count, 'name')}</span>
      {totals.lines_left_out > 0 && <span className="muted">{plural(totals.lines_left_out, 'line')} left out: steps, modules and derived lines repeat what is counted</span>}
    </p>
  );
}

/** As the API names them, in the order of the category tokens. */
const CATEGORY_NAMES = ['other', 'matmul', 'fusion', 'custom kernel', 'reduce', 'data movement', 'collective', 'host transfer', 'host code', 'marker'];

function swatchOf(category: string): number {
  return Math.max(0, CATEGORY_NAMES.indexOf(category));
}

function Bar({ share }: { share: number }) {
  return <span className="tl-share"><span style={{ width: `${Math.min(100, share * 100)}%` }} /></span>;
}

function Names({ totals, onPick, onFind }: { totals: AreaTotals; onPick: (id: string) => void; onFind: (name: string) => void }) {
  const rest = totals.other_names;
  return (
    <table className="table">
      <thead>
        <tr><th>Name</th><th className="num">Self time</th><th className="num">Share</th><th aria-hidden="true" /><th className="num">Total</th><th className="num">Count</th><th className="num">Mean</th><th className="num">Longest</th></tr>
      </thead>
      <tbody>
        {totals.names.map((name) => (
          <tr key={name.name}>
            <td className="mono truncate" title={name.name}>
              <span className={`tl-swatch tl-swatch-${categories[swatchOf(name.category)]!.key}`} />{' '}
              <button type="button" className="tl-link" title="Find all of them" onClick={() => onFind(name.name)}>{name.name}</button>
            </td>
            <td className="num" title={exactTime(name.self_ps)}>{formatTime(name.self_ps)}</td>
            <td className="num">{formatShare(name.self_ps / Math.max(1, totals.self_ps))}</td>
            <td><Bar share={name.self_ps / Math.max(1, totals.self_ps)} /></td>
            <td className="num" title={exactTime(name.total_ps)}>{formatTime(name.total_ps)}</td>
            <td className="num">{formatCount(name.count)}</td>
            <td className="num">{name.count > 0 ? formatTime(name.total_ps / name.count) : '\u2013'}</td>
            <td className="num"><button type="button" className="tl-link" onClick={() => onPick(name.longest)}>{formatTime(name.longest_ps)}</button></td>
          </tr>
        ))}
        {rest.count > 0 && (
          <tr className="muted">
            <td>{plural(totals.name_count - totals.names.length, 'further name')}</td>
            <td className="num">{formatTime(rest.self_ps)}</td>
            <td className="num">{formatShare(rest.self_ps / Math.max(1, totals.self_ps))}</td>
            <td />
            <td className="num">{formatTime(rest.total_ps)}</td>
            <td className="num">{formatCount(rest.count)}</td>
            <td /><td />
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Categories({ totals }: { totals: AreaTotals }) {
  return (
    <table className="table">
      <thead><tr><th>Category</th><th className="num">Self time</th><th className="num">Share</th><th aria-hidden="true" /><th className="num">Count</th></tr></thead>
      <tbody>
        {totals.categories.map((one) => (
          <tr key={one.category}>
            <td><span className={`tl-swatch tl-swatch-${categories[swatchOf(one.category)]!.key}`} /> {categories[swatchOf(one.category)]!.label}</td>
            <td className="num" title={exactTime(one.self_ps)}>{formatTime(one.self_ps)}</td>
            <td className="num">{formatShare(one.self_ps / Math.max(1, totals.self_ps))}</td>
            <td><Bar share={one.self_ps / Math.max(1, totals.self_ps)} /></td>
            <td className="num">{formatCount(one.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Lines({ totals, length, onPick }: { totals: AreaTotals; length: number; onPick: (line: string) => void }) {
  return (
    <table className="table">
      <thead><tr><th>Line</th><th className="num">Busy</th><th className="num">Share of the area</th><th aria-hidden="true" /><th className="num">Count</th></tr></thead>
      <tbody>
        {totals.lines.map((line) => (
          <tr key={line.line}>
            <td className="truncate"><button type="button" className="tl-link" onClick={() => onPick(line.line)}>{line.name === '' ? line.line : line.name}</button></td>
            <td className="num" title={exactTime(line.busy_ps)}>{formatTime(line.busy_ps)}</td>
            <td className="num">{formatShare(line.busy_ps / length)}</td>
            <td><Bar share={line.busy_ps / length} /></td>
            <td className="num">{formatCount(line.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Planes({ totals, length, onPick }: { totals: AreaTotals; length: number; onPick: (plane: string) => void }) {
  const device = totals.side === 'devices';
  return (
    <table className="table">
      <thead><tr><th>{device ? 'Device' : 'Process'}</th><th>Host</th><th className="num">{device ? 'Busy' : 'Time of all threads'}</th><th className="num">Share of the area</th><th aria-hidden="true" /><th className="num">Count</th></tr></thead>
      <tbody>
        {totals.planes.map((plane) => (
          <tr key={plane.plane}>
            <td><button type="button" className="tl-link" title="Its gaps" onClick={() => onPick(plane.plane)}>{plane.name}</button></td>
            <td>{plane.host}</td>
            <td className="num" title={exactTime(plane.busy_ps)}>{formatTime(plane.busy_ps)}</td>
            <td className="num">{device ? formatShare(plane.busy_ps / length) : '\u2013'}</td>
            <td>{device && <Bar share={plane.busy_ps / length} />}</td>
            <td className="num">{formatCount(plane.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
