"""two-hosts: two processes train together, and the second is always late.

    python two_hosts.py LOG_DIR FACTS.json PROCESS COORDINATOR     (twice: PROCESS 0 and 1)

Each process needs a host name of its own that resolves.

Planted: 12 `train` steps; process 1 spends LAG_MS in `slow_preprocessing` at the start of every
step and process 0 nothing, so the wait shows up on host 0, in the all-reduce, although host 1
is to blame.
"""

import sys
import time

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import model
import window

STEPS = 12
LAG_MS = 25
ROWS = 32  # per process


def main(log_dir, facts_path, process, coordinator):
    process = int(process)
    jax.distributed.initialize(coordinator, num_processes=2, process_id=process)
    mesh = Mesh(np.array(jax.devices()), ("data",))
    split = NamedSharding(mesh, PartitionSpec("data"))
    whole = NamedSharding(mesh, PartitionSpec())
    weights, loss = model.perceptron()
    weights = [jax.make_array_from_process_local_data(whole, np.asarray(w)) for w in weights]
    batch = [jax.make_array_from_process_local_data(split, part)
             for part in model.perceptron_batch(np.random.default_rng(process), ROWS)]
    compiled = model.train_step(loss).lower(weights, *batch).compile()
    for _ in range(2):
        weights, value = compiled(weights, *batch)
        value.block_until_ready()

    facts = window.Facts("two-hosts", "two_hosts", "train", lag_ms=LAG_MS if process else 0,
                         process_index=process, coordinator=process == 0,
                         model="perceptron 128-256-256-1, float32, batch 32 per host")
    with window.capture(log_dir, facts):
        for number in range(STEPS):
            with facts.step(number, planted_lag_ms=LAG_MS if process else 0):
                if process:
                    with jax.profiler.TraceAnnotation("slow_preprocessing", planted_ms=LAG_MS):
                        time.sleep(LAG_MS / 1000)
                weights, value = compiled(weights, *batch)
                value.block_until_ready()
    facts.expect_annotation("slow_preprocessing", STEPS * process, STEPS * process * LAG_MS)
    facts.expect_module("jit_train_step", STEPS)
    facts.expect_operations(compiled, "all-reduce", STEPS)
    facts.write(facts_path)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
