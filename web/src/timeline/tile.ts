// Decoder of timeline tiles, docs/formats/tiles.md. No copy: typed arrays look into the answer's own bytes.
//
//   const tile = decodeTile(buffer);                       // throws TileFormatError with what is wrong
//   const slot = tile.slotOfLine(2);                       // -1 when the line is not in the chunk
//   for (let i = tile.rowBegin(slot, 0); i < tile.rowEnd(slot, 0); ++i) tile.startUnits(i) ...
//
// Cost: one pass over the rows (u16 each) to find where each row begins; names become strings when asked for.

export class TileFormatError extends Error {
  constructor(message: string) {
    super(`The timeline tile cannot be read: ${message}`);
    this.name = 'TileFormatError';
  }
}

export const TILE_HEADER_BYTES = 32;
export const TILE_VERSION = 1;
export const CELLS_PER_TILE = 1024;
/** Levels the server knows: below 10 a cell would be less than a picosecond. */
export const MIN_LEVEL = 10;
export const MAX_LEVEL = 62;
export const MAX_LINES_PER_CHUNK = 64;

export const FLAG_MERGED = 1;
export const FLAG_BEGINS_BEFORE = 2;
export const FLAG_ENDS_AFTER = 4;

const LINE_WORDS = 4;
export const RECT_WORDS = 4;
/** Refuses an answer that claims more: 64 lines of 500 full rows would be 65 M; no browser could hold it. */
const MAX_RECTS = 8_000_000;

const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

export class Tile {
  private readonly nameCache: (string | undefined)[];
  private mergedRank: Uint32Array | null = null;

  constructor(
    readonly level: number,
    readonly index: number,
    readonly lineCount: number,
    readonly rectCount: number,
    readonly nameCount: number,
    readonly byteLength: number,
    /** start, end, event, name | fill << 16 | flags << 24, for each rectangle. */
    readonly rects: Uint32Array,
    private readonly lines: Uint32Array,
    private readonly rowStarts: readonly Uint32Array[],
    private readonly merged: Uint32Array,
    private readonly nameTable: DataView,
    private readonly text: Uint8Array,
  ) {
    this.nameCache = new Array<string | undefined>(nameCount);
  }

  /** Picoseconds of session time at the tile's left edge; exact, a multiple of a power of two. */
  get startPs(): number {
    return this.index * this.spanPs;
  }
  get spanPs(): number {
    return 2 ** this.level;
  }
  get psPerUnit(): number {
    return this.level > 31 ? 2 ** (this.level - 31) : 1;
  }

  lineIndex(slot: number): number {
    return this.lines[slot * LINE_WORDS]!;
  }
  rowCount(slot: number): number {
    return this.lines[slot * LINE_WORDS + 1]!;
  }
  slotOfLine(line: number): number {
    for (let slot = 0; slot < this.lineCount; ++slot) if (this.lines[slot * LINE_WORDS] === line) return slot;
    return -1;
  }

  /** Rectangles of a row are [rowBegin, rowEnd), sorted by start, never overlapping. */
  rowBegin(slot: number, row: number): number {
    const starts = this.rowStarts[slot]!;
    return starts[Math.min(row, starts.length - 1)]!;
  }
  rowEnd(slot: number, row: number): number {
    const starts = this.rowStarts[slot]!;
    return starts[Math.min(row + 1, starts.length - 1)]!;
  }

  startUnits(rect: number): number {
    return this.rects[rect * RECT_WORDS]!;
  }
  endUnits(rect: number): number {
    return this.rects[rect * RECT_WORDS + 1]!;
  }
  event(rect: number): number {
    return this.rects[rect * RECT_WORDS + 2]!;
  }
  nameIndex(rect: number): number {
    return this.rects[rect * RECT_WORDS + 3]! & 0xffff;
  }
  fill(rect: number): number {
    return (this.rects[rect * RECT_WORDS + 3]! >>> 16) & 0xff;
  }
  flags(rect: number): number {
    return this.rects[rect * RECT_WORDS + 3]! >>> 24;
  }
  startOf(rect: number): number {
    return this.startPs + this.startUnits(rect) * this.psPerUnit;
  }
  endOf(rect: number): number {
    return this.startPs + this.endUnits(rect) * this.psPerUnit;
  }

  /** How many events a rectangle stands for. */
  eventCount(rect: number): number {
    if ((this.flags(rect) & FLAG_MERGED) === 0) return 1;
    this.mergedRank ??= this.rankMerged();
    return this.merged[this.mergedRank[rect]!]!;
  }

  private rankMerged(): Uint32Array {
    const ranks = new Uint32Array(this.rectCount);
    let seen = 0;
    for (let i = 0; i < this.rectCount; ++i) {
      ranks[i] = seen;
      if ((this.flags(i) & FLAG_MERGED) !== 0) ++seen;
    }
    return ranks;
  }

  name(nameIndex: number): string {
    if (nameIndex >= this.nameCount) return '';
    const known = this.nameCache[nameIndex];
    if (known !== undefined) return known;
    const offset = this.nameTable.getUint32(nameIndex * 8, true);
    const length = this.nameTable.getUint16(nameIndex * 8 + 4, true);
    const name = decodeUtf8(this.text.subarray(offset, offset + length));
    this.nameCache[nameIndex] = name;
    return name;
  }
  category(nameIndex: number): number {
    return nameIndex < this.nameCount ? this.nameTable.getUint8(nameIndex * 8 + 6) : 0;
  }

