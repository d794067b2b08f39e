// A table of the page as an Apache Parquet file: what the server does for a tool's own tables (src/wire/parquet_writer.h), for those that
// only the page has: folded, compared, lists of sessions and runs.
//
// Format version 1, one row group for each rowsOfGroup rows, every column optional, values PLAIN and uncompressed, texts as STRING, numbers
// as DOUBLE, integers as INT64 where the column is one of whole numbers, truths as BOOLEAN. Limits: the file is made in memory.
import type { ExportColumn, ExportTable, Value } from './model';

export const rowsOfGroup = 65_536;

type Kind = 'text' | 'int64' | 'double' | 'truth';
const physical: Readonly<Record<Kind, number>> = { truth: 0, int64: 2, double: 5, text: 6 };

class Bytes {
  private buffer = new Uint8Array(1024);
  private view = new DataView(this.buffer.buffer);
  length = 0;

  private room(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + more));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
    this.view = new DataView(larger.buffer);
  }
  byte(value: number): void {
    this.room(1);
    this.buffer[this.length++] = value;
  }
  append(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }
  uint32(value: number): void {
    this.room(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }
  double(value: number): void {
    this.room(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }
  int64(value: number): void {
    this.room(8);
    this.view.setBigInt64(this.length, BigInt(value), true);
    this.length += 8;
  }
  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }
  done(): Uint8Array<ArrayBuffer> {
    return this.buffer.slice(0, this.length);
  }
}

// Thrift's compact protocol, as far as Parquet's headers need it. Numbers are never negative here.
class Thrift {
  private last = 0;
  private readonly outer: number[] = [];
  private readonly out: Bytes;

  constructor(out: Bytes) {
    this.out = out;
  }
  private field(id: number, type: number): void {
    this.out.byte(((id - this.last) << 4) | type);
    this.last = id;
  }
  int32(id: number, value: number): this {
    this.field(id, 5);
    this.out.varint(value * 2);
    return this;
  }
  int64(id: number, value: number): this {
    this.field(id, 6);
    this.out.varint(value * 2);
    return this;
  }
  private bytes(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.out.varint(encoded.length);
    this.out.append(encoded);
  }
  text(id: number, text: string): this {
    this.field(id, 8);
    this.bytes(text);
    return this;
  }
  private head(id: number, type: number, count: number): void {
    this.field(id, 9);
    if (count < 15) this.out.byte((count << 4) | type);
    else {
      this.out.byte(0xf0 | type);
      this.out.varint(count);
    }
  }
  structs(id: number, count: number): this {
    this.head(id, 12, count);
    return this;
  }
  ints(id: number, values: readonly number[]): this {
    this.head(id, 5, values.length);
    for (const value of values) this.out.varint(value * 2);
    return this;
  }
  oneText(id: number, text: string): this {
    this.head(id, 8, 1);
    this.bytes(text);
    return this;
  }
  begin(id?: number): this {
    if (id !== undefined) this.field(id, 12);
    this.outer.push(this.last);
    this.last = 0;
    return this;
  }
  end(): this {
    this.out.byte(0);
    this.last = this.outer.pop() ?? 0;
    return this;
  }
}

const nothing = (value: Value | undefined) => value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value));

function kindOf(column: ExportColumn, rows: readonly (readonly Value[])[], at: number): Kind {
  let whole = column.whole ?? false;
  const wanted = column.type === 'string' ? null : column.type;
  for (const row of rows) {
    const value = row[at];
    if (nothing(value)) continue;
    if (wanted && typeof value !== wanted) return 'text';
    if (!Number.isSafeInteger(value)) whole = false;
  }
  return wanted === null ? 'text' : wanted === 'boolean' ? 'truth' : whole ? 'int64' : 'double';
}

