// The op profile as a tree of plain numbers: time, share of peak FLOP rate and of memory bandwidth for every node, what is open,
// and in which order.
import { asNumber, asText, items, type Json, member } from '../../tools/types';

export interface ProfileNode {
  readonly path: string; // Positions from the root: "0.2.1"; "" is the root.
  readonly name: string;
  readonly depth: number;
  readonly timePs: number;
  readonly share: number; // Of the root's time.
  readonly flops: number | null; // Share of peak while it ran.
  readonly bandwidth: number | null; // Of HBM.
  readonly wastedPs: number; // Time that the better used of the two could have saved.
  readonly count: number;
  readonly meanPs: number | null;
  readonly flopCount: number;
  readonly byteCount: number;
  readonly category: string;
  readonly provenance: string;
  readonly expression: string;
  readonly source: string;
  readonly programId: string;
  readonly children: readonly ProfileNode[];
  readonly leftOut: number; // Children that the answer does not hold.
}

export const groupings = ['program', 'category', 'provenance'] as const;
export type Grouping = (typeof groupings)[number];

export function rootOf(document: Json, grouping: Grouping, idle: boolean): Json {
  const name = 'by' + grouping.charAt(0).toUpperCase() + grouping.slice(1);
  return member(document, idle ? name : name + 'ExcludeIdle') ?? member(document, name);
}

export function readProfile(root: Json): ProfileNode | null {
  if (root === null) return null;
  const rootTime = asNumber(member(member(root, 'metrics'), 'rawTime')) ?? 0;
  return readNode(root, '', 0, rootTime);
}

function readNode(node: Json, path: string, depth: number, rootTime: number): ProfileNode {
  const metrics = member(node, 'metrics');
  const xla = member(node, 'xla');
  const timePs = asNumber(member(metrics, 'rawTime')) ?? 0;
  const share = rootTime > 0 ? timePs / rootTime : 0;
  const weighted = asNumber(member(metrics, 'uncappedFlops')) ?? asNumber(member(metrics, 'flops'));
  // The answer weighs FLOP utilization by the node's share of time; here it is that of the node itself.
  const flops = weighted === null || share === 0 ? null : weighted / share;
  const bandwidth = asNumber(items(member(metrics, 'bandwidthUtils'))[0]);
  const count = asNumber(member(metrics, 'occurrences')) ?? 0;
  const mean = asNumber(member(metrics, 'avgTimePs'));
  const best = Math.min(1, Math.max(flops ?? 0, bandwidth ?? 0));
  const source = member(xla, 'sourceInfo');
  const file = asText(member(source, 'fileName'));
  const line = asNumber(member(source, 'lineNumber'));
  const children = items(member(node, 'children')).map((child, i) => readNode(child, path === '' ? String(i) : `${path}.${i}`, depth + 1, rootTime));
  return {
    path, depth, name: asText(member(node, 'name')), timePs, share, flops, bandwidth, wastedPs: timePs * (1 - best), count,
    meanPs: mean !== null && mean > 0 ? mean : count > 0 ? timePs / count : null,
    flopCount: asNumber(member(metrics, 'rawFlops')) ?? 0,
    byteCount: asNumber(items(member(metrics, 'rawBytesAccessedArray'))[0]) ?? 0,
    category: asText(member(xla, 'category')) || asText(member(member(node, 'category'), 'name')),
    provenance: asText(member(xla, 'provenance')), expression: asText(member(xla, 'expression')),
    source: file ? (line !== null && line > 0 ? `${file}:${line}` : file) : '',
    programId: idText(member(xla, 'programId')), children,
    leftOut: Math.max(0, (asNumber(member(node, 'numChildren')) ?? children.length) - children.length),
  };
}

function idText(value: Json): string {
  const text = asText(value);
  return text === '0' ? '' : text;
}

export type ProfileSort = 'time' | 'wasted';

const byTime = (a: ProfileNode, b: ProfileNode) => b.timePs - a.timePs;
const byWaste = (a: ProfileNode, b: ProfileNode) => b.wastedPs - a.wastedPs;

// The rows in sight: children of open nodes, in order; with a text, the nodes that match and the way to them.
export function visibleRows(root: ProfileNode, open: ReadonlySet<string>, sort: ProfileSort, text: string): ProfileNode[] {
  const rows: ProfileNode[] = [];
  const wanted = text.trim().toLowerCase();
  const matches = (node: ProfileNode): boolean => [node.name, node.category, node.provenance, node.source].some((field) => field.toLowerCase().includes(wanted));
  const order = sort === 'wasted' ? byWaste : byTime;
  const walk = (node: ProfileNode) => {
    for (const child of [...node.children].sort(order)) {
      if (wanted === '') {
        rows.push(child);
        if (open.has(child.path)) walk(child);
        continue;
      }
      const at = rows.length;
      rows.push(child);
      const own = matches(child);
      walk(child);
      if (!own && rows.length === at + 1) rows.pop();
    }
  };
  walk(root);
  return rows;
}

// The first sight: the heaviest chain is open as far as it is clear where the time goes.
export function firstOpen(root: ProfileNode): string[] {
  const open: string[] = [];
  let node: ProfileNode | undefined = [...root.children].sort(byTime)[0];
  while (node && node.children.length > 0 && open.length < 2) {
    open.push(node.path);
    node = [...node.children].sort(byTime)[0];
  }
  return open;
}

export function findNode(root: ProfileNode, path: string): ProfileNode | null {
  let node: ProfileNode | undefined = root;
  for (const step of path.split('.').filter(Boolean)) node = node?.children[Number(step)];
  return node ?? null;
}

// A leaf's name may be "fusion.3 and its duplicate(s)".
export function isOp(node: ProfileNode): boolean {
  return node.expression !== '' || (node.children.length === 0 && node.programId !== '');
}

// Two trees aligned by the names on the way, program ids left out: what the baseline has at the same place.
export function alignProfiles(root: ProfileNode, baseline: ProfileNode): Map<string, ProfileNode> {
  const pairs = new Map<string, ProfileNode>();
  const walk = (here: ProfileNode, there: ProfileNode) => {
    pairs.set(here.path, there);
    const byName = new Map<string, ProfileNode[]>();
    for (const child of there.children) byName.set(plainName(child.name), [...(byName.get(plainName(child.name)) ?? []), child]);
    for (const child of here.children) {
      const twin = byName.get(plainName(child.name))?.shift();
      if (twin) walk(child, twin);
    }
  };
  walk(root, baseline);
  return pairs;
}

export function plainName(name: string): string {
  return name.replace(/\(\d+\)$/, '');
}
