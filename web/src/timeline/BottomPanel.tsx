// The lower part of the page: the selected event, the totals of the chosen area, or the gaps of a device. One at a time.

import { type ReactNode, type RefObject } from 'react';
import { PanelTableExport } from '../export/TableExport';
import { Icon } from '../ui/Icon';
import { AreaPanel } from './AreaPanel';
import { DetailsPanel } from './DetailsPanel';
import { GapsPanel } from './GapsPanel';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { useStore } from './store';
import './panels.css';

export interface PanelProps {
  readonly store: TimelineStore;
  readonly session: TimelineSession | null;
}

export function BottomPanel({ store, session, container }: PanelProps & { container: RefObject<HTMLElement | null> }) {
  const panel = useStore(store, (state) => state.panel);
  const area = useStore(store, (state) => state.area);
  const selection = useStore(store, (state) => state.selection);
  if (panel === 'gaps') return <GapsPanel store={store} session={session} />;
  if (area !== null && (panel === 'area' || selection === null)) return <AreaPanel store={store} session={session} area={area} />;
  return <DetailsPanel store={store} session={session} container={container} />;
}

interface FrameProps {
  readonly label: string;
  readonly testId: string;
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function PanelFrame({ label, testId, title, actions, onClose, children }: FrameProps) {
  return (
    <section className="tl-details tl-panel" aria-label={label} data-testid={testId}>
      <header>
        <h2>{title}</h2>
        <div className="tl-details-actions">
          {actions}
          <PanelTableExport title={label} />
          <button type="button" className="button plain small square" aria-label="Close" title="Close (Esc)" onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
      </header>
      {children}
    </section>
  );
}
