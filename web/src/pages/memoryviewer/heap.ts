// The memory of one compiled program: its heap in the order of the program, the buffers at its peak, and their blocks.
import { asNumber, asText, items, type Json, member, type Row, type ToolTable } from '../../tools/types';

const mebibyte = 1024 * 1024;

export interface HeapBuffer {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
  readonly unpadded: number;
  readonly shape: string;
  readonly opcode: string;
  readonly group: string;
  readonly frameworkOp: string;
  readonly source: string;
  readonly start: number | null; // Position in the program.
  readonly end: number | null;
}

export interface Heap {
  readonly module: string;
  readonly entry: string;
  readonly sizes: readonly number[]; // Bytes.
  readonly unpadded: readonly number[];
  readonly names: readonly string[];
  readonly peakBytes: number;
  readonly peakUnpadded: number;
  readonly peakAt: number;
  readonly totalBytes: number;
  readonly indefiniteBytes: number;
  readonly liveOutBytes: number;
  readonly nonReusableBytes: number;
  readonly fragmentationBytes: number | null;
  readonly buffers: readonly HeapBuffer[];
  readonly blocks: readonly HeapBlock[];
  readonly indefinite: readonly { name: string; bytes: number; attributes: string; shape: string }[];
}

export interface HeapBlock {
  readonly id: number; // -1: a whole allocation.
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly start: number;
  readonly end: number;
  readonly category: string;
}

function bytesOf(value: Json): number {
  return Math.round((asNumber(value) ?? 0) * mebibyte);
}

export function readHeap(document: Json): Heap | null {
  const module = asText(member(document, 'moduleName'));
  if (module === '') return null;
  const sizes = items(member(document, 'heapSizes')).map(bytesOf);
  const spans = member(document, 'logicalBufferSpans');
  const buffers = items(member(document, 'maxHeap')).map((one): HeapBuffer => {
    const id = asNumber(member(one, 'logicalBufferId')) ?? -1;
    const span = id >= 0 ? member(spans, String(id)) : null;
    const source = member(one, 'sourceInfo');
    const file = asText(member(source, 'fileName'));
    const line = asNumber(member(source, 'lineNumber'));
    return {
      id, name: asText(member(one, 'instructionName')) || asText(member(one, 'label')), bytes: bytesOf(member(one, 'logicalBufferSizeMib')), unpadded: bytesOf(member(one, 'unpaddedShapeMib')),
      shape: asText(member(one, 'shapeString')), opcode: asText(member(one, 'opCode')), group: asText(member(one, 'groupName')) || 'Other', frameworkOp: asText(member(one, 'tfOpName')),
      source: file ? (line ? `${file}:${line}` : file) : '', start: span === null ? null : (asNumber(member(span, 'start')) ?? 0), end: span === null ? null : asNumber(member(span, 'limit')),
    };
  });
  const peak = bytesOf(member(document, 'peakHeapMib'));
  const allocated = bytesOf(member(document, 'totalBufferAllocationMib'));
  return {
    module, entry: asText(member(document, 'entryComputationName')), sizes, unpadded: items(member(document, 'unpaddedHeapSizes')).map(bytesOf), names: items(member(document, 'hloInstructionNames')).map(asText),
    peakBytes: peak, peakUnpadded: bytesOf(member(document, 'peakUnpaddedHeapMib')), peakAt: peakPosition(sizes), totalBytes: allocated,
    indefiniteBytes: bytesOf(member(document, 'indefiniteBufferAllocationMib')), liveOutBytes: bytesOf(member(document, 'maybeLiveOutMib')), nonReusableBytes: bytesOf(member(document, 'nonReusableMib')),
    fragmentationBytes: allocated > 0 && peak > 0 ? Math.max(0, allocated - peak) : null,
    buffers,
    blocks: items(member(document, 'bufferBlocks')).map((one) => ({
      id: asNumber(member(one, 'logicalBufferId')) ?? -1, name: asText(member(one, 'name')), offset: asNumber(member(one, 'offset')) ?? 0, size: asNumber(member(one, 'size')) ?? 0,
      start: asNumber(member(one, 'startStep')) ?? 0, end: asNumber(member(one, 'endStep')) ?? 0, category: asText(member(one, 'category')),
    })),
    indefinite: items(member(document, 'indefiniteLifetimes')).map((one) => ({
      name: items(member(one, 'logicalBuffers')).map((buffer) => asText(member(buffer, 'hloName'))).join(', '), bytes: bytesOf(member(one, 'sizeMib')), attributes: items(member(one, 'attributes')).map(asText).join(', '), shape: asText(member(one, 'commonShape')),
    })),
  };
}

