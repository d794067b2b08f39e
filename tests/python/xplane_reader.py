"""Reads an XPlane file with protobuf's own classes and prints what is in it, as JSON.

    python xplane_reader.py FILE [--names] [--lenient]

FILE is one <host>.xplane.pb, or .gz, .xz or .zst of it. This is the tests' oracle: it shares
nothing with the C++ reader, neither code nor a generated schema. The message classes are built
at run time from the field numbers below (descriptor_pb2; no protoc is needed).

    >>> space = read("host0.xplane.pb")
    >>> summary = summarise(space)
    >>> summary["planes"][0]["lines"][0]["events"]
    500

All times are exact Python integers in picoseconds: first_ps is the earliest start and last_ps
the latest end on a line, both as timestamp_ns * 1000 + offset_ps (+ duration_ps); aggregated
events (num_occurrences instead of an offset) have no place in time and count apart.
Cost: about 250 bytes of memory and 1 microsecond per event. Limits: 2 GiB unpacked (protobuf's
own); --lenient takes names that are not UTF-8 and shows them with replacement characters.
"""

import argparse
import gzip
import json
import lzma
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "strobe.oracle"

# message -> {field name: (number, type, repeated)}; another message is named by its type.
SCHEMA = {
    "XStat": {
        "metadata_id": (1, "int64"), "double_value": (2, "double", "value"),
        "uint64_value": (3, "uint64", "value"), "int64_value": (4, "int64", "value"),
        "str_value": (5, "string", "value"), "bytes_value": (6, "bytes", "value"),
        "ref_value": (7, "uint64", "value")},
    "XEvent": {
        "metadata_id": (1, "int64"), "offset_ps": (2, "int64", "data"),
        "num_occurrences": (5, "int64", "data"), "duration_ps": (3, "int64"),
        "stats": (4, "XStat", "repeated")},
    "XLine": {
        "id": (1, "int64"), "name": (2, "string"), "timestamp_ns": (3, "int64"),
        "events": (4, "XEvent", "repeated"), "duration_ps": (9, "int64"),
        "display_id": (10, "int64"), "display_name": (11, "string")},
    "XEventMetadata": {
        "id": (1, "int64"), "name": (2, "string"), "metadata": (3, "bytes"),
        "display_name": (4, "string"), "stats": (5, "XStat", "repeated"),
        "child_id": (6, "int64", "repeated")},
    "XStatMetadata": {
        "id": (1, "int64"), "name": (2, "string"), "description": (3, "string")},
    "XPlane": {
        "id": (1, "int64"), "name": (2, "string"), "lines": (3, "XLine", "repeated"),
        "event_metadata": (4, "XEventMetadata", "map"),
        "stat_metadata": (5, "XStatMetadata", "map"), "stats": (6, "XStat", "repeated")},
    "XSpace": {
        "planes": (1, "XPlane", "repeated"), "errors": (2, "string", "repeated"),
        "warnings": (3, "string", "repeated"), "hostnames": (4, "string", "repeated")},
}

SCALARS = {
    "double": descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE,
    "int64": descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
    "uint64": descriptor_pb2.FieldDescriptorProto.TYPE_UINT64,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
}


def _add_map_entry(message, name, value_type):
    entry = message.nested_type.add(name="".join(w.title() for w in name.split("_")) + "Entry")
    entry.options.map_entry = True
    field = descriptor_pb2.FieldDescriptorProto
    entry.field.add(name="key", number=1, type=field.TYPE_INT64, label=field.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=field.TYPE_MESSAGE,
                    type_name=f".{PACKAGE}.{value_type}", label=field.LABEL_OPTIONAL)
    return f".{PACKAGE}.{message.name}.{entry.name}"


def _add_field(message, name, number, kind, role, lenient):
    proto = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=number, label=proto.LABEL_OPTIONAL)
    if role in ("repeated", "map"):
        field.label = proto.LABEL_REPEATED
    if role == "map":
        field.type = proto.TYPE_MESSAGE
        field.type_name = _add_map_entry(message, name, kind)
    elif kind in SCALARS:
        field.type = SCALARS["bytes" if lenient and kind == "string" else kind]
    else:
        field.type = proto.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{kind}"
    if role in ("value", "data"):  # the name of the oneof that the field belongs to
        if not message.oneof_decl:
            message.oneof_decl.add(name=role)
        field.oneof_index = 0


