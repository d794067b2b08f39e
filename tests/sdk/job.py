"""A small training job as a user writes it, with the unmodified SDK: job.py BASE_URL LOGS NAME HOW

HOW is context, start, decorator (ways to profile), or error, sigterm (ways to end).
"""

import os
import signal
import sys

import jax.numpy as jnp
from google_cloud_mldiagnostics import machinelearning_run, metrics, xprof

base_url, logs, name, how = sys.argv[1:5]
run = machinelearning_run(name=name, gcs_path=logs, base_url=base_url, configs={"batch": 8},
                          log_system_metrics=False)
print("RUN", run.name, flush=True)


def step():
    jnp.ones((32, 32)).dot(jnp.ones((32, 32))).block_until_ready()


metrics.record("loss", 1.0, step=1)
if how == "start":
    profiler = xprof()
    profiler.start(session_id="by_hand")
    step()
    profiler.stop()
elif how == "decorator":
    xprof()(step)()
else:
    with xprof():
        step()
if how == "error":
    raise RuntimeError("planned")
if how == "sigterm":
    os.kill(os.getpid(), signal.SIGTERM)
