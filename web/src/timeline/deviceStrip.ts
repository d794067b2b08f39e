// A folded device or host as one strip: how busy it was, least, mean and most of what each few pixels stand for.
//
//   const busy = strip.measure(members, segmentsOf, view, widthPx);     // null while nothing of it is loaded
//   busy.mean[i] ...                                                   // of bucket i, BUCKET_PX wide; NaN: not loaded
//
// A device is its measured line of ops, or the busiest of its streams at every pixel. A host is all its devices: then least
// and most are taken over devices and pixels, so that one idle device among many is seen.
// Cost: one walk over the top row of each member; at most MAX_STRIP_MEMBERS of them.

import type { Segment } from './cover';
import { lineIndexOf, type HostInfo, type LineInfo, type PlaneInfo } from './model';
import { RowWalker } from './rowWalk';
import type { View } from './view';

/** Narrower buckets would show single pixels, whose least and most are the same. */
export const BUCKET_PX = 4;
/** Lines that one strip may be made of. No host has more devices than this. */
export const MAX_STRIP_MEMBERS = 64;
/** Of a device by itself, and of each among many, so many streams: the ones with most events say when it was busy. */
const MAX_STREAMS = 16;
const MAX_STREAMS_AMONG_MANY = 4;
/** From so many events a pixel on, single bars say nothing and the strip says more. */
const EVENTS_PER_PX = 0.25;

/** One line that a strip is made of. Members of one device share `group`: at a pixel the busiest of them counts. */
export interface StripMember {
  readonly group: string;
  readonly chunk: string;
  readonly lineIndex: number;
  readonly line: LineInfo;
}

function measured(plane: PlaneInfo): readonly LineInfo[] {
  for (const kind of ['ops', 'stream'] as const) {
    const lines = plane.lines.filter((line) => line.kind === kind && !line.derived && line.event_count !== 0);
    if (lines.length > 0) return kind === 'ops' ? lines.slice(0, 1) : [...lines].sort((a, b) => (b.event_count ?? 0) - (a.event_count ?? 0));
  }
  return [];
}

function memberOf(plane: PlaneInfo, line: LineInfo): StripMember {
  return { group: plane.id, chunk: `${plane.id}.${line.chunk}`, lineIndex: lineIndexOf(line.id), line };
}

export function planeMembers(plane: PlaneInfo, stand: LineInfo | null, most = MAX_STREAMS): readonly StripMember[] {
  const lines = measured(plane);
  if (lines.length > 0) return lines.slice(0, most).map((line) => memberOf(plane, line));
  return stand === null || stand.event_count === 0 ? [] : [memberOf(plane, stand)];
}

/** The devices of a host; of a host without any its busiest thread. */
export function hostMembers(host: HostInfo, standOf: (plane: PlaneInfo) => LineInfo | null): readonly StripMember[] {
  const devices = host.planes.filter((plane) => plane.kind === 'device' && plane.event_count !== 0);
  const planes = devices.length > 0 ? devices : host.planes.filter((plane) => plane.kind === 'host' && plane.event_count !== 0).slice(0, 1);
  return planes.flatMap((plane) => planeMembers(plane, standOf(plane), planes.length > 1 ? MAX_STREAMS_AMONG_MANY : MAX_STREAMS)).slice(0, MAX_STRIP_MEMBERS);
}

/** True when a view of the members holds so many events that bars would be dust. */
export function isDense(members: readonly StripMember[], view: View, widthPx: number): boolean {
  let expected = 0;
  for (const { line } of members) {
    const length = (line.end_ps ?? 0) - (line.start_ps ?? 0);
    if (length > 0) expected = Math.max(expected, ((line.event_count ?? 0) * view.durationPs) / length);
  }
  return expected > widthPx * EVENTS_PER_PX;
}

export interface Busy {
  readonly buckets: number;
  readonly min: Float32Array; // 0..1, NaN where not loaded
  readonly mean: Float32Array;
  readonly max: Float32Array;
  /** Of the devices' means over the view: least, mean, most. NaN: nothing loaded. */
  readonly least: number;
  readonly all: number;
  readonly most: number;
  readonly devices: number;
}

export class DeviceStrip {
  private readonly walker = new RowWalker();
  private columns = new Float32Array(0);
  private line = new Float32Array(0);

