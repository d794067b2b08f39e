"""A JAX training job on the CPU with its profiler server, there to be captured.

    python live_job.py [--port 0] [--seconds 0] [--light] [--devices 1] [--follow-parent]

When everything is compiled and the server answers, one line goes to standard output:

    PROFILER READY 127.0.0.1:PORT PID

The job then trains until SIGTERM, SIGINT or the end of --seconds, prints
`PROFILER DONE steps=N` and exits with 0.

What a capture shows (all of it planted, so that there is something to find):
  * `train` steps (StepTraceAnnotation) of a two-layer transformer with the named scopes
    layer_0, layer_1 (each attention, mlp), loss and optimizer;
  * an input pipeline on a thread of its own (`read_shard`, `tokenize`); every STALL_EVERY-th
    batch comes STALL_MS late, and the training thread sits in `wait_for_batch` meanwhile;
  * an `evaluate` every 100 steps and a `save_checkpoint` every 200.
--light trains a tiny two-layer perceptron instead: few events per step, a twentieth of a core.

Cost: about 40 % of one core (the pipeline is paced by the CPU time a step takes), 350 MB of
memory. The port is open on all interfaces and asks for no password, as every JAX profiler
server: do not run this on a machine that strangers reach.
"""

import argparse
import ctypes
import io
import os
import queue
import signal
import socket
import sys
import threading
import time

STALL_EVERY = 16
STALL_MS = 150.0
EVALUATE_EVERY = 100
CHECKPOINT_EVERY = 200
TARGET_CPU_SHARE = 0.4  # of one core, so that a laptop stays usable
LIGHT_PERIOD_S = 0.05
MIN_PERIOD_S = 0.03
QUEUE_BATCHES = 1  # a longer queue would hide the stalls
READY_LIMIT_S = 30.0

VOCABULARY, LENGTH, ROWS, WIDTH, HEADS, LAYERS = 256, 64, 4, 128, 4, 2


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--seconds", type=float, default=0.0, help="0: until SIGTERM")
    parser.add_argument("--light", action="store_true", help="tiny model, few events")
    parser.add_argument("--devices", type=int, default=1, help="virtual CPU devices")
    parser.add_argument("--follow-parent", action="store_true",
                        help="end when the starting process ends (Linux)")
    arguments = parser.parse_args()
    if not 0 <= arguments.port <= 65535:
        parser.error("--port must be 0 to 65535 (JAX would take it modulo 65536)")
    if not 1 <= arguments.devices or ROWS % arguments.devices:
        parser.error("--devices must be 1, 2 or 4")
    return arguments


def reserve_port(port):
    """Returns (port, socket holding it). Fails when somebody listens there already.

    JAX's server shares its port silently with any other that has it (SO_REUSEPORT), and then
    captures reach either process at random. So an explicit port is first bound exclusively;
    after that a bound, never listening, sharing socket keeps it for JAX.
    """
    if port:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("", port))
            except OSError as error:
                sys.exit(f"live_job: port {port} is not free ({error.strerror}); "
                         "name another or use --port 0")
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    holder.bind(("", port))  # with port 0 the kernel picks one that nobody has
    return holder.getsockname()[1], holder


def wait_until_listening(port):
    """start_server() reports no failure, so the port itself is asked."""
    end = time.monotonic() + READY_LIMIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            return
        except OSError as error:
            if time.monotonic() > end:
                sys.exit(f"live_job: the profiler server does not listen on {port}: {error}")
            time.sleep(0.02)


class Pipeline(threading.Thread):
    """Makes batches at a steady pace, and now and then late."""

    def __init__(self, make_batch, ending):
        super().__init__(name="input", daemon=True)
        self._make_batch = make_batch
        self._ending = ending
        self._batches = queue.Queue(maxsize=QUEUE_BATCHES)
        self.period_s = MIN_PERIOD_S

    def run(self):
        import jax
        number = 0
        due = time.monotonic()
        while not self._ending.is_set():
            number += 1
            due = max(due + self.period_s, time.monotonic())
            with jax.profiler.TraceAnnotation("read_shard", shard=number):
                late_s = STALL_MS / 1000.0 if number % STALL_EVERY == 0 else 0.0
                self._ending.wait(max(0.0, due - time.monotonic()) + late_s)
            with jax.profiler.TraceAnnotation("tokenize", shard=number):
                batch = self._make_batch(number)
            while not self._ending.is_set():
                try:
                    self._batches.put(batch, timeout=0.2)
                    break
                except queue.Full:
                    continue

    def next(self):
        """The next batch, or None when the job is to end."""
        while not self._ending.is_set():
            try:
                return self._batches.get(timeout=0.2)
            except queue.Empty:
                continue
        return None