// Where the curve is highest; the first of equals.
export function peakPosition(sizes: readonly number[]): number {
  let at = 0;
  sizes.forEach((size, i) => {
    if (size > sizes[at]!) at = i;
  });
  return at;
}

export interface Owner {
  readonly name: string;
  readonly bytes: number;
  readonly count: number;
}

// Who fills the peak: buffers by what they are for. Buffers that are left out of the list make up the rest, so that the shares
// sum to the peak.
export function ownersOf(heap: Heap): Owner[] {
  const found = new Map<string, Owner>();
  let listed = 0;
  for (const buffer of heap.buffers) {
    const name = buffer.id < 0 && /^small/.test(buffer.name) ? 'Small buffers' : buffer.group;
    const old = found.get(name);
    found.set(name, { name, bytes: (old?.bytes ?? 0) + buffer.bytes, count: (old?.count ?? 0) + 1 });
    listed += buffer.bytes;
  }
  const rest = heap.peakBytes - listed;
  if (rest > 0) found.set('Not listed', { name: 'Not listed', bytes: rest, count: 0 });
  return [...found.values()].sort((a, b) => b.bytes - a.bytes);
}

const ownerColours: readonly (readonly [RegExp, string])[] = [
  [/parameter|weight|argument/i, 'matmul'],
  [/temp/i, 'fusion'],
  [/output|live.?out/i, 'reduce'],
  [/constant/i, 'movement'],
  [/thread/i, 'host'],
  [/optimizer|state/i, 'kernel'],
  [/activation/i, 'transfer'],
];

export function ownerColour(name: string): string {
  return ownerColours.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}

export function heapTable(heap: Heap): ToolTable {
  const known = (text: string) => (text === '' ? null : text);
  const rows: Row[] = heap.buffers.map((one, index) => ({
    index,
    subject: one.id >= 0 ? { moduleId: '', opName: one.name.replace(/\{[\d,]*\}$/, ''), frameworkOp: one.frameworkOp, step: null, host: '' } : null,
    cells: [one.name, one.group, one.bytes, heap.peakBytes > 0 ? one.bytes / heap.peakBytes : null, Math.max(0, one.bytes - one.unpadded), one.opcode || null, known(one.shape), one.start, one.end, known(one.frameworkOp), known(one.source)],
  }));
  return {
    id: 'buffers', title: 'Buffers at the peak', rows, totalRows: rows.length, properties: {},
    columns: [
      { id: 'instruction', label: 'Buffer of', type: 'string', unit: '', description: 'Instruction that makes the buffer.' },
      { id: 'kind', label: 'Kind', type: 'string', unit: '', description: 'What the buffer is for.' },
      { id: 'size', label: 'Size', type: 'number', unit: 'bytes', description: 'With padding.' },
      { id: 'share', label: 'Of the peak', type: 'number', unit: 'fraction', description: '' },
      { id: 'padding', label: 'Padding', type: 'number', unit: 'bytes', description: 'Size less what the shape needs.' },
      { id: 'opcode', label: 'Opcode', type: 'string', unit: '', description: '' },
      { id: 'shape', label: 'Shape', type: 'string', unit: '', description: '' },
      { id: 'start', label: 'Alive from', type: 'number', unit: 'count', description: 'Position in the program.' },
      { id: 'end', label: 'to', type: 'number', unit: 'count', description: 'Position in the program.' },
      { id: 'framework_op', label: 'Framework op', type: 'string', unit: '', description: '' },
      { id: 'source', label: 'Source', type: 'string', unit: '', description: '' },
    ],
  };
}
