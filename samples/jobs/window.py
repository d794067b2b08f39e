"""Shared by the sample jobs: one profiled window, and the facts that the job planted in it.

    facts = window.Facts("input-stall", session="training", annotation="train")
    with window.capture(log_dir, facts):
        for number in range(24):
            with facts.step(number, planted_stall_ms=40 if number == 6 else 0):
                ...
    facts.write("facts.json")

Facts come from the program (its own clock, its own constants, what the compiler says of its
modules), never from the profile: the profile is what they are to be compared with.
"""

import contextlib
import json
import os
import platform
import re
import socket
import time

import jax
import jaxlib


class Facts:
    """What a job knows to be true of its profile."""

    def __init__(self, sample, session, annotation=None, **planted):
        self.session = session
        self._annotation = annotation
        self._steps = []
        self._record = {
            "sample": sample, "session": session, "host": socket.gethostname(),
            "process_id": os.getpid(), "jax": jax.__version__, "jaxlib": jaxlib.__version__,
            "python": platform.python_version(), "device_count": jax.device_count(),
            "local_device_count": jax.local_device_count(), "planted": planted,
            "annotations": {}, "modules": [], "operations": {}, "compilations": []}

    @contextlib.contextmanager
    def step(self, number, **planted):
        """One annotated training step, timed by the program's own clock."""
        began_ns = time.perf_counter_ns()
        with jax.profiler.StepTraceAnnotation(self._annotation, step_num=number):
            yield
        took_us = (time.perf_counter_ns() - began_ns) / 1000
        self._steps.append({"number": number, "duration_us": round(took_us), **planted})

    def expect_annotation(self, name, count, total_at_least_ms=0):
        """So many events of this name, and at least so much time in them."""
        self._record["annotations"][name] = {
            "count": count, "total_at_least_ms": total_at_least_ms}

    def expect_module(self, name, executions):
        self._record["modules"].append({"name": name, "executions": executions})

    def expect_compilation(self, step, shape):
        self._record["compilations"].append({"step": step, "shape": list(shape)})

    def expect_operations(self, compiled, opcode, executions):
        """Each instruction of this opcode in a compiled program runs so many times."""
        found = re.findall(rf"^\s*(?:ROOT )?%?([\w.-]+) = .* {opcode}\(", compiled.as_text(),
                           re.MULTILINE)
        if not found:
            raise AssertionError(f"the compiled program has no {opcode}")
        for name in found:
            self._record["operations"][name] = {"opcode": opcode, "events": executions}

    def set_window(self, seconds):
        self._record["window_us"] = round(seconds * 1e6)

    def write(self, path):
        if self._annotation:
            self._record["steps"] = {"annotation": self._annotation, "items": self._steps}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._record, file, indent=1)


@contextlib.contextmanager
def capture(log_dir, facts):
    """Profiles the block. No Python tracer: it would record paths of the interpreter."""
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level = 2
    options.python_tracer_level = 0
    options.session_id = facts.session
    jax.profiler.start_trace(log_dir, profiler_options=options)
    began = time.perf_counter()
    try:
        yield
    finally:
        facts.set_window(time.perf_counter() - began)
        jax.profiler.stop_trace()
