// Ids of the timeline: host "h", plane "h.p", line "h.p.l", event "h.p.l.e". The answers themselves are api/types.

export type {
  AreaGaps, AreaTotals, CounterInfo, CounterSeries, EventDetail, EventNeighbours, EventStat, Flow, FlowEnd, RulerMarks, SearchHit, SearchResult as SearchAnswer, TimelineHost as HostInfo,
  TimelineLine as LineInfo, TimelineLines as LinesAnswer, TimelinePlane as PlaneInfo,
} from '../api/types';

/** "0.1.2.55" -> line "0.1.2" and event 55; null when it is no event id. */
export function splitEventId(id: string): { line: string; event: number } | null {
  const match = /^(\d+\.\d+\.\d+)\.(\d+)$/.exec(id);
  return match === null ? null : { line: match[1]!, event: Number(match[2]) };
}

/** The index of a line within its plane, as tiles name it. */
export function lineIndexOf(lineId: string): number {
  return Number(lineId.slice(lineId.lastIndexOf('.') + 1));
}

export function planeOf(lineId: string): string {
  return lineId.slice(0, lineId.lastIndexOf('.'));
}
