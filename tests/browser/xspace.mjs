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

export const xspace = (planes) => Buffer.concat(planes.map((one) => bytes(1, one)));
