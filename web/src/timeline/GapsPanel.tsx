// The gaps of a device, longest first, each with the events beside it and with what the threads of its host did meanwhile.

import { api } from '../api/client';
import { exactTime, formatCount, formatShare, formatTime } from '../format/format';
import { useToolSession } from '../tools/session';
import { ErrorNotice } from '../ui/states';
import { useResource } from '../ui/useResource';
import { PanelFrame, type PanelProps } from './BottomPanel';
import { useStore } from './store';

export function GapsPanel({ store, session }: PanelProps) {
  const { sessionId } = useToolSession();
  const area = useStore(store, (state) => state.area);
  const chosen = useStore(store, (state) => state.gapsPlane);
  const planes = (session?.engine.lines?.hosts ?? []).flatMap((host) => host.planes.filter((plane) => plane.event_count !== 0).map((plane) => ({ plane, host: host.host })));
  const plane = chosen ?? planes[0]?.plane.id ?? null;
  const { value: data, error, reload } = useResource(
    plane === null ? null : `${sessionId}/${plane}/${area?.startPs ?? ''}/${area?.endPs ?? ''}`,
    (signal) => api.gaps(sessionId, { plane: plane!, from_ps: area?.startPs, to_ps: area?.endPs, limit: 100 }, { signal }),
  );
  const length = data === null ? 1 : Math.max(1, data.to_ps - data.from_ps);
  return (
    <PanelFrame
      label="Gaps" testId="timeline-gaps" title={<>Gaps <span className="muted">{area === null ? 'of the whole session' : `in the area of ${formatTime(area.endPs - area.startPs)}`}</span></>}
      onClose={() => store.set({ panel: 'event' })}
      actions={
        <select className="input small" aria-label="Device" value={plane ?? ''} onChange={(event) => session?.openGaps(event.target.value)}>
          {planes.map((one) => <option key={one.plane.id} value={one.plane.id}>{one.plane.name}{one.host === '' ? '' : ` on ${one.host}`}</option>)}
        </select>
      }
    >
      {error !== null && <ErrorNotice what="The gaps could not be found." error={error} onRetry={reload} />}
      {data !== null && (
        <>
          <p className="tl-panel-summary">
            <span><b>{formatCount(data.count)}</b> gaps</span>
            <span title={exactTime(data.total_ps)}><b>{formatTime(data.total_ps)}</b> idle</span>
            <span><b>{formatShare(data.total_ps / length)}</b> of the span</span>
            {data.count > data.gaps.length && <span className="muted">the longest {formatCount(data.gaps.length)} are listed</span>}
          </p>
          <div className="tl-panel-body">
            <table className="table">
              <thead><tr><th className="num">Length</th><th className="num">At</th><th>After</th><th>Before</th><th>Meanwhile on the host</th></tr></thead>
              <tbody>
                {data.gaps.map((gap) => (
                  <tr key={gap.start_ps}>
                    <td className="num" title={exactTime(gap.duration_ps)}>
                      <button type="button" className="tl-link" onClick={() => session?.showGap({ startPs: gap.start_ps, endPs: gap.start_ps + gap.duration_ps })}>{formatTime(gap.duration_ps)}</button>
                    </td>
                    <td className="num">{formatTime(gap.start_ps)}</td>
                    <td className="mono truncate" title={gap.before_name ?? undefined}>{gap.before_name ?? <span className="muted">nothing before</span>}</td>
                    <td className="mono truncate" title={gap.after_name ?? undefined}>{gap.after_name ?? <span className="muted">nothing after</span>}</td>
                    <td className="tl-meanwhile">
                      {gap.meanwhile.length === 0 && <span className="muted">no thread was recorded doing anything</span>}
                      {gap.meanwhile.map((what) => (
                        <button key={what.longest} type="button" className="tl-link" title={`${what.name} on ${what.thread}`} onClick={() => session?.navigator.select(what.longest, { reveal: true })}>
                          {what.name} <span className="muted">{formatTime(what.self_ps)}</span>
                        </button>
                      ))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      {data === null && error === null && <div className="tl-panel-body tl-skeleton" role="status" aria-label="Looking for gaps" />}
    </PanelFrame>
  );
}
