"""Compares a sample's profile with what its job says it planted.

Used by samples/jobs/finish.py when a sample is made and by test_samples.py ever after:

    observation = observe(xplane_reader.read(path))
    problems = disagreements(host_facts, observation)     # [] when all that was planted shows

`observe` reads with protobuf's own classes only; the facts come from the job's own clock and
from the compiler. `leaks` lists what names the machine that made a profile. Cost: a few
milliseconds per thousand events.
"""

import getpass
import os
import re
import socket
import sys
import tempfile

import xplane_reader

PICOSECONDS_PER_MS = 1_000_000_000
# The step event lies inside the program's own measurement, and nearly fills it.
STEP_SLACK_US = 3000
COMPILE_EVENT = "backend_compile_and_load"
JOB_FOLDER = b"/opt/job/"


class Event:
    """One event with its names resolved and its times absolute."""

    def __init__(self, plane, line, raw):
        self.name = xplane_reader.text(plane.event_metadata[raw.metadata_id].name)
        self.start_ps = line.timestamp_ns * 1000 + raw.offset_ps
        self.duration_ps = raw.duration_ps
        self.end_ps = self.start_ps + raw.duration_ps
        self.stats = dict(xplane_reader.named_stats(plane, raw.stats))


def observe(space):
    """What the profile shows: steps, annotations, operations, modules, devices, compilations."""
    events, modules, process_ids = [], [], set()
    for plane in space.planes:
        process_ids.update(v for k, v in xplane_reader.named_stats(plane, plane.stats)
                           if k == "process_id")
        if plane.name == "/host:metadata":
            modules = sorted(entry.name for entry in plane.event_metadata.values())
        for line in plane.lines:
            events += [Event(plane, line, raw) for raw in line.events]
    operations, per_program, devices = {}, {}, set()
    for event in events:
        if "hlo_op" not in event.stats or event.name.startswith("end: "):
            continue
        count, total = operations.get(event.name, (0, 0))
        operations[event.name] = (count + 1, total + event.duration_ps)
        key = (event.stats["hlo_module"], event.stats["program_id"])
        counts = per_program.setdefault(key, {})
        counts[event.name] = counts.get(event.name, 0) + 1
        devices.add(event.stats.get("device_ordinal"))
    executions = {}
    for (module, _), counts in per_program.items():
        executions[module] = executions.get(module, 0) + max(counts.values())
    return {"hostnames": list(space.hostnames), "process_ids": sorted(process_ids),
            "modules": modules, "executions": executions, "operations": operations,
            "devices": sorted(devices), "events": events}


def steps_of(observation, annotation):
    found = [e for e in observation["events"] if e.name == annotation and "step_num" in e.stats]
    return sorted(found, key=lambda e: e.stats["step_num"])


def _step_problems(facts, observation):
    if "steps" not in facts:
        return
    planted = facts["steps"]["items"]
    found = steps_of(observation, facts["steps"]["annotation"])
    if [e.stats["step_num"] for e in found] != [s["number"] for s in planted]:
        yield f"steps {[e.stats['step_num'] for e in found]} instead of those planted"
        return
    for step, event in zip(planted, found):
        late_us = step["duration_us"] - event.duration_ps / 1e6
        if not -50 <= late_us <= STEP_SLACK_US:
            yield (f"step {step['number']}: {step['duration_us']} us by the program's clock, "
                   f"{event.duration_ps / 1e6:.0f} us in the profile")
        waits_ms = max(step.get("planted_wait_ms", 0), step.get("planted_lag_ms", 0))
        if event.duration_ps < waits_ms * PICOSECONDS_PER_MS:
            yield f"step {step['number']} is shorter than the {waits_ms} ms planted in it"


def _compile_problems(facts, observation):
    if "steps" not in facts:
        return
    compiled = sorted((e for e in observation["events"] if e.name == COMPILE_EVENT),
                      key=lambda e: e.start_ps)
    wanted = [c["step"] for c in facts["compilations"]]
    where = []
    for event in compiled:
        where += [s.stats["step_num"] for s in steps_of(observation, facts["steps"]["annotation"])
                  if s.start_ps <= event.start_ps and event.end_ps <= s.end_ps]
    if where != wanted or len(compiled) != len(wanted):
        yield f"{len(compiled)} compilations, in the steps {where} instead of {wanted}"


def disagreements(facts, observation):
    """Sentences about all that was planted and does not show; empty when all is well."""
    problems = []
    if observation["hostnames"] != [facts["host"]]:
        problems.append(f"host names {observation['hostnames']} instead of {facts['host']}")
    if observation["process_ids"] != [facts["process_id"]]:
        problems.append(f"process {observation['process_ids']}, not {facts['process_id']}")
    problems += _step_problems(facts, observation)
    problems += _compile_problems(facts, observation)
    for name, wanted in facts["annotations"].items():
        found = [e for e in observation["events"] if e.name == name]
        total_ms = sum(e.duration_ps for e in found) / PICOSECONDS_PER_MS
        if len(found) != wanted["count"] or total_ms < wanted["total_at_least_ms"]:
            problems.append(f"{name}: {len(found)} events of {total_ms:.1f} ms, planted {wanted}")
    for module in facts["modules"]:
        found = observation["executions"].get(module["name"], 0)
        if found != module["executions"]:
            problems.append(f"{module['name']} ran {found} times, not {module['executions']}")
    for name, wanted in facts["operations"].items():
        found = observation["operations"].get(name, (0, 0))[0]
        if found != wanted["events"]:
            problems.append(f"operation {name}: {found} events instead of {wanted['events']}")
    if facts["modules"] and len(observation["devices"]) != facts["local_device_count"]:
        problems.append(f"devices {observation['devices']}, not {facts['local_device_count']}")
    return problems


def own_words():
    """What would name this machine, its user or its folders if it were found in a profile."""
    words = [os.path.expanduser("~"), tempfile.gettempdir(), getpass.getuser() + "@",
             os.path.realpath(sys.prefix)]
    if len(socket.gethostname()) >= 4:  # a shorter name is found in any data by chance
        words.append(socket.gethostname())
    return [word for word in words if len(word) > 1]


def leaks(data, *forbidden):
    """Words and paths in `data` that tell where it was made: nothing but the job's own folder."""
    words = ["site-packages", "dist-packages", "/tmp/", "/home/", *forbidden]
    found = sorted({word for word in words if word.encode() in data})
    # C++ sources are left out: they are those that the released jaxlib was built from.
    for path in set(re.findall(rb"(?:/[\w.+-]+){2,}\.(?:py|so|json|pb)\b", data)):
        if not path.startswith(JOB_FOLDER):
            found.append(path.decode())
    return found
