"""A small training job that can be captured: profiled_job.py prints "READY PORT" and works until its input ends."""

import socket
import sys
import threading

import jax
import jax.numpy as jnp

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
server = jax.profiler.start_server(port)
step = jax.jit(lambda x: (x @ x) / 100.0)
x = step(jnp.ones((64, 64))).block_until_ready()
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
print("READY", port, flush=True)
while not over.wait(0.001):
    x = step(x).block_until_ready()
