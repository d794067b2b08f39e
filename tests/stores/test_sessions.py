"""Sessions in a bucket as a user meets them: listed, inspected, served, uploaded, replaced and deleted."""

import io
import json
import os
import pathlib
import tarfile
import time

import buckets
import program

SAMPLES = pathlib.Path(program.SAMPLES)
TWO_HOSTS = SAMPLES / "two-hosts" / "plugins" / "profile" / "two_hosts"
RECOMPILE = SAMPLES / "recompile" / "plugins" / "profile" / "odd_batches"
WAIT_S = 60


def fill(store, folder, run):
    for source in sorted(folder.glob("*.xplane.pb*")):
        buckets.put(store, f"{store.prefix}/{run}/plugins/profile/{folder.name}/{source.name}", source)


def without_place(answer):
    """What may differ between a bucket and a directory is where it lies and when it was written."""
    text = json.loads(json.dumps(answer))
    for key in ("session", "version"):
        text.pop(key, None)
    text["lines"].pop("version")
    for host in text["completeness"]["hosts"]:
        if host["format"] != "xplane.pb":  # not hashed in a bucket: that would fetch the object twice
            host.pop("content_hash")
    return text


def wait_for(condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_sessions_are_listed(store):
    fill(store, TWO_HOSTS, "a")
    fill(store, RECOMPILE, "b/deep")
    listed = program.run("ls", "--json", f"{store.bucket}/{store.prefix}").json()
    assert sorted((s["run"], s["name"], s["host_count"]) for s in listed["sessions"]) == [("a", "two_hosts", 2), ("b/deep", "odd_batches", 1)]
    assert program.run("ls", "--json", f"{store.bucket}/{store.prefix}/nothing-there").json()["total"] == 0


def test_a_session_reads_as_from_a_directory(store):
    fill(store, TWO_HOSTS, "a")
    fill(store, RECOMPILE, "b")
    for folder, run in ((TWO_HOSTS, "a"), (RECOMPILE, "b")):
        there = program.inspect(f"{store.bucket}/{store.prefix}/{run}/plugins/profile/{folder.name}")
        here = program.inspect(folder)
        assert without_place(there) == without_place(here)
    one = program.inspect(f"{store.bucket}/{store.prefix}/a/plugins/profile/two_hosts/trainer-0.xplane.pb")
    assert without_place(one) == without_place(program.inspect(TWO_HOSTS / "trainer-0.xplane.pb"))


def test_what_is_not_there_is_named(store):
    done = program.run("inspect", f"{store.bucket}/{store.prefix}/nothing")
    assert done.code == program.EXIT_NOT_FOUND
    assert b"SESSION_NOT_FOUND" in done.err
    scheme = store.bucket.split("://")[0]
    done = program.run("ls", f"{scheme}://no-such-bucket-here/x")
    assert done.code == program.EXIT_NOT_FOUND, done.err
    assert b"BUCKET_NOT_FOUND" in done.err


def test_a_served_bucket_shows_new_replaced_and_deleted_sessions(store):
    fill(store, TWO_HOSTS, "a")
    with program.Server(f"{store.bucket}/{store.prefix}", "--no-cache") as server:
        first = server.json("/api/v1/sessions")["sessions"]
        assert [s["name"] for s in first] == ["two_hosts"]
        place = f"/api/v1/sessions/{first[0]['id']}"
        before = server.json(place)["version"]
        overview = server.json(f"{place}/overview")
        fill(store, RECOMPILE, "b")
        wait_for(lambda: server.json("/api/v1/sessions")["total"] == 2)
        buckets.put(store, f"{store.prefix}/a/plugins/profile/two_hosts/trainer-1.xplane.pb", TWO_HOSTS / "trainer-0.xplane.pb")
        wait_for(lambda: server.json(place)["version"] != before)
        assert server.json(f"{place}/overview") != overview
        for host in ("trainer-0", "trainer-1"):
            buckets.delete(store, f"{store.prefix}/a/plugins/profile/two_hosts/{host}.xplane.pb")
        wait_for(lambda: [s["name"] for s in server.json("/api/v1/sessions")["sessions"]] == ["odd_batches"])


def test_an_upload_goes_into_the_bucket(store, tmp_path):
    archive = tmp_path / "two_hosts.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(TWO_HOSTS, "two_hosts")
    fill(store, RECOMPILE, "b")
    with program.Server(f"{store.bucket}/{store.prefix}", "--no-cache") as server:
        done = program.run("upload", archive, "--server", server.url, "--run", "up", "--json")
        assert done.code == 0, done.err
        result = done.json()["result"]
        assert (result["session_name"], result["hosts_saved"]) == ("two_hosts", 2)
        shown = server.json(f"/api/v1/sessions/{result['session']}")
        assert (shown["run"], shown["host_count"]) == ("up", 2)
    key = f"{store.prefix}/up/plugins/profile/two_hosts/trainer-0.xplane.pb"
    assert buckets.get(store, key) == (TWO_HOSTS / "trainer-0.xplane.pb").read_bytes()


def test_an_upload_into_a_directory_opens_and_resumes(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    source = TWO_HOSTS / "trainer-0.xplane.pb"
    bytes_ = source.read_bytes()
    with program.Server(str(logs), "--no-cache") as server:
        begun = server.request("POST", "/api/v1/uploads", json.dumps({"name": source.name, "size_bytes": len(bytes_), "session": "s1"}),
                           {"content-type": "application/json"})
        assert begun.status == 201, begun.body
        upload = begun.json()["id"]
        part = {"content-type": "application/octet-stream"}
        sent = server.request("PUT", f"/api/v1/uploads/{upload}?offset=0", bytes_[:1000], part)
        assert (sent.status, int(sent.json()["offset_bytes"])) == (200, 1000)
        wrong = server.request("PUT", f"/api/v1/uploads/{upload}?offset=0", bytes_[:1000], part)
        assert (wrong.status, wrong.error_name()) == (409, "UPLOAD_OFFSET")
        plain = server.request("PUT", f"/api/v1/uploads/{upload}?offset=1000", bytes_[1000:2000], {"content-type": "text/plain"})
        assert plain.error_name() == "CONTENT_TYPE_NOT_JSON"
        assert server.json("/api/v1/sessions")["total"] == 0
        done = program.run("upload", source, "--server", server.url, "--resume", upload, "--json")
        assert done.code == 0, done.err
        session = done.json()["result"]["session"]
        assert server.json(f"/api/v1/sessions/{session}")["name"] == "s1"
    assert (logs / "plugins" / "profile" / "s1" / source.name).read_bytes() == bytes_
    assert [p for p in logs.rglob("*") if p.is_file()] == [logs / "plugins" / "profile" / "s1" / source.name]


def test_hostile_archives_leave_nothing(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()

    def tar_of(name, kind=tarfile.REGTYPE, link=""):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, link
            member.size = 4 if kind == tarfile.REGTYPE else 0
            tar.addfile(member, io.BytesIO(b"data") if member.size else None)
        return out.getvalue()

    cases = {"ARCHIVE_PATH_UNSAFE": tar_of("../../escaped.xplane.pb"), "ARCHIVE_ENTRY_KIND": tar_of("s/l.xplane.pb", tarfile.SYMTYPE, "/etc/passwd"),
             "UPLOAD_NO_PROFILE": tar_of("s/notes.txt")}
    with program.Server(str(logs), "--no-cache") as server:
        for name, bytes_ in cases.items():
            archive = tmp_path / "hostile.tar"
            archive.write_bytes(bytes_)
            done = program.run("upload", archive, "--server", server.url)
            assert done.code != 0
            assert name.encode() in done.err, done.err
        assert server.json("/api/v1/sessions")["total"] == 0
    assert not (tmp_path / "escaped.xplane.pb").exists()
    assert not os.path.exists(logs / "plugins")