def space_class(lenient=False):
    """The XSpace message class; with lenient, strings are bytes and need not be UTF-8."""
    file = descriptor_pb2.FileDescriptorProto(
        name="oracle.proto", package=PACKAGE, syntax="proto3")
    for message_name, fields in SCHEMA.items():
        message = file.message_type.add(name=message_name)
        for name, (number, kind, *role) in fields.items():
            _add_field(message, name, number, kind, role[0] if role else "", lenient)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"{PACKAGE}.XSpace"))


def read_bytes(path):
    """The unpacked bytes of a file; how it is packed is told by its name."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".zst"):
        import zstandard  # only here: the other forms need nothing but Python
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data


def read(path, lenient=False):
    return space_class(lenient).FromString(read_bytes(path))


def text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def summarise_line(line):
    base_ps = line.timestamp_ns * 1000
    first = last = None
    placed = aggregated = stats = duration_sum = offset_sum = zero = disorder = 0
    before = None
    names = set()
    for event in line.events:
        names.add(event.metadata_id)
        stats += len(event.stats)
        duration_sum += event.duration_ps
        if event.WhichOneof("data") == "num_occurrences":
            aggregated += 1
            continue
        placed += 1
        offset = event.offset_ps
        offset_sum += offset
        zero += event.duration_ps == 0
        disorder += before is not None and offset < before
        before = offset
        end = offset + event.duration_ps
        first = offset if first is None or offset < first else first
        last = end if last is None or end > last else last
    return {
        "id": line.id, "name": text(line.name),
        "display_id": line.display_id, "display_name": text(line.display_name),
        "timestamp_ns": line.timestamp_ns, "line_duration_ps": line.duration_ps,
        "events": len(line.events), "aggregated": aggregated,
        "first_ps": None if first is None else base_ps + first,
        "last_ps": None if last is None else base_ps + last,
        "sum_duration_ps": duration_sum, "sum_offset_ps": offset_sum,
        "event_stats": stats, "distinct_names": len(names), "zero_duration": zero,
        "starts_before_previous": disorder}


def stat_value(plane, stat):
    """A stat's value as Python sees it; a reference is resolved to the name it means."""
    case = stat.WhichOneof("value")
    if case is None:
        return None
    value = getattr(stat, case)
    if case == "ref_value":
        return text(plane.stat_metadata[value].name) if value in plane.stat_metadata else ""
    if case == "bytes_value":
        return f"<{len(value)} bytes>"
    return text(value)


def named_stats(plane, stats):
    return [[text(plane.stat_metadata[s.metadata_id].name)
             if s.metadata_id in plane.stat_metadata else "", stat_value(plane, s)]
            for s in stats]


def summarise(space, names=False):
    """Everything that tests compare, as plain dicts and lists."""
    planes = []
    for plane in space.planes:
        lines = [summarise_line(line) for line in plane.lines]
        record = {
            "id": plane.id, "name": text(plane.name), "lines": lines,
            "events": sum(line["events"] for line in lines),
            "event_metadata": len(plane.event_metadata),
            "stat_metadata": len(plane.stat_metadata),
            "stats": named_stats(plane, plane.stats)}
        if names:
            counts = {}
            for line in plane.lines:
                for event in line.events:
                    counts[event.metadata_id] = counts.get(event.metadata_id, 0) + 1
            by_name = {}
            for metadata_id, count in counts.items():
                known = metadata_id in plane.event_metadata
                name = text(plane.event_metadata[metadata_id].name) if known else ""
                by_name[name] = by_name.get(name, 0) + count
            record["names"] = dict(sorted(by_name.items()))
        planes.append(record)
    starts = [l["first_ps"] for p in planes for l in p["lines"] if l["first_ps"] is not None]
    ends = [l["last_ps"] for p in planes for l in p["lines"] if l["last_ps"] is not None]
    return {
        "hostnames": [text(h) for h in space.hostnames],
        "errors": [text(e) for e in space.errors],
        "warnings": [text(w) for w in space.warnings],
        "events": sum(p["events"] for p in planes),
        "lines": sum(len(p["lines"]) for p in planes),
        "first_ps": min(starts, default=None), "last_ps": max(ends, default=None),
        "planes": planes}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--names", action="store_true", help="count events per name too")
    parser.add_argument("--lenient", action="store_true", help="take names that are not UTF-8")
    arguments = parser.parse_args()
    space = read(arguments.file, arguments.lenient)
    json.dump(summarise(space, arguments.names), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
