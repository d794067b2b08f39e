// For tests: tiles built from events straight from docs/formats/tiles.md, and a small seeded random source.

import { CELLS_PER_TILE, FLAG_BEGINS_BEFORE, FLAG_ENDS_AFTER, FLAG_MERGED, decodeTile, type Tile } from './tile';

export interface TestEvent {
  readonly startPs: number;
  readonly durationPs: number;
  readonly name?: string;
  readonly category?: number;
}

/** lines[line][row] = events in order. Event ids count through the rows of a line. */
export type TestLines = readonly (readonly (readonly TestEvent[])[])[];

interface Rect {
  start: number;
  end: number;
  event: number;
  longestPs: number;
  name: number;
  busyPs: number;
  count: number;
  flags: number;
  row: number;
}

export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function encodeTile(lines: TestLines, level: number, index: number): ArrayBuffer {
  const names: { text: string; category: number }[] = [];
  const perLine = lines.map((rows) => {
    let firstEvent = 0;
    return rows.flatMap((events, row) => {
      const rects = rectsOfRow(events, firstEvent, row, level, index, names);
      firstEvent += events.length;
      return rects;
    });
  });
  return write(perLine, lines, level, index, names);
}

export function makeTile(lines: TestLines, level: number, index: number): Tile {
  return decodeTile(encodeTile(lines, level, index));
}

function rectsOfRow(
  events: readonly TestEvent[], firstEvent: number, row: number, level: number, index: number, names: { text: string; category: number }[],
): Rect[] {
  const span = 2 ** level;
  const from = index * span;
  const to = from + span;
  const cell = span / CELLS_PER_TILE;
  const rects: Rect[] = [];
  let last: Rect | null = null;
  events.forEach((event, i) => {
    const end = event.startPs + event.durationPs;
    const touches = event.startPs < to && (end > from || (end === from && event.durationPs === 0));
    if (!touches) return;
    const short = event.durationPs < cell;
    const sameCell = last !== null && Math.floor(last.start / cell) === Math.floor(event.startPs / cell) && Math.ceil(end / cell) <= Math.floor(event.startPs / cell) + 1;
    if (short && last !== null && last.longestPs < cell && sameCell) {
      last.end = end;
      last.busyPs += event.durationPs;
      last.count += 1;
      last.flags |= FLAG_MERGED;
      if (event.durationPs > last.longestPs) {
        last.event = firstEvent + i;
        last.longestPs = event.durationPs;
        last.name = nameOf(event, names);
      }
      return;
    }
    last = {
      start: event.startPs, end, event: firstEvent + i, longestPs: event.durationPs, name: nameOf(event, names), busyPs: event.durationPs, count: 1,
      flags: (event.startPs < from ? FLAG_BEGINS_BEFORE : 0) | (end > to ? FLAG_ENDS_AFTER : 0), row,
    };
    rects.push(last);
  });
  return rects;
}

function nameOf(event: TestEvent, names: { text: string; category: number }[]): number {
  const text = event.name ?? 'op';
  const known = names.findIndex((name) => name.text === text);
  if (known >= 0) return known;
  names.push({ text, category: event.category ?? 0 });
  return names.length - 1;
}

function write(perLine: readonly Rect[][], lines: TestLines, level: number, index: number, names: readonly { text: string; category: number }[]): ArrayBuffer {
  const rects = perLine.flat();
  const merged = rects.filter((rect) => (rect.flags & FLAG_MERGED) !== 0);
  const texts = names.map((name) => new TextEncoder().encode(name.text));
  const textBytes = texts.reduce((sum, text) => sum + text.length, 0);
  const rowsBytes = (rects.length * 2 + 3) & ~3;
  const size = 32 + lines.length * 16 + rects.length * 16 + rowsBytes + merged.length * 4 + names.length * 8 + textBytes;
  const buffer = new ArrayBuffer(size);
  const out = new DataView(buffer);
  [0x53, 0x54, 0x4c, 0x31].forEach((byte, i) => out.setUint8(i, byte));
  out.setUint8(4, 1);
  out.setUint8(5, level);
  out.setUint16(6, lines.length, true);
  out.setBigInt64(8, BigInt(index), true);
  out.setUint32(16, rects.length, true);
  out.setUint32(20, names.length, true);
  out.setUint32(24, textBytes, true);
  out.setUint32(28, merged.length, true);
  let at = 32;
  let first = 0;
  perLine.forEach((list, line) => {
    [line, lines[line]!.length, first, list.length].forEach((value, i) => out.setUint32(at + i * 4, value, true));
    first += list.length;
    at += 16;
  });
  const from = index * 2 ** level;
  const unit = level > 31 ? 2 ** (level - 31) : 1;
  const span = 2 ** level;
  for (const rect of rects) {
    const start = Math.max(0, rect.start - from);
    const end = Math.min(span, rect.end - from);
    out.setUint32(at, Math.floor(start / unit), true);
    out.setUint32(at + 4, Math.ceil(end / unit), true);
    out.setUint32(at + 8, rect.event, true);
    out.setUint16(at + 12, rect.name, true);
    const extent = rect.end - rect.start;
    out.setUint8(at + 14, extent === 0 ? 255 : Math.min(255, Math.round((rect.busyPs / extent) * 255)));
    out.setUint8(at + 15, rect.flags);
    at += 16;
  }
  rects.forEach((rect, i) => out.setUint16(at + i * 2, rect.row, true));
  at += rowsBytes;
  for (const rect of merged) {
    out.setUint32(at, rect.count, true);
    at += 4;
  }
  let offset = 0;
  names.forEach((name, i) => {
    out.setUint32(at, offset, true);
    out.setUint16(at + 4, texts[i]!.length, true);
    out.setUint8(at + 6, name.category);
    offset += texts[i]!.length;
    at += 8;
  });
  for (const text of texts) {
    new Uint8Array(buffer, at, text.length).set(text);
    at += text.length;
  }
  return buffer;
}
