"""The cache of decoded columns: it costs nothing to have, and nothing to lose."""

import os
import shutil

import pytest

import profiles
import program
from test_hostile import five_million_events
from test_server import folder_of_nobody, other_user

REASONS = ("columns.ignored", "columns.line_rejected", "engine.cache_unusable")


@pytest.fixture
def logs(tmp_path):
    """Two sessions that are large enough to be kept, one that is not."""
    directory = tmp_path / "logs"
    profiles.save(five_million_events(200_000), directory, "", "ticks")
    nested = [(1 + n % 3, n * 700_000, 1_500_000 if n % 3 else 1_000) for n in range(90_000)]
    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "one", 2: "two", 3: "three"})
    for number in range(3):
        profiles.line(plane, f"thread {number}", nested[number::3])
    profiles.save(space, directory, "run", "nested")
    profiles.save(profiles.simple(), directory, "run", "small")
    return directory


def answers(server):
    """{address: body} of all that depends on columns, tiles included."""
    found = {}
    for session in sorted(server.sessions(), key=lambda s: s["id"]):
        where = f"/api/v1/sessions/{session['id']}"
        tree = server.lines(where)
        addresses = ["/overview", "/completeness", "/search?q=t", "/events/0.0.0.3",
                     "/events?line=0.0.0&at_ps=5000000"]
        for plane in tree["hosts"][0]["planes"]:
            for level, index in ((20, 0), (24, 1), (30, 3), (36, 0), (40, 0)):
                addresses.append(f"/tiles/{plane['id']}.0/{level}/{index}?v={tree['version']}")
        for address in ["/lines?wait_ms=10000", *addresses]:
            answer = server.get(where + address)
            assert answer.status == 200, (address, answer.body[:300])
            found[where + address] = answer.body
    return found


def files_of(cache):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(cache)
                  for name in names)


def column_files(cache):
    return [path for path in files_of(cache) if path.endswith(".col")]


@pytest.fixture
def warm(logs, tmp_path):
    """(cache directory with both sessions in it, the answers of the server that filled it)"""
    cache = tmp_path / "cache"
    with program.Server(logs, "--cache", cache) as server:
        first = answers(server)
        assert server.metric("strobe_column_file_hits_total") == 0
        assert server.metric("strobe_column_file_misses_total") > 0
        server.wait_for(lambda: column_files(cache), lambda files: len(files) == 2)
    return cache, first


def again(logs, cache, **options):
    """(answers, hits, logged reasons) of a new server with that cache."""
    with program.Server(logs, "--cache", cache, **options) as server:
        found = answers(server)
        hits = server.metric("strobe_column_file_hits_total")
        return found, hits, [r for reason in REASONS for r in server.logged(reason)]


def test_second_start_reads_the_columns(logs, warm):
    cache, first = warm
    found, hits, reasons = again(logs, cache)
    assert hits == 2
    assert reasons == []
    assert found == first, "not byte for byte the same"


def test_without_a_cache_the_same(logs, warm):
    _, first = warm
    with program.Server(logs, "--no-cache") as server:
        assert answers(server) == first
        assert server.metric("strobe_column_file_hits_total") == 0