  /** First rectangle of a row that ends after `units`; rowEnd when there is none. */
  firstEndingAfter(slot: number, row: number, units: number): number {
    let low = this.rowBegin(slot, row);
    let high = this.rowEnd(slot, row);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.rects[middle * RECT_WORDS + 1]! > units) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

const decoder = new TextDecoder();
function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

function padTo4(bytes: number): number {
  return (bytes + 3) & ~3;
}

interface Sections {
  rects: number;
  rows: number;
  merged: number;
  names: number;
  text: number;
  end: number;
}

function layOut(lineCount: number, rectCount: number, mergedCount: number, nameCount: number, textBytes: number): Sections {
  const rects = TILE_HEADER_BYTES + lineCount * LINE_WORDS * 4;
  const rows = rects + rectCount * RECT_WORDS * 4;
  const merged = rows + padTo4(rectCount * 2);
  const names = merged + mergedCount * 4;
  const text = names + nameCount * 8;
  return { rects, rows, merged, names, text, end: text + textBytes };
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new TileFormatError(message);
}

export function decodeTile(buffer: ArrayBuffer): Tile {
  check(LITTLE_ENDIAN, 'this machine stores integers big-endian, which tiles do not support');
  check(buffer.byteLength >= TILE_HEADER_BYTES, `${buffer.byteLength} bytes are fewer than the header's ${TILE_HEADER_BYTES}`);
  const head = new DataView(buffer);
  check(head.getUint32(0, false) === 0x53544c31, 'it does not begin with "STL1"');
  check(head.getUint8(4) === TILE_VERSION, `version ${head.getUint8(4)} is not ${TILE_VERSION}; reload the page`);
  const level = head.getUint8(5);
  check(level >= MIN_LEVEL && level <= MAX_LEVEL, `level ${level} is outside ${MIN_LEVEL}..${MAX_LEVEL}`);
  const lineCount = head.getUint16(6, true);
  check(lineCount <= MAX_LINES_PER_CHUNK, `${lineCount} lines are more than ${MAX_LINES_PER_CHUNK}`);
  const index = Number(head.getBigInt64(8, true));
  const rectCount = head.getUint32(16, true);
  const nameCount = head.getUint32(20, true);
  const namesBytes = head.getUint32(24, true);
  const mergedCount = head.getUint32(28, true);
  check(rectCount <= MAX_RECTS, `${rectCount} rectangles are more than ${MAX_RECTS}`);
  check(mergedCount <= rectCount, `${mergedCount} merged of ${rectCount} rectangles`);
  const at = layOut(lineCount, rectCount, mergedCount, nameCount, namesBytes);
  check(at.end <= buffer.byteLength, `${buffer.byteLength} bytes, but its sections need ${at.end}`);

  const lines = new Uint32Array(buffer, TILE_HEADER_BYTES, lineCount * LINE_WORDS);
  const rows = new Uint16Array(buffer, at.rows, rectCount);
  const nameTable = new DataView(buffer, at.names, nameCount * 8);
  for (let i = 0; i < nameCount; ++i) {
    const nameEnd = nameTable.getUint32(i * 8, true) + nameTable.getUint16(i * 8 + 4, true);
    check(nameEnd <= namesBytes, `name ${i} ends at ${nameEnd} of ${namesBytes} bytes`);
  }
  const rects = new Uint32Array(buffer, at.rects, rectCount * RECT_WORDS);
  return new Tile(
    level, index, lineCount, rectCount, nameCount, buffer.byteLength, rects, lines,
    indexRows(lines, lineCount, rows, rectCount), new Uint32Array(buffer, at.merged, mergedCount), nameTable,
    new Uint8Array(buffer, at.text, namesBytes),
  );
}

/** For each line, where its rows begin: starts[row], with the end as the last entry. */
function indexRows(lines: Uint32Array, lineCount: number, rows: Uint16Array, rectCount: number): Uint32Array[] {
  const all: Uint32Array[] = [];
  let expected = 0;
  for (let slot = 0; slot < lineCount; ++slot) {
    const first = lines[slot * LINE_WORDS + 2]!;
    const count = lines[slot * LINE_WORDS + 3]!;
    check(first === expected && first + count <= rectCount, `line ${slot} has rectangles ${first}..${first + count} of ${rectCount}`);
    expected = first + count;
    const rowsHere = count === 0 ? 0 : rows[first + count - 1]! + 1;
    const starts = new Uint32Array(rowsHere + 1).fill(first + count);
    let row = 0;
    for (let i = first; i < first + count; ++i) {
      check(rows[i]! >= row - 1, `rectangle ${i} is in row ${rows[i]} after row ${row - 1}`);
      while (row <= rows[i]!) starts[row++] = i;
    }
    all.push(starts);
  }
  check(expected === rectCount, `${rectCount} rectangles, but its lines have ${expected}`);
  return all;
}
