"""The sweep's arithmetic against the published sizes; the sweep itself, tiny, on a real Triton on a CPU."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu.busy import mean
from benchmarks.gpu.kserve import request, response
from benchmarks.gpu.measure import Case, line, measured, result
from benchmarks.gpu.plan import PLANS
from benchmarks.gpu.sizes import FRIDA, MOE, RERANKER, Peak, Size, fitting, peak
from cli.model_environment import ROOT, ModelEnvironment


def test_the_full_sizes_are_the_published_ones() -> None:
    """FRIDA: 823 million weights, of which 143,847,936 embeddings. The reranker: 0.6 billion. The mixture of
    experts: 30.2 billion with one of its two embeddings, of which a token meets 2.7 in the layers."""
    assert FRIDA.vocabulary * FRIDA.width == 143_847_936
    assert round(FRIDA.weights / 1e6) == 823
    assert round(RERANKER.weights / 1e8) == 6
    assert round(MOE.weights / 1e8) == 302
    assert round(MOE.layer_weights / 1e8) == 27


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
    assert line(one) == ("| frida | files | 2 | 3 | – | 500.00 | 500.00 | 4 | 12 | 21.1% | 2.6% | – |")


def test_an_unknown_device_gets_no_share() -> None:
    assert peak("NVIDIA H200 NVL") == Peak(989e12, 4.8e12)
    assert peak("NVIDIA L40S") == Peak(362e12, 0.864e12)
    assert peak("x86_64") is None
    one = result(Case("frida", 1, 1), [1.0] * 6, FRIDA, None, budget=16)
    assert line(one).endswith("| – | – | – |")


def test_every_case_is_repeated_a_few_times_however_slow_it_is() -> None:
    calls: list[int] = []
    assert len(measured(Case("frida", 1, 1), lambda: calls.append(1), seconds=0)) == 5
    assert len(calls) == 8


def test_written_tokens_are_a_pass_each_and_read_the_experts_that_are_met() -> None:
    size = Size(1, 4, 2, 1, 1, 4, 10, causal=True, experts=4, chosen=1)
    assert (size.attention_weights, size.expert_weights, size.layer_weights) == (64, 24, 88)
    assert size.read_weights(1) == 64 + 24
    assert size.read_weights(2) == pytest.approx(64 + 24 * (4 - 4 * 0.75**2))
    one = result(Case("qwen3_moe", 2, 3, written=3), [0.5] * 6, size, Peak(1e4, 1e4), budget=16, busy=0.5)
    assert one.tokens_per_second == 12
    assert one.memory == pytest.approx(2 * (size.read_weights(6) + 2 * size.read_weights(2)) / 0.5 / 1e4)
    assert one.compute == pytest.approx(2 * (size.operations(3) + 2 * size.step(3)) / 0.5 / 1e4)
    assert line(one).endswith("| 50.0% |")


def test_reading_a_prompt_is_counted_in_its_tokens() -> None:
    assert (Case("qwen3_moe", 2, 30, written=1).tokens, Case("qwen3_moe", 2, 30, written=5).tokens) == (
        60,
        10,
    )


def test_the_mixture_is_cut_to_the_memory_there_is() -> None:
    assert fitting(MOE, 100e9) == MOE
    half = fitting(MOE, 32e9)
    assert 20 < half.layers < 26
    assert 2 * (half.weights + half.vocabulary * half.width) <= 32e9
    assert fitting(MOE, 1).layers == 1


def test_utilisation_is_the_mean_of_what_was_seen() -> None:
    assert mean("50\n100\n\n[N/A]\n") == 0.75
    assert mean("") is None


def test_tensors_go_out_and_come_back_as_tritons_protocol_has_them() -> None:
    sent = {"TEXT": np.array([["мЗв".encode()]], np.object_), "SPANS": np.empty((1, 0, 2), np.int32)}
    head, body = request(sent)
    first, second = json.loads(head)["inputs"]
    assert (first["datatype"], first["shape"], first["parameters"]) == (
        "BYTES",
        [1, 1],
        {"binary_data_size": 10},
    )
    assert (second["datatype"], second["shape"]) == ("INT32", [1, 0, 2])
    assert body == b"\x06\0\0\0" + "мЗв".encode()
    scores = np.array([[0.5], [0.25]], np.float32)
    told = {"name": "SCORE", "datatype": "FP32", "shape": [2, 1], "parameters": {"binary_data_size": 8}}
    answer = json.dumps({"outputs": [told]}).encode()
    found = response(answer + scores.tobytes(), len(answer))
    np.testing.assert_array_equal(found["SCORE"], scores)


def sweep(*options: str) -> "subprocess.CompletedProcess[str]":
    environment = ModelEnvironment()
    if not environment.torch_ready:
        pytest.skip("PyTorch is not in the model servers' environment: run `make setup-torch`")
    command = [str(environment.python), "-m", "benchmarks.gpu", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


TINY = ("--size", "tiny", "--device", "cpu", "--seconds", "0")


def test_the_whole_sweep_runs_on_tiny_models_behind_triton_and_without(tmp_path: Path) -> None:
    out = tmp_path / "gpu.json"
    run = sweep(*TINY, "--start", "400", "--out", str(out))
    assert run.returncode == 0, run.stderr
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    plan, told = PLANS["tiny"], [(one["case"]["model"], one["case"]["through"]) for one in results]
    known = [(model, "triton") for model in ("frida", "qwen3_reranker", "qwen3_moe")]
    known += [(model, "files") for model in ("frida", "qwen3_reranker", "qwen3_reranker, question shared")]
    known += [("qwen3_moe", "files")]
    assert told == [one for one in known for _ in plan.cases(*one)]
    assert all(one["p50"] > 0 and one["compute"] is None for one in results)
    assert run.stdout.count("| frida | triton |") == 8


def test_a_triton_that_is_not_ready_in_time_is_said_and_the_files_are_measured() -> None:
    run = sweep(*TINY, "--start", "0.1", "--limit", "0")
    assert run.returncode == 0, run.stderr
    assert "Triton not ready after 0 s: frida, qwen3_reranker, qwen3_moe" in run.stdout
    assert "measured without Triton: the models' files alone" in run.stdout
    assert (
        "stopped after 0 s, before Case(model='frida', rows=1, length=16, written=0, through='files')"
        in run.stdout
    )


def test_a_device_that_is_absent_is_one_line() -> None:
    run = sweep("--device", "tpu")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "device is 'tpu', known are cuda, cpu and auto\n"