DAMAGES = {
    "flipped in the middle": lambda data: data[:len(data) // 2] + bytes(
        [data[len(data) // 2] ^ 0x40]) + data[len(data) // 2 + 1:],
    "cut": lambda data: data[:len(data) * 2 // 3],
    "empty": lambda data: b"",
    "another version": lambda data: data[:4] + bytes(b ^ 0xFF for b in data[4:12]) + data[12:],
    "zeros": lambda data: bytes(len(data)),
    "text": lambda data: b"hello\n" * 1000,
    "longer": lambda data: data + b"x" * 5000,
}


@pytest.mark.parametrize("how", sorted(DAMAGES))
def test_damaged_cache_is_ignored_with_a_reason(how, logs, warm):
    cache, first = warm
    for path in column_files(cache):
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(DAMAGES[how](data))
    found, _, reasons = again(logs, cache)
    assert found == first
    assert reasons, "a damaged cache must be told in the log"
    for record in reasons:
        assert record["level"] == "warning"
        assert record.get("reason") or record.get("error") or record.get("file")


def test_damaged_identities_are_ignored(logs, warm):
    cache, first = warm
    others = [path for path in files_of(cache) if not path.endswith(".col")]
    assert others
    for path in others:
        with open(path, "wb") as file:
            file.write(b"\xff" * 100)
    found, _, _ = again(logs, cache)
    assert found == first


def test_swapped_column_files(logs, warm):
    """A column file under another profile's name is not that profile."""
    cache, first = warm
    one, two = column_files(cache)
    os.rename(one, one + "x")
    os.rename(two, one)
    os.rename(one + "x", two)
    found, _, reasons = again(logs, cache)
    assert found == first
    assert reasons


def test_deleted_cache_and_deleted_while_running(logs, warm):
    cache, first = warm
    shutil.rmtree(cache)
    found, hits, _ = again(logs, cache)
    assert (found, hits) == (first, 0)
    with program.Server(logs, "--cache", cache) as server:
        server.sessions()
        shutil.rmtree(cache)
        assert answers(server) == first


def test_cache_that_is_a_file(logs, warm, tmp_path):
    _, first = warm
    blocked = tmp_path / "file"
    blocked.write_bytes(b"not a directory")
    found, hits, reasons = again(logs, blocked)
    assert (found, hits) == (first, 0)
    assert reasons
    assert blocked.read_bytes() == b"not a directory"


def test_read_only_cache(logs, warm):
    """Another user's cache, and one that nobody can write into, are used as far as they go."""
    _, first = warm
    with folder_of_nobody() as folder:
        shutil.copytree(logs, os.path.join(folder, "logs"))
        cache = os.path.join(folder, "cache")
        os.mkdir(cache)
        os.chmod(cache, 0o555)
        found, hits, reasons = again(os.path.join(folder, "logs"), cache, user=other_user())
        # Other paths and times than in `first`, so other versions; the rest is the same.
        assert hits == 0
        assert reasons, "that nothing can be kept must be told in the log"
        assert os.listdir(cache) == []
        tiles = sorted(body for address, body in found.items() if "/tiles/" in address)
        assert tiles == sorted(body for address, body in first.items() if "/tiles/" in address)


def test_full_cache_of_somebody_else(logs):
    """Filled by one user, read by another who may not write into it."""
    with folder_of_nobody() as folder:
        there, cache = os.path.join(folder, "logs"), os.path.join(folder, "cache")
        shutil.copytree(logs, there)
        with program.Server(there, "--cache", cache) as server:
            first = answers(server)
            server.wait_for(lambda: column_files(cache), lambda files: len(files) == 2)
        for path, folders, names in os.walk(cache):
            for name in [".", *folders]:
                os.chmod(os.path.join(path, name), 0o555)
            for name in names:
                os.chmod(os.path.join(path, name), 0o444)
        before = files_of(cache)
        found, hits, _ = again(there, cache, user=other_user())
        assert (found, hits) == (first, 2)
        assert files_of(cache) == before


def test_bound_on_the_size(logs, tmp_path):
    cache = tmp_path / "cache"
    with program.Server(logs, "--cache", cache, "--cache-size", "1K") as server:
        answers(server)
        server.wait_for(lambda: [server.json(f"/api/v1/sessions/{s['id']}")["load"]["stage"]
                                 for s in server.sessions()],
                        lambda stages: set(stages) == {"ready"})
    assert column_files(cache) == [], "larger than what was allowed"


def test_changed_profile_is_not_answered_from_the_cache(logs, warm):
    cache, first = warm
    path = profiles.path_of(logs, "", "ticks", "host0")
    then = os.stat(path)
    data = bytearray(open(path, "rb").read())
    # Another duration of the same length in bytes; size and time stay as they were, the file does
    # not.
    data[data.index(b"\x18\xe8\x07", len(data) // 2) + 1] = 0xE9
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.utime(path + ".new", ns=(then.st_atime_ns, then.st_mtime_ns))
    os.replace(path + ".new", path)
    found, hits, _ = again(logs, cache)
    assert hits == 1, "the one that did not change"
    changed = {address for address in found if found[address] != first.get(address)}
    assert changed and len(changed) < len(found)
