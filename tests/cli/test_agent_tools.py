"""The tools for agents on the command line, against what Python makes of the same bytes.

What is expected comes from XProf's recorded answers of the tools beneath (op_profile, hlo_stats,
memory_profile ...) by the rules of XProf's command line, or from the profile itself, read with
protobuf's own classes; never from Strobe.
"""

import collections
import csv
import glob
import gzip
import json
import lzma
import os
import re
import sqlite3
import statistics

import pytest

import profiles
import program

SESSIONS = ["tpu-v6e-4-inference", "gpu-mi300-attention", "gpu-mi300-elementwise",
            "gpu-v100-multi-worker", "gpu-1080ti-julia", "cpu-jax-transformer-4dev",
            "cpu-jax-ring"]
# The ring's profile is a riegeli file, which protobuf does not read.
PLAIN_SESSIONS = SESSIONS[:-1]
EXIT_INTERNAL, EXIT_USAGE, EXIT_PATH, EXIT_INVALID = 1, 2, 3, 4
PS_PER_MS = 1e9


def run_directory(corpus, session):
    return sorted(glob.glob(os.path.join(corpus, "sessions", session, "plugins/profile/*/")))[-1]


def ask(tool, place, *options):
    done = program.run(tool, place, *options)
    assert done.code == 0, (tool, done.text(), done.err.decode("utf-8", "replace"))
    return done.json()


