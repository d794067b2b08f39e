// For tests: lists of lines as the API gives them.

import type { HostInfo, LineInfo, PlaneInfo } from './model';

export function testLine(id: string, changes: Partial<LineInfo> = {}): LineInfo {
  return {
    id, name: `line ${id}`, display_name: `line ${id}`, thread_id: '1', kind: 'thread', derived: false, row_count: 1, event_count: 10, start_ps: 0,
    end_ps: 1000, chunk: Math.floor(Number(id.split('.')[2]) / 64), ...changes,
  };
}

export function testPlane(id: string, lineCount: number, changes: Partial<PlaneInfo> = {}, line: Partial<LineInfo> = {}): PlaneInfo {
  const lines = Array.from({ length: lineCount }, (_, i) => testLine(`${id}.${i}`, line));
  return { id, name: `/device:TPU:${id}`, kind: 'device', chunks: Math.ceil(lineCount / 64), event_count: lineCount * 10, lines, ...changes };
}

export function testHost(id: string, planes: PlaneInfo[]): HostInfo {
  return { id, host: `host${id}`, planes };
}
