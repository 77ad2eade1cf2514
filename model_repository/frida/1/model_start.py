"""A model's start and counters on Triton: where its weights are, one line when it cannot start."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import triton_python_backend_utils as pb_utils
from weights_manifest import Refused


def parameters(args: Mapping[str, str]) -> dict[str, str]:
    """config.pbtxt's parameters."""
    entries = json.loads(args["model_config"])["parameters"]
    return {key: entry["string_value"] for key, entry in entries.items()}


def weights_folder(configured: str) -> Path:
    """The folder config.pbtxt names; RADRAG_MODELS, where set, replaces all but its last part."""
    root = os.environ.get("RADRAG_MODELS")
    return Path(root) / Path(configured).name if root else Path(configured)


def device_id(args: Mapping[str, str]) -> int:
    """Which GPU Triton gave this instance; the first for an instance of a Triton that knows of none."""
    return int(args["model_instance_device_id"]) if args["model_instance_kind"] == "GPU" else 0


def started(args: Mapping[str, str], start: Callable[[], None]) -> None:
    """Runs `start`; whatever stops it becomes one line in the log and a model that never turns READY."""
    try:
        start()
    except Exception as error:  # noqa: BLE001 - the operator gets a line for a fault nobody foresaw, too
        if not isinstance(error, Refused | ModuleNotFoundError):
            traceback.print_exc()
        line = f"{args['model_name']} does not start: {reason(error)}"
        print(line, file=sys.stderr, flush=True)
        raise pb_utils.TritonModelException(line) from None


def reason(error: Exception) -> str:
    """One line, for an operator."""
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "a package").partition(".")[0]
        how = "make setup-gguf" if package == "xllamacpp" else "make setup-torch"
        return f"{package} is not installed: run `{how}`"
    text = " ".join(str(error).split())
    return text if isinstance(error, Refused) else f"{type(error).__name__}: {text[:500]}"


class Counter:
    """A counter among Triton's own metrics, for one model."""

    def __init__(self, name: str, meaning: str, model: str) -> None:
        kind = pb_utils.MetricFamily.COUNTER
        # Kept: a metric ends with its family.
        self.family = pb_utils.MetricFamily(name=name, description=meaning, kind=kind)
        self.metric = self.family.Metric(labels={"model": model})

    def add(self, count: int) -> None:
        if count:
            self.metric.increment(count)
