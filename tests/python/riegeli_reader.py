"""Reads JAX's <host>.xplane.riegeli with Python alone and prints what is in it, as JSON.

    python riegeli_reader.py FILE

Like xplane_reader.py this is an oracle that shares nothing with the C++ reader. A Riegeli file
is cut into blocks of 64 KiB, each with a 24-byte header that can stand in the middle of a chunk.
A chunk has a 40-byte header: hash, data size, data hash (8 bytes each), type (1), records (7),
decoded size (8). Simple chunks ('r') hold one compressed stream of record sizes and one of the
records; here each record is an XSpace of its own. `merge_lines` counts them as one profile:
planes are the same when their names are, lines when their ids are too.

Limits: hashes are not verified, only sizes; compression none, brotli and zstd; other chunk types
that carry records ('t') end in an error.
"""

import json
import struct
import sys

import brotli
import zstandard

import xplane_reader

BLOCK_BYTES = 65536
BLOCK_HEADER_BYTES = 24
CHUNK_HEADER_BYTES = 40
SIGNATURE, METADATA, PADDING, SIMPLE = b"s", b"m", b"p", b"r"


class RiegeliError(Exception):
    """The file is not what this reader understands; the message says where and why."""


def _take(data, position, size):
    """`size` bytes of chunk data from `position` on, and the position after them."""
    out = bytearray()
    while size:
        if position % BLOCK_BYTES == 0:
            position += BLOCK_HEADER_BYTES
        part = min(size, BLOCK_BYTES - position % BLOCK_BYTES)
        if position + part > len(data):
            raise RiegeliError(f"{size} bytes wanted at {position}, the file ends at {len(data)}")
        out += data[position:position + part]
        position += part
        size -= part
    return bytes(out), position


def chunks(data):
    """Yields (type, number of records, decoded size, chunk data)."""
    position = 0
    while position < len(data):
        began = position
        header, position = _take(data, position, CHUNK_HEADER_BYTES)
        _, size, _, kind_and_records, decoded = struct.unpack("<QQQQQ", header)
        body, position = _take(data, position, size)
        records = kind_and_records >> 8
        # Every record has a position of its own, so a chunk is at least that long.
        position = max(position, began + records)
        if 0 < position % BLOCK_BYTES < BLOCK_HEADER_BYTES:
            position += BLOCK_HEADER_BYTES - position % BLOCK_BYTES
        yield bytes([kind_and_records & 0xFF]), records, decoded, body


def _varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def _unpack(compression, data):
    if compression == 0:
        return data
    size, position = _varint(data, 0)
    if compression == ord("b"):
        out = brotli.decompress(data[position:])
    elif compression == ord("z"):
        out = zstandard.ZstdDecompressor().decompressobj().decompress(data[position:])
    else:
        raise RiegeliError(f"compression {chr(compression)!r} is not known here")
    if len(out) != size:
        raise RiegeliError(f"{len(out)} bytes unpacked, {size} promised")
    return out


def records(data):
    """Yields the bytes of each record."""
    for number, (kind, count, decoded, body) in enumerate(chunks(data)):
        if kind in (SIGNATURE, METADATA, PADDING):
            continue
        if kind != SIMPLE:
            raise RiegeliError(f"chunk {number} has type {kind!r}; only simple ones are read here")
        sizes_bytes, position = _varint(body, 1)
        sizes = _unpack(body[0], body[position:position + sizes_bytes])
        values = _unpack(body[0], body[position + sizes_bytes:])
        if len(values) != decoded:
            raise RiegeliError(f"chunk {number}: {len(values)} bytes, its header says {decoded}")
        at_size = at_value = 0
        for _ in range(count):
            size, at_size = _varint(sizes, at_size)
            yield values[at_value:at_value + size]
            at_value += size
        if at_value != len(values):
            raise RiegeliError(f"chunk {number}: {len(values) - at_value} bytes left over")


def read(path):
    """The XSpace of each record, in order."""
    with open(path, "rb") as file:
        data = file.read()
    kind = xplane_reader.space_class()
    return [kind.FromString(record) for record in records(data)]


def _merge_line(into, line):
    if not into:
        into.update({k: line[k] for k in (
            "id", "name", "events", "first_ps", "last_ps", "sum_duration_ps", "event_stats")})
        return
    for key in ("events", "sum_duration_ps", "event_stats"):
        into[key] += line[key]
    for key, choose in (("first_ps", min), ("last_ps", max)):
        known = [value for value in (into[key], line[key]) if value is not None]
        into[key] = choose(known, default=None)


def merge_lines(spaces):
    """Counts the records as one profile; offsets are kept as absolute times only."""
    planes, hostnames = {}, []
    for space in spaces:
        summary = xplane_reader.summarise(space)
        hostnames += [name for name in summary["hostnames"] if name not in hostnames]
        for plane in summary["planes"]:
            lines = planes.setdefault(plane["name"], {})
            for line in plane["lines"]:
                _merge_line(lines.setdefault(line["id"], {}), line)
    merged = [{"name": name, "events": sum(line["events"] for line in lines.values()),
               "lines": list(lines.values())} for name, lines in planes.items()]
    return {"records": len(spaces), "hostnames": hostnames,
            "events": sum(plane["events"] for plane in merged), "planes": merged}


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    json.dump(merge_lines(read(sys.argv[1])), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
