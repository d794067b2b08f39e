"""The oracles themselves: profiles encoded by hand, and the real ones against the golden counts."""

import gzip
import json
import lzma
import os
import struct
import warnings

import brotli
import pytest
import zstandard

import make_expected
import riegeli_reader
import xplane_reader
from test_live_job import field, varint

CORPUS = os.environ.get(
    "STROBE_CORPUS", os.path.join(make_expected.REPOSITORY, "..", "shared", "data"))


def negative(value):
    return value & 0xFFFFFFFFFFFFFFFF


def event(metadata_id, *, offset=None, occurrences=None, duration=0, stats=b""):
    data = field(1, metadata_id)
    data += field(2, negative(offset)) if offset is not None else b""
    data += field(5, occurrences) if occurrences is not None else b""
    return data + field(3, duration) + stats


def line(line_id, name, timestamp_ns, *events):
    head = field(1, negative(line_id)) + field(2, name) + field(3, timestamp_ns)
    return head + b"".join(field(4, e) for e in events)


def space(*lines, name=b"/host:CPU", metadata=()):
    plane = field(2, name) + b"".join(field(3, text) for text in lines)
    for key, text in metadata:
        plane += field(4, field(1, key) + field(2, field(1, key) + field(2, text)))
    return field(1, plane) + field(4, b"trainer-0")


SMALL = space(
    line(-7, b"python", 1000,
         event(1, offset=500, duration=20), event(2, offset=100, duration=900),
         event(1, offset=-50), event(3, occurrences=9, duration=77)),
    metadata=[(1, b"train"), (2, b"load")])


def parse(data, lenient=False):
    return xplane_reader.summarise(
        xplane_reader.space_class(lenient).FromString(data), names=True)


def test_counts_and_times_of_a_line():
    summary = parse(SMALL)
    assert summary["hostnames"] == ["trainer-0"]
    plane = summary["planes"][0]
    assert plane["names"] == {"": 1, "load": 1, "train": 2}  # id 3 has no metadata
    found = plane["lines"][0]
    assert (found["id"], found["name"], found["timestamp_ns"]) == (-7, "python", 1000)
    assert (found["events"], found["aggregated"], found["distinct_names"]) == (4, 1, 3)
    assert (found["first_ps"], found["last_ps"]) == (1_000_000 - 50, 1_000_000 + 1000)
    assert (found["sum_duration_ps"], found["sum_offset_ps"]) == (997, 550)
    assert (found["zero_duration"], found["starts_before_previous"]) == (1, 2)


def test_times_beyond_64_bits_stay_exact():
    data = space(line(1, b"x", 2**63 - 1, event(1, offset=2**63 - 1, duration=5)))
    found = parse(data)["planes"][0]["lines"][0]
    assert found["last_ps"] == (2**63 - 1) * 1000 + 2**63 + 4


def test_a_name_that_is_not_utf8_needs_lenient():
    data = space(line(1, b"\xff\xfe", 0, event(1, offset=0)))
    with pytest.raises(Exception, match="parsing|UTF-8|decode"):
        parse(data)
    assert parse(data, lenient=True)["planes"][0]["lines"][0]["name"] == "\ufffd\ufffd"


@pytest.mark.parametrize("ending,pack", [
    ("", bytes), (".gz", gzip.compress), (".xz", lzma.compress),
    (".zst", zstandard.ZstdCompressor().compress)])
def test_packed_forms(tmp_path, ending, pack):
    path = tmp_path / ("trainer-0.xplane.pb" + ending)
    path.write_bytes(pack(SMALL))
    assert xplane_reader.read_bytes(str(path)) == SMALL


def riegeli_chunk(kind, records=(), compression=b"\0"):
    packs = {b"\0": bytes, b"b": lambda d: varint(len(d)) + brotli.compress(d),
             b"z": lambda d: varint(len(d)) + zstandard.ZstdCompressor().compress(d)}
    sizes = packs[compression](b"".join(varint(len(r)) for r in records))
    values = packs[compression](b"".join(records))
    body = compression + varint(len(sizes)) + sizes + values if records else b""
    decoded = sum(len(r) for r in records)
    return struct.pack("<QQQQQ", 0, len(body), 0, len(records) << 8 | kind[0], decoded) + body


def riegeli_file(*parts):
    """Lays chunks into blocks, with a block header wherever a block begins."""
    out = bytearray()
    for byte in b"".join(parts):
        if len(out) % riegeli_reader.BLOCK_BYTES == 0:
            out += bytes(riegeli_reader.BLOCK_HEADER_BYTES)
        out.append(byte)
    return bytes(out)


@pytest.mark.parametrize("compression", [b"\0", b"b", b"z"])
def test_riegeli_records_across_blocks(compression):
    wanted = [SMALL, os.urandom(riegeli_reader.BLOCK_BYTES * 2), b"", b"last"]
    data = riegeli_file(riegeli_chunk(b"s"), riegeli_chunk(b"r", wanted[:2], compression),
                        riegeli_chunk(b"r", wanted[2:], compression))
    assert list(riegeli_reader.records(data)) == wanted


@pytest.mark.parametrize("data", [
    riegeli_file(riegeli_chunk(b"s"), riegeli_chunk(b"r", [SMALL]))[:-3],
    riegeli_file(riegeli_chunk(b"s"), riegeli_chunk(b"t", [SMALL]))])
def test_riegeli_damage_is_an_error(data):
    with pytest.raises(riegeli_reader.RiegeliError):
        list(riegeli_reader.records(data))


def test_real_profiles_count_as_golden():
    if not os.path.isdir(os.path.join(CORPUS, "sessions")):
        notice = f"STROBE_NOTICE: real profiles absent: {CORPUS} (set STROBE_CORPUS)"
        warnings.warn(notice, stacklevel=1)  # shown even when pytest is quiet
        pytest.skip(notice)
    with open(make_expected.GOLDEN, encoding="utf-8") as file:
        golden = json.load(file)
    assert list(make_expected.differences(golden, make_expected.expect_all(CORPUS))) == []
