"""trace-only: three Python threads that work side by side; little else.

    python threads.py LOG_DIR FACTS.json

Planted: thread k does 5 tasks `task_k` of (k + 1) * 4 ms; the main thread runs 5 `train` steps
meanwhile. Of this session only JAX's trace.json.gz is kept, as some archives do.
"""

import sys
import threading
import time

import jax
import jax.numpy as jnp

import window

THREADS = 3
TASKS = 5
UNIT_MS = 4


def work(number, started):
    started.wait()
    for task in range(TASKS):
        with jax.profiler.TraceAnnotation(f"task_{number}", task=task):
            time.sleep((number + 1) * UNIT_MS / 1000)


def main(log_dir, facts_path):
    multiply = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.eye(96) * 0.5
    multiply(x).block_until_ready()
    facts = window.Facts("trace-only", "threads", "train", threads=THREADS, tasks=TASKS,
                         unit_ms=UNIT_MS)
    started = threading.Barrier(THREADS + 1)
    workers = [threading.Thread(target=work, args=(n, started)) for n in range(THREADS)]
    for worker in workers:
        worker.start()
    with window.capture(log_dir, facts):
        started.wait()
        for number in range(TASKS):
            with facts.step(number):
                multiply(x).block_until_ready()
                time.sleep(UNIT_MS / 1000)
        for worker in workers:
            worker.join()
    for number in range(THREADS):
        facts.expect_annotation(f"task_{number}", TASKS, TASKS * (number + 1) * UNIT_MS)
    facts.write(facts_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
