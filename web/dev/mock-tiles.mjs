// Tiles of docs/formats/tiles.md from the mock's events.

const cells = 1024;
export const linesPerChunk = 64;

function rowsOf(line) {
  if (line.rows) return line.rows;
  const rows = [];
  for (let e = 0; e < line.count; e++) (rows[line.row[e]] ??= []).push(e);
  line.rows = Array.from(rows, (row) => row ?? []);
  return line.rows;
}

export function rowCount(line) {
  return rowsOf(line).length;
}

function firstTouching(line, row, fromPs) {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const e = row[middle];
    if (line.start[e] + line.duration[e] < fromPs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rectsOfRow(line, row, rowIndex, tile, out) {
  const { fromPs, toPs, cellPs } = tile;
  let i = firstTouching(line, row, fromPs);
  while (i < row.length && line.start[row[i]] < toPs) {
    const first = row[i];
    let longest = first;
    const start = line.start[first];
    let end = start + line.duration[first];
    if (end <= fromPs && line.duration[first] > 0) {
      i++;
      continue;
    }
    let busy = line.duration[first];
    let merged = 1;
    i++;
    if (line.duration[first] < cellPs) {
      const cell = Math.floor(start / cellPs);
      while (i < row.length) {
        const e = row[i];
        const eventEnd = line.start[e] + line.duration[e];
        if (line.duration[e] >= cellPs || Math.floor(line.start[e] / cellPs) !== cell || line.start[e] >= toPs) break;
        if (eventEnd > (cell + 1) * cellPs) break;
        if (line.duration[e] > line.duration[longest]) longest = e;
        busy += line.duration[e];
        end = eventEnd;
        merged++;
        i++;
      }
    }
    const span = end - start;
    out.push({
      row: rowIndex,
      start: Math.max(start, fromPs),
      end: Math.min(end, toPs),
      event: longest,
      fill: span > 0 ? Math.max(1, Math.min(255, Math.round((busy / span) * 255))) : 255,
      flags: (merged > 1 ? 1 : 0) | (start < fromPs ? 2 : 0) | (end > toPs ? 4 : 0),
      merged,
    });
  }
}

export function buildTile(profile, plane, chunk, level, index) {
  const span = 2 ** level;
  const unit = level > 31 ? 2 ** (level - 31) : 1;
  const tile = { fromPs: index * span, toPs: (index + 1) * span, cellPs: span / cells };
  const begin = chunk * linesPerChunk;
  const lines = plane.lines.slice(begin, begin + linesPerChunk);
  const nameOf = new Map();
  const names = [];
  const table = [];
  const rects = [];
  lines.forEach((line, i) => {
    const first = rects.length;
    rowsOf(line).forEach((row, r) => rectsOfRow(line, row, r, tile, rects));
    for (let k = first; k < rects.length; k++) {
      const n = line.nameIndex[rects[k].event];
      if (!nameOf.has(n)) {
        nameOf.set(n, names.length);
        names.push(n);
      }
      rects[k].name = nameOf.get(n);
    }
    table.push({ line: begin + i, rows: rowCount(line), first, total: rects.length - first });
  });
  return encode(profile, level, index, tile, unit, table, rects, names);
}

function encode(profile, level, index, tile, unit, table, rects, names) {
  const texts = names.map((n) => Buffer.from(profile.names.text[n].slice(0, 256)));
  const namesBytes = texts.reduce((sum, text) => sum + text.length, 0);
  const merged = rects.filter((rect) => rect.flags & 1);
  const rowsBytes = Math.ceil((rects.length * 2) / 4) * 4;
  const size = 32 + table.length * 16 + rects.length * 16 + rowsBytes + merged.length * 4 + names.length * 8 + namesBytes;
  const out = Buffer.alloc(Math.ceil(size / 4) * 4);
  out.write('STL1', 0, 'latin1');
  out.writeUInt8(1, 4);
  out.writeUInt8(level, 5);
  out.writeUInt16LE(table.length, 6);
  out.writeBigInt64LE(BigInt(index), 8);
  out.writeUInt32LE(rects.length, 16);
  out.writeUInt32LE(names.length, 20);
  out.writeUInt32LE(namesBytes, 24);
  out.writeUInt32LE(merged.length, 28);
  let at = 32;
  for (const entry of table) {
    out.writeUInt32LE(entry.line, at);
    out.writeUInt32LE(entry.rows, at + 4);
    out.writeUInt32LE(entry.first, at + 8);
    out.writeUInt32LE(entry.total, at + 12);
    at += 16;
  }
  for (const rect of rects) {
    out.writeUInt32LE(Math.floor((rect.start - tile.fromPs) / unit), at);
    out.writeUInt32LE(Math.ceil((rect.end - tile.fromPs) / unit), at + 4);
    out.writeUInt32LE(rect.event, at + 8);
    out.writeUInt16LE(rect.name, at + 12);
    out.writeUInt8(rect.fill, at + 14);
    out.writeUInt8(rect.flags, at + 15);
    at += 16;
  }
  rects.forEach((rect, i) => out.writeUInt16LE(rect.row, at + i * 2));
  at += rowsBytes;
  for (const rect of merged) {
    out.writeUInt32LE(rect.merged, at);
    at += 4;
  }
  let offset = 0;
  names.forEach((n, i) => {
    out.writeUInt32LE(offset, at);
    out.writeUInt16LE(texts[i].length, at + 4);
    out.writeUInt8(profile.names.category[n], at + 6);
    offset += texts[i].length;
    at += 8;
  });
  for (const text of texts) {
    text.copy(out, at);
    at += text.length;
  }
  return out;
}
