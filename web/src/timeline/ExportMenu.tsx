// Events as a file for other programs: the whole session, what is in view, or the chosen area. The browser fetches it by
// itself, so a large one costs the page nothing.

import { api } from '../api/client';
import { savePicture } from '../charts/ChartFrame';
import { formatTime } from '../format/format';
import { useToolSession } from '../tools/session';
import { Menu } from '../ui/Menu';
import type { PanelProps } from './BottomPanel';
import { useStore } from './store';
import { viewEndPs, type TimeSpan } from './view';

const FORMATS = [
  ['chrome', 'Chrome trace JSON', 'for chrome://tracing, Perfetto and scripts'],
  ['perfetto', 'Perfetto trace', 'smaller, for ui.perfetto.dev'],
] as const;

export function ExportMenu({ store, session }: PanelProps) {
  const { sessionId } = useToolSession();
  const area = useStore(store, (state) => state.area);
  return (
    <Menu label="Export" className="button plain small" align="right" title="Events as a file for other programs" button="Export">
      {(close) => {
        const view = session?.engine.view;
        const spans: [string, TimeSpan | null][] = [['Whole session', null]];
        if (view !== undefined) spans.push([`This view, ${formatTime(view.durationPs)}`, { startPs: Math.max(view.startPs, session!.engine.window.startPs), endPs: Math.min(viewEndPs(view), session!.engine.window.endPs) }]);
        if (area !== null) spans.push([`The area, ${formatTime(area.endPs - area.startPs)}`, area]);
        const pinned = session?.engine.tracksChosen.pinned ?? [];
        const picture = (format: 'png' | 'svg') => {
          close();
          const grid = document.querySelector('.tl-grid');
          if (grid) savePicture(grid, 'Timeline', format);
        };
        const files = FORMATS.map(([format, name, what]) => (
          <div key={format} role="group" aria-label={name}>
            <div className="menu-title label" title={what}>{name}</div>
            {spans.map(([label, span]) => (
              <a
                key={label} className="menu-item" role="menuitem" download data-testid={`timeline-export-${format}-${span === null ? 'all' : label.startsWith('This') ? 'view' : 'area'}`}
                href={api.exportUrl(sessionId, { format, from_ps: span?.startPs, to_ps: span?.endPs })} onClick={close}
              >
                {label}
              </a>
            ))}
            {pinned.length > 0 && (
              <a className="menu-item" role="menuitem" download href={api.exportUrl(sessionId, { format, lines: pinned.join(',') })} onClick={close}>Pinned lines only</a>
            )}
          </div>
        ));
        return (
          <>
            {files}
            <div role="group" aria-label="Picture">
              <div className="menu-title label">Picture of the view</div>
              <button type="button" className="menu-item" role="menuitem" onClick={() => picture('png')}>PNG</button>
              <button type="button" className="menu-item" role="menuitem" onClick={() => picture('svg')}>SVG</button>
            </div>
          </>
        );
      }}
    </Menu>
  );
}