// One page: how long runs of present and absent cells are, then the present ones.
function pageOf(kind: Kind, rows: readonly (readonly Value[])[], at: number): Uint8Array {
  const levels = new Bytes();
  const values = new Bytes();
  const encoder = new TextEncoder();
  let run = 0;
  let present = true;
  const endRun = () => {
    if (run === 0) return;
    levels.varint(run * 2);
    levels.byte(present ? 1 : 0);
  };
  let bits = 0;
  let bitCount = 0;
  for (const row of rows) {
    const value = row[at];
    const there = !nothing(value);
    if (there !== present) {
      endRun();
      run = 0;
      present = there;
    }
    run++;
    if (!there) continue;
    if (kind === 'double') values.double(value as number);
    else if (kind === 'int64') values.int64(value as number);
    else if (kind === 'truth') {
      bits |= (value ? 1 : 0) << bitCount++;
      if (bitCount === 8) {
        values.byte(bits);
        bits = bitCount = 0;
      }
    } else {
      const text = encoder.encode(String(value));
      values.uint32(text.length);
      values.append(text);
    }
  }
  endRun();
  if (bitCount > 0) values.byte(bits);
  const page = new Bytes();
  page.uint32(levels.length);
  page.append(levels.done());
  page.append(values.done());
  return page.done();
}

interface Chunk {
  readonly offset: number;
  readonly bytes: number;
  readonly cells: number;
}

function footerOf(table: ExportTable, kinds: readonly Kind[], groups: readonly (readonly Chunk[])[]): Uint8Array {
  const bytes = new Bytes();
  const out = new Thrift(bytes);
  out.int32(1, 1).structs(2, table.columns.length + 1);
  out.begin().text(4, 'table').int32(5, table.columns.length).end();
  table.columns.forEach((column, c) => {
    out.begin().int32(1, physical[kinds[c]!]).int32(3, 1).text(4, column.id);
    if (kinds[c] === 'text') out.int32(6, 0).begin(10).begin(1).end().end();
    out.end();
  });
  out.int64(3, table.columns.length > 0 ? table.rows.length : 0).structs(4, groups.length);
  for (const chunks of groups) {
    out.begin().structs(1, chunks.length);
    chunks.forEach((chunk, c) => {
      out.begin().int64(2, chunk.offset).begin(3);
      out.int32(1, physical[kinds[c]!]).ints(2, [0, 3]).oneText(3, table.columns[c]!.id).int32(4, 0);
      out.int64(5, chunk.cells).int64(6, chunk.bytes).int64(7, chunk.bytes).int64(9, chunk.offset);
      out.end().end();
    });
    out.int64(2, chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)).int64(3, chunks[0]!.cells).end();
  }
  const labels = JSON.stringify(table.columns.map((column) => ({ id: column.id, label: column.label })));
  out.structs(5, 2);
  out.begin().text(1, 'strobe.table').text(2, table.title).end();
  out.begin().text(1, 'strobe.columns').text(2, labels).end();
  out.text(6, 'strobe console').end();
  return bytes.done();
}

export function parquetOf(table: ExportTable): Uint8Array<ArrayBuffer> {
  const magic = new TextEncoder().encode('PAR1');
  const file = new Bytes();
  file.append(magic);
  const kinds = table.columns.map((column, c) => kindOf(column, table.rows, c));
  const groups: Chunk[][] = [];
  for (let first = 0; first < table.rows.length && kinds.length > 0; first += rowsOfGroup) {
    const rows = table.rows.slice(first, first + rowsOfGroup);
    groups.push(
      kinds.map((kind, c) => {
        const page = pageOf(kind, rows, c);
        const offset = file.length;
        new Thrift(file).int32(1, 0).int32(2, page.length).int32(3, page.length).begin(5).int32(1, rows.length).int32(2, 0).int32(3, 3).int32(4, 3).end().end();
        file.append(page);
        return { offset, bytes: file.length - offset, cells: rows.length };
      }),
    );
  }
  const footer = footerOf(table, kinds, groups);
  file.append(footer);
  file.uint32(footer.length);
  file.append(magic);
  return file.done();
}
