// The page of any tool of the registry: title, question, options, notices, then its own body if it has one, else its tables,
// document or text as they are. A tool that is new on the server has a page at once.
import { lazy, type LazyExoticComponent, type ComponentType, Suspense, useEffect } from 'react';
import type { SessionDetail } from '../api/types';
import { LostPage } from '../app/LostPage';
import { sessionLabel } from '../format/format';
import { contextSearch, sessionPath, useLocation } from '../state/router';
import { setTitle, useUrlKey } from '../state/url';
import { Link } from '../ui/Link';
import { Skeleton } from '../ui/states';
import { groupOf, moreGroup, resolveTool, shortTitle, toolsOf } from './catalog';
import type { ToolQuery } from './client';
import { AnswerFrame } from './AnswerFrame';
import { GenericBody } from './GenericBody';
import { OptionsBar } from './OptionsBar';
import { useOptions } from './options';
import { RowDrawer } from './RowDrawer';
import { useHostQuery, useToolAnswer, useToolSession } from './session';
import type { ToolAnswer, ToolInfo } from './types';
import './tools.css';

export interface ToolBodyProps {
  readonly sessionId: string;
  readonly tool: ToolInfo;
  readonly query: ToolQuery;
  readonly answer: ToolAnswer | null; // Null: on its way, or failed (the page says so above).
  readonly options: Readonly<Record<string, string>>;
}

interface Plugin {
  readonly body: LazyExoticComponent<ComponentType<ToolBodyProps>>;
  readonly ownOptions?: readonly string[]; // The body has controls for these.
  readonly asksItself?: boolean; // The body asks its own questions: no answer is loaded for it.
}

const plugins: Readonly<Record<string, Plugin>> = {
  op_profile: { body: lazy(() => import('../pages/opprofile/OpProfileBody')), ownOptions: ['group_by', 'op_profile_limit'] },
  hlo_stats: { body: lazy(() => import('../pages/hlostats/HloStatsBody')) },
  kernel_stats: { body: lazy(() => import('../pages/kernels/KernelsBody')) },
  roofline_model: { body: lazy(() => import('../pages/roofline/RooflineBody')) },
  input_pipeline_analyzer: { body: lazy(() => import('../pages/input/InputBody')) },
  memory_profile: { body: lazy(() => import('../pages/memoryprofile/MemoryProfileBody')) },
  memory_viewer: { body: lazy(() => import('../pages/memoryviewer/MemoryViewerBody')), ownOptions: ['module_name', 'program_id', 'memory_space', 'host'], asksItself: true },
  graph_viewer: { body: lazy(() => import('../pages/graph/GraphBody')), ownOptions: ['module_name', 'program_id', 'node_name', 'op_name', 'symbol_id', 'symbol_type', 'graph_width', 'type', 'format', 'show_metadata', 'merge_fusion', 'host'], asksItself: true },
};

export function ToolPage({ name, detail }: { name: string; detail: SessionDetail | null }) {
  const { sessionId, tools } = useToolSession();
  const tool = tools ? resolveTool(tools, name) : null;
  const title = tool?.title ?? name;
  useEffect(() => {
    setTitle(title, detail ? sessionLabel(detail.name) : sessionId, detail?.run);
  }, [title, detail, sessionId]);
  if (tools !== null && tool === null) {
    return (
      <LostPage title="There is no such tool" links={<Link to={sessionPath(sessionId, 'overview')} className="button primary">Overview of this session</Link>}>
        This version has no tool called <code>{name}</code>. The tools of a session are in the rail on the left.
      </LostPage>
    );
  }
  if (tool === null) return <Waiting />;
  return <KnownTool key={tool.id} tool={tool} />;
}

function Waiting() {
  return (
    <div className="page tool-page" id="page" tabIndex={-1}>
      <Skeleton width={220} height={20} />
      <Skeleton width="100%" height={300} />
    </div>
  );
}

function KnownTool({ tool }: { tool: ToolInfo }) {
  const { sessionId } = useToolSession();
  const options = useOptions(tool);
  const query = useHostQuery(tool, options);
  const plugin = plugins[tool.id];
  const answer = useToolAnswer(plugin?.asksItself ? null : tool.id, query);
  const op = useUrlKey('op');
  const row = useUrlKey('row');
  const drawer = op !== null || row !== null;
  const Body = plugin?.body;
  const props: ToolBodyProps = { sessionId, tool, query, answer: answer.value, options };
  return (
    <div className={drawer ? 'tool-layout with-drawer' : 'tool-layout'}>
      <div className="page tool-page" id="page" tabIndex={-1}>
        <ToolHead tool={tool} sessionId={sessionId} />
        <OptionsBar tool={tool} values={options} skip={plugin?.ownOptions} />
        <AnswerFrame tool={tool} answer={answer}>
          {Body ? (
            <Suspense fallback={<Skeleton width="100%" height={300} />}>
              <Body {...props} />
            </Suspense>
          ) : (
            answer.value && <GenericBody {...props} answer={answer.value} />
          )}
        </AnswerFrame>
      </div>
      {drawer && <RowDrawer tool={tool} query={query} answer={answer.value} />}
    </div>
  );
}

function ToolHead({ tool, sessionId }: { tool: ToolInfo; sessionId: string }) {
  const { tools } = useToolSession();
  const { search } = useLocation();
  const siblings = toolsOf(groupOf(tool.id) ?? moreGroup, tools ?? []);
  return (
    <header className="tool-head">
      <div className="tool-words">
        <h1>{tool.title}</h1>
        {tool.question && <p className="muted">{tool.question}</p>}
      </div>
      {siblings.length > 1 && (
        <nav className="tool-tabs" aria-label="Tools of this group">
          {siblings.map((one) => (
            <Link key={one.id} to={sessionPath(sessionId, one.id, contextSearch(search))} aria-current={one.id === tool.id ? 'page' : undefined} className={one.applies ? '' : 'without'} title={one.applies ? one.question : one.reason}>
              {shortTitle(one)}
            </Link>
          ))}
        </nav>
      )}
    </header>
  );
}
