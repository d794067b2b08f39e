// The memory profile of one allocator: its curve, its peak, and what was alive at a moment.
import { asNumber, asText, items, type Json, member, type Row, type ToolTable } from '../../tools/types';

export interface Snapshot {
  readonly timePs: number;
  readonly stack: number;
  readonly heap: number;
  readonly free: number;
  readonly fragmentation: number;
  readonly activity: Activity;
}

export interface Activity {
  readonly allocation: boolean;
  readonly requested: number;
  readonly bytes: number;
  readonly address: string;
  readonly op: string;
  readonly step: string;
  readonly region: string;
  readonly dataType: string;
  readonly shape: string;
}

export interface AllocatorProfile {
  readonly id: string;
  readonly capacity: number;
  readonly peak: { readonly timePs: number; readonly bytes: number; readonly stack: number; readonly heap: number; readonly free: number; readonly fragmentation: number };
  readonly lifetimePeak: number;
  readonly curve: readonly Snapshot[];
  readonly atPeak: readonly { activity: Activity; count: number }[];
}

function readActivity(value: Json): Activity {
  return {
    allocation: asText(member(value, 'memoryActivity')) === 'ALLOCATION',
    requested: asNumber(member(value, 'requestedBytes')) ?? 0,
    bytes: asNumber(member(value, 'allocationBytes')) ?? 0,
    address: asText(member(value, 'address')),
    op: asText(member(value, 'tfOpName')),
    step: asText(member(value, 'stepId')),
    region: asText(member(value, 'regionType')),
    dataType: asText(member(value, 'dataType')),
    shape: asText(member(value, 'tensorShape')),
  };
}

function readSnapshot(value: Json): Snapshot {
  const stats = member(value, 'aggregationStats');
  return {
    timePs: asNumber(member(value, 'timeOffsetPs')) ?? 0,
    stack: asNumber(member(stats, 'stackReservedBytes')) ?? 0,
    heap: asNumber(member(stats, 'heapAllocatedBytes')) ?? 0,
    free: asNumber(member(stats, 'freeMemoryBytes')) ?? 0,
    fragmentation: asNumber(member(stats, 'fragmentation')) ?? 0,
    activity: readActivity(member(value, 'activityMetadata')),
  };
}

export function readAllocators(document: Json): AllocatorProfile[] {
  const all = member(document, 'memoryProfilePerAllocator');
  if (all === null || typeof all !== 'object' || Array.isArray(all)) return [];
  return Object.entries(all as { readonly [key: string]: Json })
    .map(([id, value]): AllocatorProfile => {
      const summary = member(value, 'profileSummary');
      const peak = member(summary, 'peakStats');
      const snapshots = items(member(value, 'memoryProfileSnapshots')).map(readSnapshot);
      const specials = items(member(value, 'specialAllocations')).map(readActivity);
      const sampled = items(member(value, 'sampledTimelineSnapshots')).map(readSnapshot);
      const atPeak = items(member(value, 'activeAllocations')).flatMap((one) => {
        const at = asNumber(member(one, 'snapshotIndex')) ?? -1;
        const special = asNumber(member(one, 'specialIndex')) ?? -1;
        const activity = at >= 0 ? snapshots[at]?.activity : specials[special];
        return activity ? [{ activity, count: asNumber(member(one, 'numOccurrences')) ?? 1 }] : [];
      });
      return {
        id, capacity: asNumber(member(summary, 'memoryCapacity')) ?? 0, lifetimePeak: asNumber(member(summary, 'peakBytesUsageLifetime')) ?? 0,
        peak: {
          timePs: asNumber(member(summary, 'peakStatsTimePs')) ?? 0, bytes: asNumber(member(peak, 'peakBytesInUse')) ?? 0, stack: asNumber(member(peak, 'stackReservedBytes')) ?? 0,
          heap: asNumber(member(peak, 'heapAllocatedBytes')) ?? 0, free: asNumber(member(peak, 'freeMemoryBytes')) ?? 0, fragmentation: asNumber(member(peak, 'fragmentation')) ?? 0,
        },
        curve: (sampled.length > 0 ? sampled : snapshots).sort((a, b) => a.timePs - b.timePs),
        atPeak,
      };
    })
    .sort((a, b) => b.peak.bytes - a.peak.bytes || a.id.localeCompare(b.id, 'en', { numeric: true }));
}

// What was allocated up to this moment and not yet given back, as far as the curve's own samples tell.
export function liveAt(profile: AllocatorProfile, index: number): { activity: Activity; count: number }[] {
  const alive = new Map<string, Activity>();
  for (const one of profile.curve.slice(0, index + 1)) {
    if (one.activity.allocation) alive.set(one.activity.address, one.activity);
    else alive.delete(one.activity.address);
  }
  return [...alive.values()].map((activity) => ({ activity, count: 1 }));
}

export function buffersTable(title: string, buffers: readonly { activity: Activity; count: number }[]): ToolTable {
  const known = (text: string) => (text === '' || text === 'unknown' || text === 'INVALID' ? null : text);
  const rows: Row[] = buffers.map(({ activity, count }, index) => ({
    index, subject: null,
    cells: [known(activity.op), activity.bytes * count, activity.requested * count, count, known(activity.region), known(activity.dataType), known(activity.shape), activity.step === '0' ? null : known(activity.step), activity.address === '0' ? null : known(activity.address)],
  }));
  return {
    id: 'buffers', title, rows, totalRows: rows.length, properties: {},
    columns: [
      { id: 'op', label: 'Op', type: 'string', unit: '', description: 'Framework op that asked for the memory; a dash when the profile does not say.' },
      { id: 'bytes', label: 'Allocated', type: 'number', unit: 'bytes', description: 'What the allocator gave, all equal allocations together.' },
      { id: 'requested', label: 'Requested', type: 'number', unit: 'bytes', description: 'What was asked for.' },
      { id: 'allocations', label: 'Allocations', type: 'number', unit: 'count', description: 'Equal allocations in one row.' },
      { id: 'region', label: 'Region', type: 'string', unit: '', description: 'Kind of memory region.' },
      { id: 'dtype', label: 'Type', type: 'string', unit: '', description: 'Type of an element.' },
      { id: 'shape', label: 'Shape', type: 'string', unit: '', description: 'Shape of the tensor.' },
      { id: 'step', label: 'Step', type: 'string', unit: '', description: 'Step in which it was allocated.' },
      { id: 'address', label: 'Address', type: 'string', unit: '', description: 'Address on the device.' },
    ],
  };
}

export interface ModuleRun {
  readonly name: string;
  readonly startPs: number;
  readonly endPs: number;
  readonly device: string;
}

export function readModuleRuns(document: Json): ModuleRun[] {
  return items(member(document, 'hloModules')).map((one) => ({ name: asText(member(one, 'name')), startPs: asNumber(member(one, 'startTimePs')) ?? 0, endPs: asNumber(member(one, 'endTimePs')) ?? 0, device: asText(member(one, 'planeName')) }));
}
