// Which tools stand together in the rail. A tool that no group names goes under "More", so a new tool has its place at once.
import type { KeyId } from '../keys/table';
import type { IconName } from '../ui/Icon';
import type { ToolInfo } from './types';

export interface ToolGroup {
  readonly id: string; // Also an address: /s/<id>/ops is the first tool of the group that applies.
  readonly name: string;
  readonly icon: IconName;
  readonly key: KeyId;
  readonly tools: readonly string[];
}

export const toolGroups: readonly ToolGroup[] = [
  { id: 'ops', name: 'Ops', icon: 'ops', key: 'go.ops', tools: ['op_profile', 'hlo_stats', 'framework_op_stats', 'kernel_stats'] },
  { id: 'memory', name: 'Memory', icon: 'memory', key: 'go.memory', tools: ['memory_profile', 'memory_viewer'] },
  { id: 'comms', name: 'Comms', icon: 'comms', key: 'go.comms', tools: ['pod_viewer', 'megascale_stats'] },
  { id: 'input', name: 'Input', icon: 'input', key: 'go.input', tools: ['input_pipeline_analyzer'] },
  { id: 'roofline', name: 'Roofline', icon: 'roofline', key: 'go.roofline', tools: ['roofline_model'] },
  { id: 'graph', name: 'Graph', icon: 'graph', key: 'go.graph', tools: ['graph_viewer', 'hlo_graph'] },
  { id: 'counters', name: 'Counters', icon: 'counters', key: 'go.counters', tools: ['perf_counters', 'utilization_viewer', 'kernel_utilization'] },
  { id: 'report', name: 'Advice', icon: 'report', key: 'go.report', tools: ['smart_suggestion'] },
];

// These have pages of their own outside the registry's.
const elsewhere = new Set(['overview_page', 'trace_viewer', 'trace_viewer@']);
export const moreGroup: ToolGroup = { id: 'more', name: 'More', icon: 'query', key: 'go.more', tools: [] };

const named = new Set(toolGroups.flatMap((group) => group.tools));

export function toolsOf(group: ToolGroup, tools: readonly ToolInfo[]): ToolInfo[] {
  if (group.id === moreGroup.id) return tools.filter((tool) => tool.listed && !named.has(tool.id) && !elsewhere.has(tool.id));
  return group.tools.flatMap((id) => tools.filter((tool) => tool.id === id));
}

export function groupOf(tool: string): ToolGroup | null {
  return toolGroups.find((group) => group.id === tool || group.tools.includes(tool)) ?? null;
}

export function findTool(tools: readonly ToolInfo[], name: string): ToolInfo | null {
  return tools.find((tool) => tool.id === name) ?? tools.find((tool) => tool.aliases.includes(name)) ?? null;
}

// What an address names: a tool by id or alias, or the first one of a group that has something to say.
export function resolveTool(tools: readonly ToolInfo[], name: string): ToolInfo | null {
  const group = name === moreGroup.id ? moreGroup : toolGroups.find((one) => one.id === name);
  if (group) {
    const all = toolsOf(group, tools);
    return all.find((tool) => tool.applies) ?? all[0] ?? null;
  }
  return findTool(tools, name);
}

const shortTitles: Readonly<Record<string, string>> = {
  op_profile: 'Profile tree',
  hlo_stats: 'HLO ops',
  framework_op_stats: 'Framework ops',
  kernel_stats: 'Kernels',
  memory_profile: 'Over time',
  memory_viewer: 'By program',
  pod_viewer: 'Topology',
  megascale_stats: 'Between slices',
  perf_counters: 'Raw counters',
  utilization_viewer: 'Units',
  kernel_utilization: 'Kernels',
  graph_viewer: 'Picture and text',
  hlo_graph: 'As data',
};

export function shortTitle(tool: ToolInfo): string {
  return shortTitles[tool.id] ?? tool.title;
}
