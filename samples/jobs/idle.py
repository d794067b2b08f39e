"""idle: a process that has a JAX backend and does nothing while it is profiled.

    python idle.py LOG_DIR FACTS.json

Planted: a window of WINDOW_MS without steps, modules or operations. A viewer must show an
empty profile as such, not as an error.
"""

import sys
import time

import jax

import window

WINDOW_MS = 100


def main(log_dir, facts_path):
    jax.devices()
    facts = window.Facts("idle", "idle", window_ms=WINDOW_MS)
    with window.capture(log_dir, facts):
        time.sleep(WINDOW_MS / 1000)
    facts.write(facts_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
