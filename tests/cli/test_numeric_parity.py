"""Two kernels' results compared: inputs made by the program, run through NumPy, and judged by the program; NumPy counts the distances too."""

import json

import ml_dtypes
import numpy
import pytest

import program


def load(path, dtype):
    """NumPy has no bfloat16 of its own: such files hold plain bytes."""
    array = numpy.load(path)
    return array.view(dtype) if array.dtype.kind == "V" else array


def make_inputs(tmp_path, dtype, tier="fast_agent", shapes="[(32, 64), (64, 16)]"):
    folder = tmp_path / "inputs"
    done = program.run("make_parity_inputs", "--shapes", shapes, "--dtype_str", dtype, "--tier", tier, "--output_dir", str(folder))
    assert done.code == 0, done.text()
    return folder, done.json()["batches"]


def verify(reference, candidate, dtype, *more):
    return program.run("verify_numerical_parity", "--reference", str(reference), "--candidate", str(candidate), "--dtype_str", dtype, *more)


@pytest.mark.parametrize("name, dtype", [("bfloat16", ml_dtypes.bfloat16), ("float16", numpy.float16), ("float32", numpy.float32)])
def test_another_order_of_sums_is_told_from_another_accumulator(tmp_path, name, dtype):
    folder, batches = make_inputs(tmp_path, name)
    assert len(batches) == 5
    for side in ("reference", "reordered", "narrow"):
        (tmp_path / side).mkdir()
    for batch in batches:
        left, right = (load(folder / batch / f"input_{i}.npy", dtype) for i in (0, 1))
        assert left.shape == (32, 64) and right.shape == (64, 16)
        exact = left.astype(numpy.float64) @ right.astype(numpy.float64)
        numpy.save(tmp_path / "reference" / f"{batch}.npy", exact.astype(dtype))
        turned = left[:, ::-1].astype(numpy.float64) @ right[::-1].astype(numpy.float64)
        numpy.save(tmp_path / "reordered" / f"{batch}.npy", turned.astype(dtype))
        narrow = numpy.zeros(exact.shape, dtype)
        for k in range(left.shape[1]):
            narrow = (narrow + numpy.outer(left[:, k], right[k])).astype(dtype)
        numpy.save(tmp_path / "narrow" / f"{batch}.npy", narrow)
    good = verify(tmp_path / "reference", tmp_path / "reordered", name)
    assert good.code == 0 and good.json()["is_numerically_equivalent"] is True
    bad = verify(tmp_path / "reference", tmp_path / "narrow", name)
    assert bad.code == 1
    report = bad.json()
    assert report["is_numerically_equivalent"] is False and report["failed_batches_count"] >= 2
    assert [row["batch_name"] for row in report["batch_results"]] == batches


def test_distances_are_those_that_numpy_counts(tmp_path):
    generator = numpy.random.default_rng(5)
    reference = generator.normal(size=(50, 40)).astype(numpy.float32)
    candidate = reference.copy()
    steps = generator.integers(0, 5, size=reference.shape)
    for step in range(1, 5):
        candidate = numpy.where(steps >= step, numpy.nextafter(candidate, numpy.float32(numpy.inf)), candidate)
    numpy.save(tmp_path / "a.npy", reference)
    numpy.save(tmp_path / "b.npy", numpy.asfortranarray(candidate))
    done = verify(tmp_path / "a.npy", tmp_path / "b.npy", "float32", "--max_allowed_ulp", "4", "--p99_9_allowed_ulp", "4")
    assert done.code == 0
    batch = done.json()["batch_results"][0]
    assert batch["max_ulp_distance"] == 4 and batch["elements"] == 2000
    assert batch["mean_ulp_distance"] == pytest.approx(steps.mean())
    assert batch["ulp_histogram"] == {"0": int((steps == 0).sum()), "1": int((steps == 1).sum()), "2": int((steps == 2).sum()), "3-4": int((steps >= 3).sum())}
    assert done.json()["tolerance_audit"]["is_relaxed_override"] is True


def test_inputs_are_the_same_for_the_same_seed(tmp_path):
    first, batches = make_inputs(tmp_path / "a", "float8_e4m3fn")
    second, _ = make_inputs(tmp_path / "b", "float8_e4m3fn")
    for batch in batches:
        bytes_of = [load(folder / batch / "input_0.npy", ml_dtypes.float8_e4m3fn) for folder in (first, second)]
        assert numpy.array_equal(bytes_of[0].view(numpy.uint8), bytes_of[1].view(numpy.uint8))
        assert numpy.isfinite(bytes_of[0].astype(numpy.float32)).all()


@pytest.mark.parametrize("arguments, name", [
    (("--dtype_str", "float7"), "DTYPE_UNKNOWN"),
    (("--max_allowed_ulp", "50"), "PARITY_LIMIT_TOO_WIDE"),
    (("--candidate", "missing.npy"), "FILE_NOT_FOUND"),
    (("--candidate", "other.npy"), "PARITY_SHAPES_DIFFER"),
    (("--candidate", "text.npy"), "NPY_MALFORMED"),
])
def test_what_cannot_be_compared_is_named(tmp_path, arguments, name):
    numpy.save(tmp_path / "a.npy", numpy.zeros(4, numpy.float32))
    numpy.save(tmp_path / "other.npy", numpy.zeros(5, numpy.float32))
    (tmp_path / "text.npy").write_text("not a tensor")
    given = {"--reference": "a.npy", "--candidate": "a.npy", "--dtype_str": "float32"} | dict([arguments])
    words = [word for option, value in given.items() for word in (option, str(tmp_path / value) if value.endswith(".npy") else value)]
    done = program.run("verify_numerical_parity", *words)
    assert done.code != 0
    assert json.loads(done.text())["code"] == name
