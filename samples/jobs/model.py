"""The small models that the sample jobs train; weights and data come from fixed seeds."""

import jax
import jax.numpy as jnp
import numpy as np


def perceptron(features=128, hidden=256, layers=2):
    """Returns (weights, loss) of a regression whose answer is the sum of four inputs."""
    rng = np.random.default_rng(7)
    sizes = [features] + [hidden] * layers + [1]
    weights = [jnp.asarray(rng.normal(0, a ** -0.5, (a, b)), jnp.float32)
               for a, b in zip(sizes, sizes[1:])]

    def loss(weights, x, y):
        for number, matrix in enumerate(weights[:-1]):
            with jax.named_scope(f"dense_{number}"):
                x = jax.nn.relu(x @ matrix)
        with jax.named_scope("loss"):
            return jnp.mean((x @ weights[-1] - y) ** 2)

    return weights, loss


def perceptron_batch(rng, rows, features=128):
    x = rng.normal(size=(rows, features)).astype(np.float32)
    return x, x[:, :4].sum(axis=1, keepdims=True)


def transformer(vocabulary=256, length=32, width=64, heads=4, layers=2):
    """Returns (weights, loss) of a decoder that predicts the next token."""
    rng = np.random.default_rng(11)

    def matrix(rows, columns):
        return jnp.asarray(rng.normal(0, rows ** -0.5, (rows, columns)), jnp.float32)

    weights = {"embed": matrix(vocabulary, width), "layers": [
        {"qkv": matrix(width, 3 * width), "out": matrix(width, width),
         "up": matrix(width, 4 * width), "down": matrix(4 * width, width)}
        for _ in range(layers)]}

    def scale(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)

    def attend(layer, x):
        q, k, v = (part.reshape(x.shape[0], length, heads, width // heads)
                   for part in jnp.split(scale(x) @ layer["qkv"], 3, axis=-1))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        return mixed.reshape(x.shape) @ layer["out"]

    def loss(weights, tokens):
        x = weights["embed"][tokens[:, :-1]]
        for number, layer in enumerate(weights["layers"]):
            with jax.named_scope(f"layer_{number}"):
                with jax.named_scope("attention"):
                    x = x + attend(layer, x)
                with jax.named_scope("mlp"):
                    x = x + jax.nn.gelu(scale(x) @ layer["up"]) @ layer["down"]
        with jax.named_scope("loss"):
            logits = jax.nn.log_softmax(scale(x) @ weights["embed"].T)
            return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1))

    return weights, loss


def train_step(loss, rate=0.05):
    """A jitted step of plain gradient descent; its module is called jit_train_step."""

    def train_step(weights, *batch):
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        with jax.named_scope("optimizer"):
            weights = jax.tree.map(lambda w, g: w - rate * g, weights, gradient)
        return weights, value

    return jax.jit(train_step)