  measure(members: readonly StripMember[], segmentsOf: (chunk: string) => readonly Segment[], view: View, widthPx: number, cutTo: { from: number; to: number }): Busy | null {
    const width = Math.max(1, Math.round(widthPx));
    if (this.columns.length !== width) {
      this.columns = new Float32Array(width);
      this.line = new Float32Array(width);
    }
    const sums = new BucketSums(Math.ceil(width / BUCKET_PX));
    for (let at = 0; at < members.length; ) {
      const { group } = members[at]!;
      this.columns.fill(NaN);
      for (; at < members.length && members[at]!.group === group; ++at) this.addLine(members[at]!, segmentsOf, view, width);
      sums.add(this.columns, Math.max(0, Math.floor(cutTo.from)), Math.min(width, Math.ceil(cutTo.to)));
    }
    return sums.result();
  }

  /** One line's busy share of each pixel, the greater of it and what was there. */
  private addLine(member: StripMember, segmentsOf: (chunk: string) => readonly Segment[], view: View, width: number): void {
    const segments = segmentsOf(member.chunk);
    const slots = segments.map((segment) => segment.tile?.slotOfLine(member.lineIndex) ?? -1);
    const { line, columns } = this;
    line.fill(NaN);
    const scale = width / view.durationPs;
    segments.forEach((segment, i) => {
      if (slots[i]! < 0) return;
      const from = Math.max(0, Math.floor((segment.startPs - view.startPs) * scale));
      const to = Math.min(width, Math.ceil((segment.endPs - view.startPs) * scale));
      if (to > from) line.fill(0, from, to);
    });
    this.walker.begin(view, width, (bar) => addBar(line, bar), false);
    this.walker.walk(segments, slots, 0);
    for (let x = 0; x < width; ++x) {
      const value = line[x]!;
      if (value > columns[x]! || Number.isNaN(columns[x]!)) columns[x] = value;
    }
  }
}

function addBar(line: Float32Array, bar: RowWalker): void {
  const from = Math.max(0, Math.floor(bar.x0));
  const to = Math.min(line.length, Math.ceil(bar.x1));
  // Not the bar's share, which is cut at one.
  const density = bar.covered / Math.max(1e-9, bar.x1 - bar.x0);
  let over = 0;
  for (let x = from; x < to || (over > 0 && x < line.length); ++x) {
    const part = x < to ? Math.min(bar.x1, x + 1) - Math.max(bar.x0, x) : 0;
    // A pixel with an event in it is loaded, whatever the segments' rounded edges say.
    const value = (Number.isNaN(line[x]!) ? 0 : line[x]!) + part * density + over;
    line[x] = Math.min(1, value);
    // Thin events are gathered at the pixel in which the first begins; what does not fit there lies to its right.
    over = value - line[x]! > 1e-6 ? value - line[x]! : 0;
  }
}

class BucketSums {
  private readonly min: Float32Array;
  private readonly max: Float32Array;
  private readonly sum: Float32Array;
  private readonly count: Float32Array;
  private least = NaN;
  private most = NaN;
  private total = 0;
  private pixels = 0;
  private devices = 0;

  constructor(private readonly buckets: number) {
    this.min = new Float32Array(buckets).fill(NaN);
    this.max = new Float32Array(buckets).fill(NaN);
    this.sum = new Float32Array(buckets);
    this.count = new Float32Array(buckets);
  }

  add(columns: Float32Array, from: number, to: number): void {
    let sum = 0;
    let seen = 0;
    for (let x = from; x < to; ++x) {
      const value = columns[x]!;
      if (Number.isNaN(value)) continue;
      const i = Math.floor(x / BUCKET_PX);
      if (!(this.min[i]! <= value)) this.min[i] = value;
      if (!(this.max[i]! >= value)) this.max[i] = value;
      this.sum[i]! += value;
      ++this.count[i]!;
      sum += value;
      ++seen;
    }
    if (seen === 0) return;
    const mean = sum / seen;
    if (!(this.least <= mean)) this.least = mean;
    if (!(this.most >= mean)) this.most = mean;
    this.total += sum;
    this.pixels += seen;
    ++this.devices;
  }

  result(): Busy | null {
    if (this.devices === 0) return null;
    const mean = this.sum.map((sum, i) => (this.count[i]! > 0 ? sum / this.count[i]! : NaN));
    return { buckets: this.buckets, min: this.min, mean, max: this.max, least: this.least, all: this.total / this.pixels, most: this.most, devices: this.devices };
  }
}
