"""The sweep's arithmetic against the published sizes, and the sweep itself on tiny models on a CPU."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.gpu.measure import Case, line, measured, result
from benchmarks.gpu.sizes import FRIDA, RERANKER, Peak, Size, peak
from cli.model_environment import ROOT, ModelEnvironment


def test_the_full_sizes_are_the_published_ones() -> None:
    """823 million weights, of which 143,847,936 embeddings, for FRIDA; 0.6 billion for the reranker."""
    assert FRIDA.vocabulary * FRIDA.width == 143_847_936
    assert round(FRIDA.weights / 1e6) == 823
    assert round(RERANKER.weights / 1e8) == 6


def test_operations_are_two_per_weight_and_token_and_attention_on_top() -> None:
    tiny = Size(1, 4, 0, 1, 1, 4, 10, causal=False)
    assert tiny.layer_weights == 4 * 16
    assert tiny.operations(3) == 2 * 64 * 3 + 4 * 4 * 9
    assert Size(1, 4, 0, 1, 1, 4, 10, causal=True).operations(3) == 2 * 64 * 3 + 2 * 4 * 9


def test_rates_and_shares_follow_from_the_median_time() -> None:
    size = Size(1, 4, 0, 1, 1, 4, 10, causal=False)
    one = result(Case("frida", 2, 3), [0.5] * 6, size, Peak(1e4, 1e4), budget=16)
    assert (one.rows_per_second, one.tokens_per_second) == (4, 12)
    assert one.compute == pytest.approx(2 * size.operations(3) / 0.5 / 1e4)
    assert one.memory == pytest.approx(2 * 64 / 0.5 / 1e4)
    assert line(one) == "| frida | 2 | 3 | 500.00 | 500.00 | 4 | 12 | 21.1% | 2.6% |"


def test_an_unknown_device_gets_no_share() -> None:
    assert peak("NVIDIA H200 NVL") == Peak(989e12, 4.8e12)
    assert peak("NVIDIA L40S") == Peak(362e12, 0.864e12)
    assert peak("x86_64") is None
    one = result(Case("frida", 1, 1), [1.0] * 6, FRIDA, None, budget=16)
    assert line(one).endswith("| – | – |")


def test_every_case_is_repeated_a_few_times_however_slow_it_is() -> None:
    calls: list[int] = []
    assert len(measured(Case("frida", 1, 1), lambda: calls.append(1), seconds=0)) == 5
    assert len(calls) == 8


def test_the_whole_sweep_runs_on_tiny_models(tmp_path: Path) -> None:
    environment = ModelEnvironment()
    if not environment.torch_ready:
        pytest.skip("PyTorch is not in the model servers' environment: run `make setup-torch`")
    out = tmp_path / "gpu.json"
    options = ["--size", "tiny", "--device", "cpu", "--seconds", "0", "--out", str(out)]
    command = [str(environment.python), "-m", "benchmarks.gpu", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert len(results) == 12
    assert {one["case"]["model"] for one in results} == {
        "frida",
        "qwen3_reranker",
        "qwen3_reranker, question shared",
    }
    assert all(one["p50"] > 0 and one["compute"] is None for one in results)
    assert run.stdout.count("| frida |") == 8


def test_a_device_that_is_absent_is_one_line(tmp_path: Path) -> None:
    environment = ModelEnvironment()
    if not environment.torch_ready:
        pytest.skip("PyTorch is not in the model servers' environment: run `make setup-torch`")
    command = [str(environment.python), "-m", "benchmarks.gpu", "--device", "tpu"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "device is 'tpu', known are cuda, cpu and auto\n"