def transformer_job():
    """Returns (state, train_step, evaluate, make_batch) of a small language model."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(1)

    def matrix(rows, columns):
        return jnp.asarray(rng.normal(0, rows ** -0.5, (rows, columns)), jnp.float32)

    parameters = {"embed": matrix(VOCABULARY, WIDTH), "position": matrix(LENGTH, WIDTH)}
    for layer in range(LAYERS):
        parameters[f"layer_{layer}"] = {
            "qkv": matrix(WIDTH, 3 * WIDTH), "out": matrix(WIDTH, WIDTH),
            "up": matrix(WIDTH, 4 * WIDTH), "down": matrix(4 * WIDTH, WIDTH)}

    def normalise(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)

    def attention(weights, x):
        rows = x.shape[0]
        q, k, v = jnp.split(normalise(x) @ weights["qkv"], 3, axis=-1)
        q, k, v = (t.reshape(rows, LENGTH, HEADS, WIDTH // HEADS) for t in (q, k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        return mixed.reshape(rows, LENGTH, WIDTH) @ weights["out"]

    def loss_of(parameters, tokens):
        x = parameters["embed"][tokens[:, :-1]] + parameters["position"]
        for layer in range(LAYERS):
            weights = parameters[f"layer_{layer}"]
            with jax.named_scope(f"layer_{layer}"):
                with jax.named_scope("attention"):
                    x = x + attention(weights, x)
                with jax.named_scope("mlp"):
                    x = x + jax.nn.gelu(normalise(x) @ weights["up"]) @ weights["down"]
        with jax.named_scope("loss"):
            logits = jax.nn.log_softmax(normalise(x) @ parameters["embed"].T)
            return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1))

    def train_step(state, tokens):
        parameters, momentum = state
        loss, gradient = jax.value_and_grad(loss_of)(parameters, tokens)
        with jax.named_scope("optimizer"):
            momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
            parameters = jax.tree.map(lambda p, m: p - 0.1 * m, parameters, momentum)
        return (parameters, momentum), loss

    def make_batch(number):
        # Counting sequences with a stride of their own: learnable, so the loss does fall.
        start = np.random.default_rng(number).integers(0, VOCABULARY, (ROWS, 2))
        steps = np.arange(LENGTH + 1)[None, :] * (1 + start[:, 1:] % 7)
        return ((start[:, :1] + steps) % VOCABULARY).astype(np.int32)

    state = (parameters, jax.tree.map(jnp.zeros_like, parameters))
    return state, jax.jit(train_step), jax.jit(lambda s, t: loss_of(s[0], t)), make_batch


def perceptron_job():
    """The same four for a tiny regression."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    state = {"hidden": jnp.eye(32) * 0.5, "out": jnp.ones((32, 1)) * 0.1}

    def loss_of(weights, x):
        with jax.named_scope("mlp"):
            y = jnp.tanh(x @ weights["hidden"]) @ weights["out"]
        return jnp.mean((y - x[:, :1]) ** 2)

    def train_step(weights, x):
        loss, gradient = jax.value_and_grad(loss_of)(weights, x)
        return jax.tree.map(lambda w, g: w - 0.05 * g, weights, gradient), loss

    def make_batch(number):
        return np.random.default_rng(number).normal(size=(16, 32)).astype(np.float32)

    return state, jax.jit(train_step), jax.jit(loss_of), make_batch


def placer(devices):
    """A function that spreads a batch over the devices, rows split (data parallel)."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    mesh = Mesh(np.array(jax.devices()[:devices]), ("data",))
    whole = NamedSharding(mesh, PartitionSpec())
    split = NamedSharding(mesh, PartitionSpec("data"))
    return (lambda state: jax.device_put(state, whole)), (lambda b: jax.device_put(b, split))


def save_checkpoint(state):
    import jax
    import numpy as np
    with jax.profiler.TraceAnnotation("save_checkpoint"):
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(state)]
        np.savez(io.BytesIO(), *leaves)


def train(job, place_batch, pipeline, stop, ends_at):
    import jax
    state, train_step, evaluate, _ = job
    step = 0
    while not stop.is_set() and time.monotonic() < ends_at:
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            with jax.profiler.TraceAnnotation("wait_for_batch"):
                batch = pipeline.next()
            if batch is None:
                break
            state, loss = train_step(state, place_batch(batch))
            loss.block_until_ready()
        step += 1
        if step % EVALUATE_EVERY == 0:
            with jax.profiler.TraceAnnotation("evaluate"):
                evaluate(state, place_batch(batch)).block_until_ready()
        if step % CHECKPOINT_EVERY == 0:
            save_checkpoint(state)
    return step, float(loss) if step else float("nan")


def measure_cpu_s(job, place_batch, rounds=5):
    """CPU seconds of one step, after compiling everything that the job will run."""
    state, train_step, evaluate, make_batch = job
    batch = place_batch(make_batch(0))
    for _ in range(2):
        state, loss = train_step(state, batch)
        loss.block_until_ready()
    evaluate(state, batch).block_until_ready()
    began = time.process_time()
    for _ in range(rounds):
        state, loss = train_step(state, batch)
        loss.block_until_ready()
    return (time.process_time() - began) / rounds


def main():
    arguments = parse_arguments()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if arguments.follow_parent:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # 1 = PR_SET_PDEATHSIG
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") +
                               f" --xla_force_host_platform_device_count={arguments.devices}")
    port, holder = reserve_port(arguments.port)

    import jax
    job = perceptron_job() if arguments.light else transformer_job()
    place_state, place_batch = placer(arguments.devices)
    job = (place_state(job[0]),) + job[1:]
    cpu_s = measure_cpu_s(job, place_batch)
    pipeline = Pipeline(job[3], stop)
    pipeline.period_s = (
        LIGHT_PERIOD_S if arguments.light else max(MIN_PERIOD_S, cpu_s / TARGET_CPU_SHARE))
    server = jax.profiler.start_server(port)
    wait_until_listening(port)
    holder.close()
    ends_at = time.monotonic() + arguments.seconds if arguments.seconds else float("inf")
    pipeline.start()
    print(f"PROFILER READY 127.0.0.1:{port} {os.getpid()}", flush=True)
    steps, loss = train(job, place_batch, pipeline, stop, ends_at)
    stop.set()
    pipeline.join()
    print(f"PROFILER DONE steps={steps} loss={loss:.4f} step_cpu_ms={1000 * cpu_s:.1f}",
          flush=True)
    del server


if __name__ == "__main__":
    main()
