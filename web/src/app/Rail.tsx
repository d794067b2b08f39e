import type { ReactNode } from 'react';
import { keyHint, keyLabel } from '../keys/table';
import { sessionPath, type SessionTool } from '../state/router';
import { openCapture } from '../capture/store';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { type LaterTool, laterPlaces, laterTools, liveTools } from './tools';

export interface Figure {
  readonly text: string;
  readonly lossy?: boolean;
  readonly title?: string;
}

function Later({ items }: { items: readonly LaterTool[] }) {
  return (
    <ul className="later">
      {items.map((item) => (
        <li key={item.name}>
          <span className="rail-item" aria-disabled="true" tabIndex={0} data-tip={item.reason} aria-label={`${item.name}: ${item.reason}`}>
            <Icon name={item.icon} />
            <span className="name">{item.name}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Fold({ folded, onFold }: { folded: boolean; onFold: () => void }) {
  return (
    <div className="bottom">
      <button type="button" className="rail-item" onClick={onFold} title={keyHint('app.rail')} aria-pressed={folded} aria-label={folded ? 'Unfold the tool rail' : 'Fold the tool rail'}>
        <Icon name="fold" />
        <span className="name">Fold</span>
        <span className="figure kbd">{keyLabel('app.rail')}</span>
      </button>
    </div>
  );
}

interface SessionRailProps {
  sessionId: string;
  tool: SessionTool | null;
  figures: Partial<Record<SessionTool, Figure>>;
  folded: boolean;
  onFold: () => void;
}

export function SessionRail({ sessionId, tool, figures, folded, onFold }: SessionRailProps) {
  return (
    <nav className="rail" aria-label="Tools">
      <ul>
        {liveTools.map((item) => {
          const figure = figures[item.tool];
          return (
            <li key={item.tool}>
              <Link to={sessionPath(sessionId, item.tool)} className="rail-item" aria-current={tool === item.tool ? 'page' : undefined} title={keyHint(item.key)}>
                <Icon name={item.icon} />
                <span className="name">{item.name}</span>
                {figure && (
                  <span className={figure.lossy ? 'figure lossy' : 'figure'} title={figure.title}>
                    {figure.text}
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
      <div className="group label">Later</div>
      <Later items={laterTools} />
      <Fold folded={folded} onFold={onFold} />
    </nav>
  );
}

export function HomeRail({ count, folded, onFold }: { count: ReactNode; folded: boolean; onFold: () => void }) {
  return (
    <nav className="rail" aria-label="Places">
      <ul>
        <li>
          <Link to="/" className="rail-item" aria-current={count === '' ? undefined : 'page'} title={keyHint('go.sessions')}>
            <Icon name="sessions" />
            <span className="name">Sessions</span>
            <span className="figure">{count}</span>
          </Link>
        </li>
        <li>
          <button type="button" className="rail-item" onClick={() => openCapture()} title={keyHint('app.capture')}>
            <Icon name="capture" />
            <span className="name">Capture</span>
          </button>
        </li>
      </ul>
      <div className="group label">Later</div>
      <Later items={laterPlaces} />
      <Fold folded={folded} onFold={onFold} />
    </nav>
  );
}
