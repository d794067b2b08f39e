// What a reader should know first, made from the answers of several tools, each with the page that proves it. Nothing is said that an
// answer does not hold: what is not known is left out here and stands as a dash with its reason among the figures.
import type { Overview } from '../api/types';
import { formatBytes, formatCount, formatShare, plural } from '../format/format';
import { plainWords } from '../tools/Notices';
import { shareOf } from '../tools/OpSections';
import { textOf, type ToolAnswer, type ToolTable } from '../tools/types';
import { formatFilters } from '../tools/rows';
import type { AllocatorProfile } from '../pages/memoryprofile/profile';
import type { ProfileNode } from '../pages/opprofile/tree';

export interface Finding {
  readonly level: 'bad' | 'note';
  readonly title: string;
  readonly detail: string;
  readonly page: string; // Where it is proved: the last piece of the address.
  readonly search: string;
  readonly link: string; // Words of the link.
}

export interface Known {
  readonly overview: Overview | null;
  readonly page: ToolAnswer | null; // overview_page
  readonly profile: ProfileNode | null; // op_profile without idle
  readonly ops: ToolTable | null; // hlo_stats
  readonly memory: AllocatorProfile | null;
  readonly beyondXprof: string | null; // why our flop rate is not XProf's
}

// In the words of our own answers, and in XProf's.
export function saysInputBound(statement: string): boolean {
  return /^Input (limits|slows) the steps/.test(statement) || (/input-bound/i.test(statement) && !/NOT input-bound/i.test(statement));
}

// "2.80 %" of the tool's sentence about costs that XProf leaves out.
export function xprofsFigure(sentence: string | null): string | null {
  return /XProf shows ([\d.]+ %)/.exec(sentence ?? '')?.[1] ?? null;
}

const heavyShare = 0.4; // A category above it is what the job does.
const idleShare = 0.25;
const fullShare = 0.9;

export interface CategoryShare {
  readonly category: string;
  readonly share: number;
  readonly ops: number;
}

export function categoryShares(ops: ToolTable): CategoryShare[] {
  const found = new Map<string, CategoryShare>();
  let total = 0;
  for (const row of ops.rows) {
    const category = textOf(ops, row, 'category');
    if (category === 'IDLE' || category === 'idle') continue;
    const share = shareOf(ops, row, 'total_self_time_percent') ?? 0;
    total += share;
    const old = found.get(category);
    found.set(category, { category, share: (old?.share ?? 0) + share, ops: (old?.ops ?? 0) + 1 });
  }
  return [...found.values()].map((one) => ({ ...one, share: total > 0 ? one.share / total : 0 })).sort((a, b) => b.share - a.share);
}

export function tableWithProperty(answer: ToolAnswer | null, property: string): ToolTable | null {
  return answer?.tables.find((table) => table.properties[property] !== undefined) ?? null;
}

export function statementOf(page: ToolAnswer | null): string {
  const table = tableWithProperty(page, 'statement');
  const steps = tableWithProperty(page, 'input_conclusion');
  return plainWords(table?.properties.statement || steps?.properties.input_conclusion || '');
}

const waits: readonly (readonly [RegExp, string])[] = [
  [/^copy-?(done|start)$/i, 'Waiting for copies to and from the host'],
  [/all-?reduce|all-?gather|reduce-?scatter|all-?to-?all|collective/i, 'Collective communication'],
  [/infeed|outfeed/i, 'Waiting for infeed or outfeed'],
];

export function findingsOf(known: Known): Finding[] {
  const found: Finding[] = [];
  const { overview, page, profile, ops, memory } = known;
  const statement = statementOf(page);
  if (saysInputBound(statement)) found.push({ level: 'bad', title: 'Input', detail: statement, page: 'input_pipeline_analyzer', search: '', link: 'Input' });
  const top = ops ? categoryShares(ops)[0] : undefined;
  if (top && top.share >= heavyShare) {
    const wait = waits.find(([pattern]) => pattern.test(top.category));
    found.push({
      level: wait ? 'bad' : 'note', title: wait ? wait[1] : `Mostly ${top.category || 'ops without a category'}`,
      detail: `${formatShare(top.share)} of device op time goes to ${plural(top.ops, 'op')} of category ${top.category || '(none)'}.`,
      page: 'hlo_stats', search: `f=${encodeURIComponent(formatFilters([{ column: 'category', operator: '=', value: top.category }]) ?? '')}`, link: top.ops === 1 ? 'The op' : 'These ops',
    });
  }
  const devices = overview?.devices ?? [];
  const ran = devices.filter((device) => (device.busy_ps ?? 0) > 0);
  if (devices.length > 1 && ran.length < devices.length && ran.length > 0) {
    found.push({ level: 'bad', title: 'Devices without work', detail: `${formatCount(ran.length)} of ${plural(devices.length, 'device')} ran anything in the window.`, page: 'timeline', search: '', link: 'Timeline' });
  }
  const busy = ran.map((device) => device.busy_share).filter((share): share is number => share !== null);
  const mean = busy.length > 0 ? busy.reduce((a, b) => a + b, 0) / busy.length : null;
  if (mean !== null && mean < 1 - idleShare) {
    found.push({ level: 'bad', title: 'Idle devices', detail: `Devices that worked were idle ${formatShare(1 - mean)} of the window.`, page: 'timeline', search: '', link: 'Timeline' });
  }
  if (memory && memory.capacity > 0 && memory.peak.bytes / memory.capacity >= fullShare) {
    found.push({ level: 'bad', title: 'Memory almost full', detail: `The peak is ${formatBytes(memory.peak.bytes)} of ${formatBytes(memory.capacity)}.`, page: 'memory_profile', search: '', link: 'Memory' });
  }
  if (profile && profile.flops !== null && profile.bandwidth !== null && profile.flopCount > 0 && profile.byteCount > 0) {
    const memoryBound = profile.bandwidth > profile.flops;
    found.push({
      level: 'note', title: memoryBound ? 'Closer to the memory roof' : 'Closer to the FLOP roof',
      detail: `While busy the device reaches ${formatShare(profile.flops)} of its peak FLOP rate and ${formatShare(profile.bandwidth)} of its peak memory bandwidth.`,
      page: 'roofline_model', search: '', link: 'Roofline',
    });
  }
  return found;
}