def recorded(corpus, session, tool, **parameters):
    """XProf's answer, of all hosts where it has one; None where it answered an error."""
    goldens = os.path.join(corpus, "xprof_goldens", "2.24.2")
    best = None
    with open(os.path.join(goldens, "MANIFEST.tsv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if (row["session"], row["tool"]) != (session, tool) or row["file"] == "-":
                continue
            if row["status"] != "200" or not row["request"].startswith("/data?"):
                continue
            pairs = dict(p.split("=", 1) for p in row["request"].split("?", 1)[1].split("&"))
            asked = {k: v for k, v in pairs.items()
                     if k not in ("tag", "host", "use_saved_result")}
            if asked != parameters:
                continue
            # One host's answer stands in for all where there is only one host.
            best = row["file"] if best is None or pairs.get("host", "ALL_HOSTS") == "ALL_HOSTS" \
                else best
    if best is None:
        return None
    with gzip.open(os.path.join(goldens, best)) as file:
        body = file.read()
    return json.loads(body) if body else None


def tree_leaves(node, path=""):
    """Ops of an op profile that have time and no child with time, named by their path."""
    name = node.get("name", "")
    children = node.get("children", [])
    if any(time_of(child) > 0 for child in children):
        below = path if name.endswith(" and its duplicate(s)") else (path + "/" + name).strip("/")
        for child in children:
            yield from tree_leaves(child, below)
    elif time_of(node) > 0:
        yield (path + "/" + name).strip("/"), node


def time_of(node):
    return float(node.get("metrics", {}).get("rawTime", 0))


def op_profile_root(corpus, session):
    answer = recorded(corpus, session, "op_profile") or {}
    root = answer.get("byProgram")
    return root if root and time_of(root) > 0 else None


def space_of(corpus, session):
    (path,) = glob.glob(os.path.join(run_directory(corpus, session), "*.xplane.pb"))
    space = profiles.space(lenient=True)
    with open(path, "rb") as file:
        space.ParseFromString(file.read())
    return space


def text(name):
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


@pytest.mark.parametrize("session", SESSIONS)
def test_top_ops_are_those_of_the_op_profile(session, corpus):
    answer = ask("get_top_hlo_ops", run_directory(corpus, session), "--limit=0")
    assert answer["capture"]["files_used"]
    root = op_profile_root(corpus, session)
    if root is None:
        assert answer["top_by_time"] == [] and answer["total_matched"] == 0
        return
    wanted = {}
    for path, node in tree_leaves(root):
        if "xla" in node:
            wanted[path] = wanted.get(path, 0) + time_of(node) / PS_PER_MS
    found = collections.Counter()
    for op in answer["top_by_time"]:
        found[op["name"].split(" [")[0]] += op["total_self_time_ms"]
    assert sorted(found) == sorted(wanted)
    for path, milliseconds in wanted.items():
        assert found[path] == pytest.approx(milliseconds, rel=1e-9), path
    times = [op["total_self_time_ms"] for op in answer["top_by_time"]]
    assert times == sorted(times, reverse=True)
    assert answer["total_self_time_ms_all_records"] == pytest.approx(sum(wanted.values()))
    cut = ask("get_top_hlo_ops", run_directory(corpus, session), "--limit=2")
    assert cut["returned_records"] == min(2, len(times))
    assert cut["truncated"] == (len(times) > 2)


@pytest.mark.parametrize("session", SESSIONS)
def test_categories_sum_to_the_whole(session, corpus):
    root = op_profile_root(corpus, session)
    place = run_directory(corpus, session)
    if root is None:
        done = program.run("get_hlo_op_profile", place)
        assert done.code == EXIT_PATH and done.json()["status"] == "ERROR"
        return
    answer = ask("get_hlo_op_profile", place, "--view=summary")
    assert answer["total_profile_time_ms"] == pytest.approx(time_of(root) / PS_PER_MS, abs=1e-4)
    wanted = collections.Counter()
    for _, node in tree_leaves(root):
        wanted[node.get("xla", {}).get("category", "")] += time_of(node) / PS_PER_MS
    for row in answer["category_summary"]:
        if row["category"] in wanted:
            assert row["total_self_time_ms"] == pytest.approx(wanted[row["category"]], abs=5e-3)
    total = sum(row["total_self_time_ms"] for row in answer["category_summary"])
    assert total == pytest.approx(time_of(root) / PS_PER_MS, rel=1e-3, abs=1e-2)
    tree = ask("get_hlo_op_profile", place, "--view", "tree", "--depth", 1)
    assert tree["tree"]["total_self_time_ms"] == pytest.approx(answer["total_profile_time_ms"])


@pytest.mark.parametrize("session", SESSIONS)
def test_hlo_stats_are_the_recorded_rows(session, corpus):
    answer = ask("get_hlo_stats", run_directory(corpus, session), "--limit=0", "--as-xprof")
    table = recorded(corpus, session, "hlo_stats")
    table = table[0] if isinstance(table, list) else table
    ids = [column["id"] for column in table["cols"]]
    rows = [dict(zip(ids, [cell["v"] for cell in row["c"]])) for row in table.get("rows", [])]
    rows = [row for row in rows if not (row["parent_op_name"] and row["rank"] == 0)]
    assert answer["total_records"] == len(rows)
    found = sorted((r["rank"], r["total_self_time_us"], r["occurrences"], r["bound_by"])
                   for r in answer["records"])
    wanted = sorted((r["rank"], r["total_self_time"], r["occurrences"], r["bound_by"])
                    for r in rows)
    for ours, theirs in zip(found, wanted):
        assert ours == (theirs[0], pytest.approx(theirs[1]), theirs[2], theirs[3])


@pytest.mark.parametrize("session", SESSIONS)
def test_device_information_is_the_rooflines(session, corpus):
    answer = ask("get_device_information", run_directory(corpus, session))
    table = recorded(corpus, session, "roofline_model")[0]
    assert answer["device_type"] == table["p"]["device_type"]
    for name, value in table["p"].items():
        if name.startswith("peak_") and name.endswith("_bw"):
            assert answer[name + "_gibs"] == pytest.approx(float(value))
            assert answer["units"][name + "_gibs"] == "GiB/s"
    assert answer["peak_flop_rate"] == float(table["p"]["peak_flop_rate"])


@pytest.mark.parametrize("session", SESSIONS)
def test_memory_is_the_fullest_allocators(session, corpus):
    answer = ask("get_memory_profile", run_directory(corpus, session))
    profile = recorded(corpus, session, "memory_profile")
    peaks = [a["profileSummary"] for a in (profile or {}).get("memoryProfilePerAllocator",
                                                              {}).values()]
    peaks = [s for s in peaks if int(s.get("peakStats", {}).get("peakBytesInUse", 0)) > 0]
    if not peaks:
        assert answer["peak_memory_usage_gib"] == -1.0 and not answer["measured"]
        assert answer["oom_risk"] == "UNKNOWN"
        return
    fullest = max(peaks, key=lambda s: int(s["peakStats"]["peakBytesInUse"]))
    gib = 2**30
    assert answer["peak_memory_usage_gib"] == round(
        int(fullest["peakStats"]["peakBytesInUse"]) / gib, 2)
    assert answer["memory_capacity_gib"] == round(
        max(int(s["memoryCapacity"]) for s in peaks) / gib, 2)
    assert answer["peak_usage_details"]["fragmentation_percent"] == pytest.approx(
        round(float(fullest["peakStats"].get("fragmentation", 0)) * 100, 2), abs=0.01)


@pytest.mark.parametrize("session", PLAIN_SESSIONS)
def test_events_add_up_as_in_the_file(session, corpus):
    space = space_of(corpus, session)
    durations = collections.defaultdict(list)
    lines = []
    for plane in space.planes:
        for line in plane.lines:
            lines.append((text(plane.name), text(line.name), len(line.events)))
            for event in line.events:
                name = text(plane.event_metadata[event.metadata_id].name)
                durations[text(plane.name), name].append(event.duration_ps)
    place = run_directory(corpus, session)
    inventory = ask("inspect_capture", place)
    assert [(plane["name"], line["name"], line["event_count"])
            for plane in inventory["planes"] for line in plane["lines"]] == lines
    answer = ask("aggregate_xplane_events", place, "--group_by=plane,event")
    assert answer["events_scanned"] == sum(count for _, _, count in lines)
    # Names that are only digits are replaced by the event's message.
    found = {(r["plane"], r["event"]): r for r in answer["aggregates"]}
    for key, values in durations.items():
        if key[1].isdigit():
            continue
        row = found[key]
        assert row["count"] == len(values) and row["total_duration_ps"] == sum(values), key
        assert row["min_duration_ps"] == min(values) and row["max_duration_ps"] == max(values)
        assert row["p50_duration_ps"] == pytest.approx(statistics.median(values))
        assert row["busy_ps"] <= row["total_duration_ps"]
    totals = [row["total_duration_ps"] for row in answer["aggregates"]]
    assert totals == sorted(totals, reverse=True)


def union_ns(spans):
    total, end = 0, None
    for lo, hi in sorted(spans):
        if end is None or lo > end:
            total, end = total + hi - lo, hi
        elif hi > end:
            total, end = total + hi - end, hi
    return total


@pytest.mark.parametrize("session", PLAIN_SESSIONS)
def test_kernels_are_those_on_the_device_lines(session, corpus):
    space = space_of(corpus, session)
    sums, spans = collections.Counter(), []
    for plane in space.planes:
        name = text(plane.name)
        if not name.startswith("/device:"):
            continue
        for line in plane.lines:
            upper = text(line.name).upper()
            if "TPU" in name.upper():
                if upper not in ("XLA OPS", "PALLAS"):
                    continue
            elif any(w in upper for w in ("COUNTER", "MODULES", "OVERLAY", "SYNC FLAG", "SENSOR")):
                continue
            for event in line.events:
                start = line.timestamp_ns + event.offset_ps // 1000
                spans.append((start, start + event.duration_ps // 1000))
                sums[text(plane.event_metadata[event.metadata_id].name)] += event.duration_ps / 1e6
    answer = ask("get_kernel_stats", run_directory(corpus, session), "--include_summary",
                 "--limit=0")
    if not sums:
        assert "info" in answer
        return
    # A start is cut to nanoseconds once with and once without the line's own picoseconds.
    assert answer["total_device_duration_ns"] == pytest.approx(union_ns(spans), rel=1e-4)
    found = {r["kernel_name"]: r["total_duration_us"] for r in answer["kernel_records"]}
    assert sorted(found) == sorted(sums)
    for name, microseconds in sums.items():
        assert found[name] == pytest.approx(microseconds, abs=1e-4)
    assert answer["total_records"] == len(sums)


@pytest.mark.parametrize("session", SESSIONS)
def test_overview_is_the_recorded_one(session, corpus):
    answer = ask("get_overview", run_directory(corpus, session), "--as-xprof")
    properties = {}
    for table in recorded(corpus, session, "overview_page"):
        properties.update(table.get("p", {}))
    summary = answer["performance_summary"]
    for name in ("steptime_ms_average", "device_idle_time_percent", "device_duty_cycle_percent",
                 "host_idle_time_percent", "tc_idle_ms_average"):
        assert summary.get(name) == properties.get(name), name
    for name in ("device_type", "device_core_count", "host_count"):
        assert answer["run_environment"].get(name) == properties.get(name), name
    percent = properties.get("device_idle_time_percent")
    if percent:
        assert answer["performance_values"]["device_idle_time_percent"] == float(percent[:-1])
    kpi = ask("get_kpi_metrics", run_directory(corpus, session), "--as-xprof")
    assert kpi["step_time_ms"] == properties.get("steptime_ms_average", "N/A")
    assert kpi["accelerator_info"]["device_type"] == properties["device_type"]


def test_hlo_text_is_the_recorded_one(corpus):
    place = run_directory(corpus, "tpu-v6e-4-inference")
    modules = ask("list_hlo_modules", place)["modules"]
    assert len(modules) == 4
    for module in modules:
        pattern = os.path.join(glob.escape(os.path.join(
            corpus, "xprof_goldens/2.24.2/tpu-v6e-4-inference/2025_06_01_00_00_00")),
            "graph_viewer.module_name=" + glob.escape(module) + ",type=short_txt.txt.gz")
        (golden,) = glob.glob(pattern)
        with gzip.open(golden) as file:
            wanted = file.read().decode()
        answer = ask("get_hlo_module_content", place, "--module_name", module, "--max_lines=-1",
                     "--as-xprof")
        assert answer["content"].strip() == wanted.strip()
        assert answer["line_count"] == len(wanted.splitlines())
    done = program.run("get_hlo_neighborhood", place, "--instruction_name=all-reduce")
    lines = done.text().splitlines()
    assert lines[0] == "Neighborhood of 'all-reduce' (radius=2):"
    assert [line.split("]")[0].strip() for line in lines[1:]] == ["[dist=0", "[dist=1", "[dist=2"]
    assert " ROOT all-reduce = f32[5,1024,1024,256]" in lines[1]
    graph = ask("get_hlo_neighborhood", place, "--instruction_name=%all-reduce", "--fmt=json",
                "--direction=upstream")
    assert [(e["from"], e["to"]) for e in graph["edges"]] == [("bitcast", "all-reduce"),
                                                              ("param", "bitcast")]


def test_async_overlap_of_a_tpu(corpus):
    """Windows of the one device with a line of its own, and what XProf's command line said."""
    answer = ask("analyze_async_overlap", run_directory(corpus, "tpu-v6e-4-inference"))
    assert answer["status"] == "OK"
    summary = answer["summary"]
    assert (summary["count"], summary["hidden"], summary["partial"], summary["exposed"]) == (
        2395, 1, 8, 2386)
    # XProf adds up doubles.
    assert summary["span_ps"] == pytest.approx(1128484756863960, rel=1e-14)
    assert summary["exposed_ps"] == pytest.approx(1099658106268954, rel=1e-14)
    assert summary["overlap_ratio"] == pytest.approx(0.025544563557167388)
    assert answer["by_plane"]["/device:TPU:1"]["window_source"] == "start_done_pairs"


def test_detectors_say_what_they_looked_at(corpus):
    place = run_directory(corpus, "tpu-v6e-4-inference")
    for tool in ("detect_layout_mismatch_copies", "detect_unfused_reshapes",
                 "detect_unfused_updates", "detect_unnecessary_convert_reduce",
                 "detect_unnecessary_convert_dynamic_scale"):
        answer = ask(tool, place)
        assert answer["detection_state"] in ("DETECTED", "NOT_DETECTED")
        assert answer["modules_evaluated"] == 4
        assert answer["bottlenecks_found"] == bool(answer["inefficient_ops"])
    blind = ask("detect_unfused_reshapes", run_directory(corpus, "gpu-v100-multi-worker"))
    assert blind["detection_state"] == "NOT_EVALUATED"


def test_difference_of_a_session_with_itself_is_none(corpus):
    place = run_directory(corpus, "gpu-mi300-attention")
    other = run_directory(corpus, "gpu-mi300-elementwise")
    done = program.run("diff_sessions", "--baseline_session_id", place, "--optimized_session_id",
                       other)
    assert done.code == 0, done.text()
    answer = done.json()
    assert answer["total_device_duration_delta_us"] == pytest.approx(
        answer["optimized_total_device_duration_us"] - answer["baseline_total_device_duration_us"])
    deltas = [abs(row["delta_duration_us"]) for row in answer["kernel_diffs"]]
    kernels = {kernel["kernel_name"] for session in (place, other)
               for kernel in program.run("get_kernel_stats", session, "--limit=0").json()}
    assert len(deltas) == min(20, len(kernels)) > 0
    assert deltas == sorted(deltas, reverse=True)
    same = program.run("diff_sessions", place, place).json()
    assert same["total_device_duration_delta_us"] == 0
    assert {row["delta_duration_us"] for row in same["kernel_diffs"]} == {0}


def test_sessions_are_named_in_all_forms(corpus, tmp_path):
    run = run_directory(corpus, "gpu-mi300-attention")
    logdir = os.path.join(corpus, "sessions", "gpu-mi300-attention")
    (file,) = glob.glob(os.path.join(run, "*.xplane.pb"))
    name = os.path.basename(run.rstrip("/"))
    forms = [[run], [logdir], [file], ["--session_dir", run], [f"--source={run}"],
             ["--logdir", logdir], [name, "--logdir", logdir],
             [name.replace("_", ""), "--logdir", logdir]]
    answers = [ask("get_hosts", *form)["hosts"] for form in forms]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0]["hostname"] == "tw003"


def test_errors_are_json_with_reasons(corpus, tmp_path):
    run = run_directory(corpus, "gpu-mi300-attention")
    for arguments, code, reason in (
            (["get_overview", os.path.join(tmp_path, "none")], EXIT_PATH, "PATH_ERROR"),
            (["get_overview"], EXIT_USAGE, "USAGE_ERROR"),
            (["diff_sessions", run], EXIT_USAGE, "USAGE_ERROR"),
            (["list_xplane_events", run, "--plane_regex=("], EXIT_INVALID, "INVALID_VALUE"),
            (["list_xplane_events", run, "--filter=color = red"], EXIT_INVALID, "INVALID_VALUE"),
            (["get_hlo_op_profile", run, "--view=upside_down"], EXIT_INVALID, "INVALID_VALUE"),
            (["get_hlo_text", run, "--module_name=none"], EXIT_INVALID, "INVALID_VALUE")):
        done = program.run(*arguments)
        assert done.code == code, (arguments, done.text())
        answer = done.json()
        assert (answer["status"], answer["reason"]) == ("ERROR", reason)
        assert done.err.decode().startswith(reason + ": ")


def test_long_answers_go_to_a_file(tmp_path):
    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "x" * 5000})
    profiles.line(plane, "main", [(1, i * 1000, 10) for i in range(2500)])
    path = profiles.save(space, tmp_path)
    answer = ask("list_xplane_events", path, "--max_events=0")
    assert answer["status"] == "SAVED_TO_FILE" and answer["size_bytes"] > 10 * 2**20
    try:
        with open(answer["file_path"], encoding="utf-8") as file:
            assert json.load(file)["total_matched"] == 2500
    finally:
        os.remove(answer["file_path"])


def test_events_database_is_a_file_for_other_programs(corpus, tmp_path):
    place = run_directory(corpus, "gpu-mi300-attention")
    target = tmp_path / "events.sqlite"
    done = program.run("create_events_db", place, "--output_path", str(target))
    assert done.code == 0, done.text()
    assert done.json()["path"] == str(target)
    with sqlite3.connect(target) as database:
        rows = database.execute("SELECT stream_id, count(*), sum(self_time_ns) FROM Events "
                                "WHERE category = 'device' GROUP BY 1 ORDER BY 1").fetchall()
        # As XProf's own events database has them.
        assert rows == [(16, 87, 3763002), (17, 18, 82560)]
        total = database.execute("SELECT count(*) FROM Events").fetchone()[0]
    asked = program.run("query_events_db", place, "SELECT count(*) AS n FROM Events").json()
    assert asked["rows"] == [{"n": total}]
    again = program.run("create_events_db", place, "--output_path", str(target))
    assert again.code == EXIT_INVALID and again.json()["code"] == "FILE_EXISTS"


def test_query_that_writes_is_refused(corpus):
    place = run_directory(corpus, "gpu-mi300-attention")
    done = program.run("query_events_db", place, "PRAGMA writable_schema=1")
    assert done.code == EXIT_INVALID
    assert done.json()["code"] == "SQL_NOT_READ_ONLY"
    assert done.json()["hint"]


def test_profile_goes_out_and_in_again(corpus, tmp_path):
    place = run_directory(corpus, "gpu-mi300-attention")
    (path,) = glob.glob(os.path.join(place, "*.xplane.pb"))
    copy = tmp_path / os.path.basename(path)
    done = program.run("get_xspace_proto", place, "--output_path", str(copy))
    assert done.code == 0, done.text()
    with open(path, "rb") as file:
        assert copy.read_bytes() == file.read()
    logdir = tmp_path / "logs"
    upload = ("upload_trace", str(copy), "--logdir", str(logdir), "--run_name", "imported")
    assert program.run(*upload).json()["status"] == "SUCCESS"
    there = program.run("get_hosts", str(logdir)).json()
    assert there["hosts"] == program.run("get_hosts", place).json()["hosts"]
    assert program.run(*upload).json()["code"] == "FILE_EXISTS"
    assert program.run(*upload, "--force").code == 0


@pytest.mark.parametrize("name", ["../out", ".hidden", "a/b", "x" * 300])
def test_a_run_is_not_a_way_out_of_the_log_directory(corpus, tmp_path, name):
    (path,) = glob.glob(os.path.join(run_directory(corpus, "gpu-mi300-attention"), "*.xplane.pb"))
    done = program.run("upload_trace", path, "--logdir", str(tmp_path), "--run_name=" + name)
    assert done.code == EXIT_INVALID and done.json()["code"] == "RUN_NAME_INVALID"
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_profile_is_not_uploaded(tmp_path):
    text = tmp_path / "h.xplane.pb"
    text.write_text("no profile at all")
    done = program.run("upload_trace", str(text), "--logdir", str(tmp_path / "logs"))
    assert done.code == EXIT_INVALID and done.json()["code"] == "XPLANE_NOT_A_PROFILE"
    assert not (tmp_path / "logs").exists()


def test_skills_name_every_tool_and_keep_what_is_there(tmp_path):
    target = tmp_path / "skills"
    assert program.run("install_skills", "--target_dir", str(target)).code == 0
    tools = (target / "references" / "tools.md").read_text()
    for name in ("get_overview", "query_events_db", "detect_unfused_updates", "hlo_stats"):
        assert f"\n### {name}\n" in tools
    skill = target / "SKILL.md"
    for named in re.findall(r"`((?:get|list|check|analyze|query|inspect|diff|aggregate)_[a-z_]+)",
                            skill.read_text()):
        assert f"### {named}\n" in tools, named
    skill.write_text("mine")
    kept = program.run("install_skills", "--target_dir", str(target)).json()
    assert kept["installed_files"] == [] and skill.read_text() == "mine"
    assert program.run("install_skills", "--target_dir", str(target), "--force").code == 0
    assert skill.read_text() != "mine"


@pytest.fixture(scope="module", params=["v5e", "v6e"])
def llo(request, corpus, tmp_path_factory):
    """A profile whose metadata carries compiled kernels, and what XProf says about them."""
    directory = tmp_path_factory.mktemp("llo-" + request.param)
    place = os.path.join(corpus, "llo", request.param)
    path = directory / "kernels.xplane.pb"
    with lzma.open(os.path.join(place, "all_kernels.xplane.pb.xz")) as file:
        path.write_bytes(file.read())
    with lzma.open(os.path.join(place, "xprof_2.24.2_llo_answers.json.xz")) as file:
        return str(path), json.load(file)


def test_llo_analysis_is_that_of_xprof(llo):
    path, recorded_answers = llo
    wanted = recorded_answers["analyze_llo"]
    answer = ask("get_llo_analysis", path, "--as-xprof")
    for field in ("success", "total_modules", "total_instructions", "unique_registers",
                  "opcode_histogram", "execution_unit_summary"):
        assert answer[field] == wanted[field], field
    theirs = {module["kernel_name"]: module for module in wanted["modules"]}
    assert len(answer["modules"]) == len(theirs)
    for module in answer["modules"]:
        for field, value in module.items():
            assert value == theirs[module["kernel_name"]][field], (module["kernel_name"], field)
    # Ours counts what decides about loops and predicated parts too, as XProf's own `opcodes` does.
    whole = {module["hlo_instruction_name"]: module["total_instructions"]
             for module in ask("get_llo_analysis", path)["modules"]}
    for op, static in recorded_answers["opcodes"].items():
        assert whole[op] == static["data"]["total_instructions"], op


def test_llo_schedule_is_that_of_xprof(llo):
    path, recorded_answers = llo
    ops = ask("get_llo_static_analysis", path, "--mode=list_ops")
    assert ops["data"] == recorded_answers["list_ops"]["data"]
    for op, wanted in recorded_answers["region_tree"].items():
        answer = ask("get_llo_static_analysis", path, "--mode=region_tree", "--hlo_op=" + op)
        assert answer["data"] == wanted["data"], op
        assert answer["semantics"] == wanted["semantics"]
    for op, wanted in recorded_answers["opcodes"].items():
        data = ask("get_llo_static_analysis", path, "--mode=opcodes", "--hlo_op=" + op)["data"]
        assert data["total_instructions"] == wanted["data"]["total_instructions"]
        assert sorted(map(str, data["categories"])) == sorted(map(str, wanted["data"]["categories"]))
        assert data["top_opcodes"] == wanted["data"]["top_opcodes"]
    for op, wanted in recorded_answers["bundle_util"].items():
        data = ask("get_llo_static_analysis", path, "--mode=bundle_util", "--hlo_op=" + op)["data"]
        assert data["total_bundles"] == wanted["data"]["total_bundles"]
        assert data["bundles"] == wanted["data"]["bundles"], op


# What ours says beyond XProf's answer.
LLO_OWN_FIELDS = {"truncated", "stall_analysis", "top_stalls", "stacks", "slots_per_bundle",
                  "unscheduled_values", "hlo_module_name", "hlo_module_id"}


@pytest.mark.parametrize("mode", ["register_pressure", "spills", "bdi_stalls",
                                  "source_for_bundle"])
def test_llo_mode_is_that_of_xprof(llo, mode):
    path, recorded_answers = llo
    for op, wanted in recorded_answers[mode].items():
        bundle = wanted["data"].get("bundle", 0)
        data = ask("get_llo_static_analysis", path, "--mode=" + mode, "--hlo_op=" + op,
                   f"--bundle={bundle}")["data"]
        for field in set(data) - set(wanted["data"]):
            assert field in LLO_OWN_FIELDS, field
        for field, theirs in wanted["data"].items():
            ours = data[field]
            if field == "summary":
                ours = {name: ours[name] for name in theirs}
            assert ours == theirs, (op, field)


def test_llo_target_is_that_of_xprof(llo):
    path, recorded_answers = llo
    wanted = recorded_answers["target_info"]["data"]
    op = wanted["hlo_instruction_name"] or "fusion.1"
    data = ask("get_llo_static_analysis", path, "--mode=target_info", "--hlo_op=" + op)["data"]
    assert data["key_fields"] == wanted["key_fields"]
    assert data["catalog_only_fields"] == wanted["catalog_only_fields"]


@pytest.fixture(scope="module")
def llo_dump(corpus, tmp_path_factory):
    """A folder as --xla_jf_dump_to fills it, of one program."""
    directory = tmp_path_factory.mktemp("dump")
    for path in glob.glob(os.path.join(corpus, "llo/v5e/softmax/*.llo_module.pb.xz")):
        with lzma.open(path) as file:
            (directory / os.path.basename(path)[:-len(".xz")]).write_bytes(file.read())
    return directory


def test_llo_of_a_dump_is_that_of_the_profile(llo_dump, corpus, tmp_path):
    with lzma.open(os.path.join(corpus, "llo/v5e/xprof_2.24.2_llo_answers.json.xz")) as file:
        recorded_answers = json.load(file)
    theirs = {m["hlo_instruction_name"]: m for m in recorded_answers["analyze_llo"]["modules"]
              if m["kernel_name"].startswith("softmax/") and m["hlo_instruction_name"]}
    profile = os.path.join(run_directory(corpus, "cpu-jax-ring"))
    file = str(llo_dump / "reduce_max.7.llo_module.pb")
    # The folder alone; the folder beside a session; a single file; the folder without a session.
    for arguments in ([str(llo_dump)], [profile, "--xla-dump-to", str(llo_dump)],
                      ["--xla_dump_to", str(llo_dump)]):
        answer = ask("get_llo_analysis", *arguments, "--as-xprof")
        modules = {m["hlo_instruction_name"]: m for m in answer["modules"]}
        for name, wanted in theirs.items():
            assert modules[name]["opcode_histogram"] == wanted["opcode_histogram"]
    assert ask("get_llo_analysis", file)["total_modules"] == 1
    wanted = recorded_answers["register_pressure"]["reduce_max.7"]["data"]
    data = ask("get_llo_static_analysis", file, "--mode=register_pressure")["data"]
    assert data["peak_by_register_type"] == wanted["peak_by_register_type"]


def test_a_damaged_dump_is_an_error_that_names_the_file(llo_dump, tmp_path):
    whole = (llo_dump / "reduce_max.7.llo_module.pb").read_bytes()
    (tmp_path / "cut.llo_module.pb").write_bytes(whole[:len(whole) // 2])
    done = program.run("get_llo_analysis", str(tmp_path))
    assert done.code == EXIT_PATH
    assert (done.json()["code"], done.json()["where"]) == ("LLO_DAMAGED", "cut")


def test_llo_that_is_not_there_names_the_flag_that_records_it(corpus):
    answer = ask("get_llo_analysis", run_directory(corpus, "tpu-v6e-4-inference"))
    assert answer["status"] == "UNAVAILABLE" and answer["reason"] == "LLO_DATA_ABSENT"
    assert answer["required_flags"] == ["--xla_xprof_register_llo_debug_info=true"]


def test_llo_modes_and_kernels_that_are_not_known_are_errors(llo):
    path, _ = llo
    done = program.run("get_llo_static_analysis", path, "--mode=nothing")
    assert done.code == EXIT_INVALID and done.json()["code"] == "LLO_MODE_UNKNOWN"
    done = program.run("get_llo_static_analysis", path, "--hlo_op=nothing")
    assert done.code == EXIT_PATH and done.json()["code"] == "LLO_OP_UNKNOWN"
    text = ask("get_llo_debug_string", path, "--kernel_name=softmax/TLP")["debug_string"]
    assert text.startswith("kernel softmax/TLP\n") and "OPCODE_VECTOR" in text
