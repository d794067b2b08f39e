"""recompile: batches of changing size make the compiler run in the middle of training.

    python recompile.py LOG_DIR FACTS.json

Planted: 20 `train` steps of 64 rows; steps 5, 9 and 15 have 48, 40 and 56 rows, sizes not met
before, so jit_train_step is compiled once in each. Step 12 has 48 rows again and is not.
"""

import sys

import jax
import numpy as np

import model
import window

STEPS = 20
USUAL_ROWS = 64
ODD_ROWS = {5: 48, 9: 40, 12: 48, 15: 56}


def main(log_dir, facts_path):
    weights, loss = model.perceptron(layers=3)
    step = model.train_step(loss)
    rng = np.random.default_rng(9)
    for _ in range(2):
        weights, value = step(weights, *model.perceptron_batch(rng, USUAL_ROWS))
    value.block_until_ready()

    facts = window.Facts("recompile", "odd_batches", "train", usual_rows=USUAL_ROWS,
                         odd_rows=ODD_ROWS, model="perceptron 128-256-256-256-1, float32")
    met = {USUAL_ROWS}
    with window.capture(log_dir, facts):
        for number in range(STEPS):
            rows = ODD_ROWS.get(number, USUAL_ROWS)
            fresh = rows not in met
            with facts.step(number, rows=rows, compiles=fresh):
                with jax.profiler.TraceAnnotation("load_batch", rows=rows):
                    batch = model.perceptron_batch(rng, rows)
                weights, value = step(weights, *batch)
                value.block_until_ready()
            if fresh:
                met.add(rows)
                facts.expect_compilation(number, (rows, 128))
    facts.expect_annotation("load_batch", STEPS)
    facts.expect_module("jit_train_step", STEPS)
    facts.write(facts_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
