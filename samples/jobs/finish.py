"""Turns one captured session into a sample: finish.py CAPTURED_DIR SAMPLE_DIR.

Copies the profiles, in the form that this sample is to show; compares them with the facts that
the job planted; counts them with the independent reader of tests/python; looks for texts of
this machine; writes TRUTH.json and TRUTH.md. Any disagreement ends it with an error and leaves
the old sample as it was.
"""

import ast
import gzip
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(REPOSITORY, "tests", "python"))

import make_expected  # noqa: E402
import sample_truth  # noqa: E402
import xplane_reader  # noqa: E402

TRUTH_FORMAT = 1
SIZE_LIMIT_BYTES = 2_000_000
JOBS = {"input-stall": "input_stall.py", "four-devices": "four_devices.py",
        "two-hosts": "two_hosts.py", "recompile": "recompile.py", "trace-only": "threads.py",
        "idle": "idle.py"}
PACKED = {"recompile"}  # kept as .xplane.pb.gz only
TRACE_ONLY = {"trace-only"}  # kept as .trace.json.gz only


def keep_files(sample, host, captured, target):
    """Copies what the sample keeps of one host; returns the names."""
    kept = []
    xplane, trace = host + ".xplane.pb", host + ".trace.json.gz"
    if sample in PACKED:
        with open(os.path.join(captured, xplane), "rb") as file:
            data = gzip.compress(file.read(), compresslevel=9, mtime=0)
        with open(os.path.join(target, xplane + ".gz"), "wb") as file:
            file.write(data)
        return [xplane + ".gz"]
    for name in [trace] if sample in TRACE_ONLY else [xplane, trace]:
        shutil.copyfile(os.path.join(captured, name), os.path.join(target, name))
        kept.append(name)
    return kept


def check_bytes(path):
    data = xplane_reader.read_bytes(path)
    found = sample_truth.leaks(data, REPOSITORY, *sample_truth.own_words())
    if found:
        sys.exit(f"finish: {os.path.basename(path)} tells of this machine: {found}")
    if os.path.getsize(path) > SIZE_LIMIT_BYTES:
        sys.exit(f"finish: {path} is larger than {SIZE_LIMIT_BYTES} bytes")


def finish_host(sample, facts, captured, target):
    xplane = os.path.join(captured, facts["host"] + ".xplane.pb")
    observation = sample_truth.observe(xplane_reader.read(xplane))
    problems = sample_truth.disagreements(facts, observation)
    if problems:
        sys.exit(f"finish: {sample}, {facts['host']}: " + "; ".join(problems))
    record = {key: facts[key] for key in (
        "host", "process_id", "local_device_count", "planted", "window_us", "steps",
        "annotations", "modules", "operations", "compilations") if key in facts}
    record["metadata_modules"] = observation["modules"]
    record["operation_totals"] = {
        name: {"events": count, "total_ps": total}
        for name, (count, total) in sorted(observation["operations"].items())}
    record["files"] = {}
    for name in keep_files(sample, facts["host"], captured, target):
        check_bytes(os.path.join(target, name))
        record["files"][name] = make_expected.expect_file(os.path.join(target, name))
    return record


def planted_sentence(job):
    """The paragraph of the job's description that begins with `Planted:`, with its numbers."""
    with open(os.path.join(HERE, job), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    paragraphs = ast.get_docstring(tree).split("\n\n")
    text = next(part for part in paragraphs if part.startswith("Planted:"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id.endswith("_MS"):
            if isinstance(node.value, ast.Constant):
                text = text.replace(node.targets[0].id, f"{node.value.value} ms")
    return text


def truth_text(truth):
    lines = [f"# {truth['sample']}: what is known to be in this profile", "",
             planted_sentence(os.path.basename(truth["job"])), "",
             f"Made by `{truth['job']}` with jax {truth['jax']} on Python {truth['python']}; CPU "
             f"devices in all: {truth['device_count']}.",
             "Times are by the program's own clock, counts by an independent reader. TRUTH.json "
             "has all of it.",
             "", "| host | file | bytes | events |", "|---|---|---|---|"]
    for host in truth["hosts"]:
        for name, file in host["files"].items():
            lines.append(f"| {host['host']} | {name} | {file['size_bytes']} | {file['events']} |")
    lines.append("")
    for host in truth["hosts"]:
        if "steps" not in host:
            continue
        took = [step["duration_us"] / 1000 for step in host["steps"]["items"]]
        slow = sorted(host["steps"]["items"], key=lambda s: -s["duration_us"])[:4]
        shown = ", ".join(f"{s['number']} ({s['duration_us'] / 1000:.1f} ms)" for s in slow)
        lines += [f"- {host['host']}: {len(took)} `{host['steps']['annotation']}` steps, "
                  f"median {sorted(took)[len(took) // 2]:.1f} ms; slowest: {shown}."]
        for name, operation in host["operations"].items():
            total = host["operation_totals"][name]
            lines.append(f"- {host['host']}: `{name}` ran {operation['events']} times, "
                         f"{total['total_ps'] / 1e9:.1f} ms in all.")
    return "\n".join(lines).rstrip() + "\n"


def main(captured_dir, sample_dir):
    sample = os.path.basename(sample_dir)
    facts = []
    for number in range(2):
        path = os.path.join(captured_dir, f"facts-{number}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                facts.append(json.load(file))
    session = facts[0]["session"]
    captured = os.path.join(captured_dir, "log", "plugins", "profile", session)
    staged = os.path.join(captured_dir, "sample")
    target = os.path.join(staged, "plugins", "profile", session)
    os.makedirs(target)
    truth = {"format": TRUTH_FORMAT, "sample": sample, "job": "samples/jobs/" + JOBS[sample],
             "session": session, "device_count": facts[0]["device_count"],
             **{key: facts[0][key] for key in ("jax", "jaxlib", "python")},
             "hosts": [finish_host(sample, f, captured, target) for f in facts]}
    with open(os.path.join(staged, "TRUTH.json"), "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=1)
        file.write("\n")
    with open(os.path.join(staged, "TRUTH.md"), "w", encoding="utf-8") as file:
        file.write(truth_text(truth))
    shutil.rmtree(sample_dir, ignore_errors=True)
    shutil.copytree(staged, sample_dir)
    print(f"  {sample}: {sum(len(h['files']) for h in truth['hosts'])} file(s)")


if __name__ == "__main__":
    main(*sys.argv[1:])
