import { formatCount } from '../format/format';
import { keyHint, keyLabel } from '../keys/table';
import { contextSearch, type Route, sessionPath, type SessionTool, useLocation } from '../state/router';
import { useMay, useMe } from '../access/me';
import { openCapture } from '../capture/store';
import { groupOf, moreGroup, toolGroups, type ToolGroup, toolsOf } from '../tools/catalog';
import type { ToolInfo } from '../tools/types';
import { Icon, type IconName } from '../ui/Icon';
import { Link } from '../ui/Link';
import { type CorePage, filesPage, type LaterTool, laterPlaces, overviewPage, timelinePage } from './tools';

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
  tools: readonly ToolInfo[] | null; // Null: not known yet.
  figures: Partial<Record<SessionTool, Figure>>;
  folded: boolean;
  onFold: () => void;
}

// A group without a tool that has something to say stays in its place, dimmed, with the reason; it can still be opened.
export function groupReason(group: ToolGroup, tools: readonly ToolInfo[]): string | null {
  const own = toolsOf(group, tools);
  if (own.length === 0) return 'This server has no such tool.';
  if (own.some((tool) => tool.applies)) return null;
  return own.find((tool) => tool.reason)?.reason || 'Nothing in this session to show.';
}

export function SessionRail({ sessionId, tool, tools, figures, folded, onFold }: SessionRailProps) {
  const search = contextSearch(useLocation().search);
  const core = (page: CorePage) => (
    <RailLink key={page.tool} to={sessionPath(sessionId, page.tool, search)} icon={page.icon} name={page.name} hint={keyHint(page.key)} current={tool === page.tool} figure={figures[page.tool]} reason={null} />
  );
  const isMore = tool !== null && tool === moreGroup.id;
  const currentGroup = tool === null ? null : groupOf(tool);
  const more = tools ? toolsOf(moreGroup, tools) : [];
  return (
    <nav className="rail" aria-label="Tools">
      <ul>
        {core(overviewPage)}
        {core(timelinePage)}
        {toolGroups.map((group) => (
          <RailLink
            key={group.id}
            to={sessionPath(sessionId, group.id, search)}
            icon={group.icon}
            name={group.name}
            hint={keyHint(group.key)}
            current={currentGroup === group}
            figure={figures[group.id]}
            reason={tools ? groupReason(group, tools) : null}
          />
        ))}
        {more.length > 0 && (
          <RailLink
            to={sessionPath(sessionId, moreGroup.id, search)}
            icon={moreGroup.icon}
            name={moreGroup.name}
            hint={keyHint(moreGroup.key)}
            current={isMore || more.some((one) => one.id === tool)}
            figure={{ text: String(more.length), title: 'further tools' }}
            reason={null}
          />
        )}
        {core(filesPage)}
      </ul>
      <Fold folded={folded} onFold={onFold} />
    </nav>
  );
}

interface RailLinkProps {
  to: string;
  icon: IconName;
  name: string;
  hint: string;
  current: boolean;
  figure: Figure | undefined;
  reason: string | null;
}

function RailLink({ to, icon, name, hint, current, figure, reason }: RailLinkProps) {
  return (
    <li>
      <Link to={to} className={reason === null ? 'rail-item' : 'rail-item without'} aria-current={current ? 'page' : undefined} title={reason === null ? hint : undefined} data-tip={reason ?? undefined} aria-label={reason === null ? undefined : `${name}: ${reason}`}>
        <Icon name={icon} />
        <span className="name">{name}</span>
        {reason !== null ? (
          <span className="figure">{'\u2013'}</span>
        ) : (
          figure && (
            <span className={figure.lossy ? 'figure lossy' : 'figure'} title={figure.title}>
              {figure.text}
            </span>
          )
        )}
      </Link>
    </li>
  );
}

interface HomeRailProps {
  page: Route['page'];
  count: number | null; // Of sessions; null until they were listed once.
  folded: boolean;
  onFold: () => void;
}

export function HomeRail({ page, count, folded, onFold }: HomeRailProps) {
  const me = useMe();
  const mayCapture = useMay('capture');
  const mayAdminister = useMay('admin'); // Where access control is off, the page says how to turn it on.
  const sessions: Figure | undefined = count === null ? undefined : { text: formatCount(count) };
  return (
    <nav className="rail" aria-label="Places">
      <ul>
        <RailLink to="/" icon="sessions" name="Sessions" hint={keyHint('go.sessions')} current={page === 'sessions'} figure={sessions} reason={null} />
        <RailLink to="/runs" icon="runs" name="Runs" hint={keyHint('go.runs')} current={page === 'runs' || page === 'run'} figure={undefined} reason={null} />
        {mayCapture && (
          <li>
            <button type="button" className="rail-item" onClick={() => openCapture()} title={keyHint('app.capture')}>
              <Icon name="capture" />
              <span className="name">Capture</span>
            </button>
          </li>
        )}
        {mayAdminister && <RailLink to="/admin" icon="admin" name="Admin" hint={keyHint('go.admin')} current={page === 'admin'} figure={me?.kind === 'local' ? { text: 'off', title: 'Access control is off' } : undefined} reason={null} />}
      </ul>
      <div className="group label">Later</div>
      <Later items={laterPlaces} />
      <Fold folded={folded} onFold={onFold} />
    </nav>
  );
}
