"""A small training job as a user writes it, with the unmodified SDK: job.py BASE_URL LOGS NAME HOW

BASE_URL is that of a server of ours, or "cloud": Google's own addresses, in project p1. HOW is context, start,
decorator (ways to profile), metrics, or error, sigterm (ways to end).
"""

import os
import signal
import sys

import jax.numpy as jnp
from google_cloud_mldiagnostics import machinelearning_run, metrics, xprof

base_url, logs, name, how = sys.argv[1:5]
where = {"project": "p1", "region": "us-central1"} if base_url == "cloud" else {"base_url": base_url}
run = machinelearning_run(name=name, gcs_path=logs, configs={"batch": 8}, log_system_metrics=False, **where)
print("RUN", run.name, flush=True)


def step():
    jnp.ones((32, 32)).dot(jnp.ones((32, 32))).block_until_ready()


if how == "metrics":
    for number in range(20):
        metrics.record("loss", 1.0 / (number + 1), step=number)
    metrics.record("my own", 7.5)
    sys.exit(0)
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
