// Writes small XSpace files for browser tests, independently of the C++ builder. Field numbers: the public XPlane schema.
//
//   const bytes = xspace([plane('/host:CPU', ['a', 'b'], [line(1, 'thread', 0n, [[1, 1000n, 500n]])])]);

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => {
  const content = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8');
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
};

// `events`: [metadata id, offset ps, duration ps].
export function line(id, name, timestampNs, events) {
  return Buffer.concat([number(1, id), bytes(2, name), number(3, timestampNs),
    ...events.map(([metadata, offset, duration]) => bytes(4, Buffer.concat([number(1, metadata), number(2, offset), number(3, duration)])))]);
}

// Event metadata ids count from 1 in the order of `names` (texts or buffers).
export function plane(name, names, lines) {
  return Buffer.concat([bytes(2, name), ...lines.map((one) => bytes(3, one)),
    ...names.map((text, i) => bytes(4, Buffer.concat([number(1, i + 1), bytes(2, Buffer.concat([number(1, i + 1), bytes(2, text)]))])))]);
}

// A line of very many events, written straight into one buffer: `eventAt(i, out)` sets out.id, out.offset and out.duration (safe
// integers). Offsets grow. About a million events a second.
export function manyEvents(id, name, timestampNs, count, eventAt) {
  const head = Buffer.concat([number(1, id), bytes(2, name), number(3, timestampNs)]);
  const out = { id: 1, offset: 0, duration: 0 };
  const body = Buffer.allocUnsafe(head.length + count * 26);
  let at = head.copy(body, 0);
  const put = (value) => {
    while (value >= 128) {
      body[at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    body[at++] = value;
  };
  for (let i = 0; i < count; ++i) {
    eventAt(i, out);
    body[at] = (4 << 3) | 2;
    const length = at + 1;
    at += 2;
    body[at++] = 1 << 3;
    put(out.id);
    body[at++] = 2 << 3;
    put(out.offset);
    body[at++] = 3 << 3;
    put(out.duration);
    body[length] = at - length - 1; // at most 24: one byte
  }
  return body.subarray(0, at);
}

export const xspace = (planes) => Buffer.concat(planes.map((one) => bytes(1, one)));
