"""input-stall: training whose input pipeline comes late by known times at known steps.

    python input_stall.py LOG_DIR FACTS.json

Planted: 24 `train` steps; each waits PACE_MS in `load_batch`, and steps 6, 13 and 20 wait 40,
60 and 80 ms more there. `load_batch` carries the step and the planted wait as its stats.
"""

import sys
import time

import jax
import numpy as np

import model
import window

STEPS = 24
PACE_MS = 3
STALLS_MS = {6: 40, 13: 60, 20: 80}
ROWS = 64


def main(log_dir, facts_path):
    weights, loss = model.perceptron()
    step = model.train_step(loss)
    rng = np.random.default_rng(3)
    for _ in range(3):
        weights, value = step(weights, *model.perceptron_batch(rng, ROWS))
    value.block_until_ready()

    facts = window.Facts("input-stall", "training", "train", pace_ms=PACE_MS,
                         stalls_ms=STALLS_MS, model="perceptron 128-256-256-1, float32, batch 64")
    with window.capture(log_dir, facts):
        for number in range(STEPS):
            wait_ms = PACE_MS + STALLS_MS.get(number, 0)
            with facts.step(number, planted_wait_ms=wait_ms,
                            planted_stall_ms=STALLS_MS.get(number, 0)):
                with jax.profiler.TraceAnnotation(
                        "load_batch", batch=number, planted_wait_ms=wait_ms):
                    time.sleep(wait_ms / 1000)
                    batch = model.perceptron_batch(rng, ROWS)
                weights, value = step(weights, *batch)
                value.block_until_ready()
    facts.expect_annotation("load_batch", STEPS, STEPS * PACE_MS + sum(STALLS_MS.values()))
    facts.expect_module("jit_train_step", STEPS)
    facts.write(facts_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
