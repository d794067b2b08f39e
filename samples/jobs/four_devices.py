"""four-devices: a transformer on four virtual CPU devices, as a mesh data=2 x model=2.

    XLA_FLAGS=--xla_force_host_platform_device_count=4 python four_devices.py LOG_DIR FACTS.json

Planted: 8 `train` steps, nothing slow on purpose. The batch is split over `data` and the two
matrices of each MLP over `model`, so each layer's output and every gradient is summed by
all-reduces. Which there are is what the compiler says; each runs once per device and step.
"""

import sys

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import model
import window

STEPS = 8
DEVICES = 4


def layout(path):
    """How a weight lies on the mesh: MLP columns, then rows, over `model`; all else whole."""
    name = str(getattr(path[-1], "key", ""))
    return {"up": PartitionSpec(None, "model"),
            "down": PartitionSpec("model", None)}.get(name, PartitionSpec())


def main(log_dir, facts_path):
    assert jax.device_count() == DEVICES, "run with --xla_force_host_platform_device_count=4"
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
    split = NamedSharding(mesh, PartitionSpec("data"))
    weights, loss = model.transformer()
    weights = jax.tree_util.tree_map_with_path(
        lambda path, w: jax.device_put(w, NamedSharding(mesh, layout(path))), weights)
    tokens = np.random.default_rng(5).integers(0, 256, (8, 33)).astype(np.int32)
    compiled = model.train_step(loss).lower(weights, jax.device_put(tokens, split)).compile()
    for _ in range(2):
        weights, value = compiled(weights, jax.device_put(tokens, split))
    value.block_until_ready()

    facts = window.Facts("four-devices", "mesh_2x2", "train",
                         model="decoder, 2 layers, width 64, 4 heads, 32 tokens, batch 8")
    with window.capture(log_dir, facts):
        for number in range(STEPS):
            with facts.step(number):
                with jax.profiler.TraceAnnotation("shard_batch", batch=number):
                    batch = jax.device_put(np.roll(tokens, number, axis=0), split)
                weights, value = compiled(weights, batch)
                value.block_until_ready()
    facts.expect_annotation("shard_batch", STEPS)
    facts.expect_module("jit_train_step", STEPS * DEVICES)
    facts.expect_operations(compiled, "all-reduce", STEPS * DEVICES)
    facts.write(facts_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
