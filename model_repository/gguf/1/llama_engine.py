"""llama.cpp with one model: writes an answer part by part until told to stop. Knows nothing of Triton."""

import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import xllamacpp
from gguf_file import header
from gguf_request import Json
from llama_parts import Part, Reader
from weights_manifest import Manifest, Refused

FAST = "auto"


@dataclass(frozen=True)
class Plan:
    """context: tokens of one prompt with its answer. slots: answers at once. batch: prompt tokens at once."""

    context: int
    slots: int
    threads: int
    gpu_layers: str
    batch: int


class Engine:
    """One loaded model. `write` may be called by as many threads as there are slots."""

    def __init__(self, server: xllamacpp.Server) -> None:
        self._server = server

    def write(self, prompt: str, sampling: Mapping[str, Json], take: Callable[[Part | None], bool]) -> None:
        """Hands each part to `take`, None now and then while the prompt is read; stops when it says True.

        Raises InvalidRequest when the prompt does not fit, Failed when llama.cpp fails.
        """
        reader, failures = Reader(), list[Exception]()

        def reported(report: dict[str, Json]) -> bool:
            try:
                return take(reader.part(report))
            except Exception as error:  # noqa: BLE001 - it would be lost in the C++ code that called us
                failures.append(error)
                return True

        told = {"prompt": prompt, "stream": True, "timings_per_token": True, "return_progress": True}
        self._server.handle_completions({**told, **sampling}, reported)
        if failures:
            raise failures[0]


def only_model(manifest: Manifest) -> str:
    """The manifest's one .gguf file. Raises Refused."""
    found = [name for name in manifest.files if name.endswith(".gguf")]
    if len(found) != 1:
        raise Refused(f"the manifest lists {len(found)} .gguf files, needed is one: merge what is split")
    return found[0]


def opened(file: Path, plan: Plan) -> Engine:
    """Raises Refused, naming the file, when llama.cpp will not serve it as planned."""
    known = header(file)
    if known.context and plan.context > known.context:
        raise Refused(f"context is {plan.context}, {file.name} was trained with {known.context} tokens")
    require_device(plan.gpu_layers, [device["type"].name for device in xllamacpp.get_device_info()])
    with tempfile.TemporaryDirectory() as folder:
        # The engine insists on listening: on a socket that is gone once it runs, behind a key nobody knows.
        parameters = _parameters(file, plan, Path(folder) / "llama.sock")
        try:
            return Engine(xllamacpp.Server(parameters))
        except RuntimeError:
            raise Refused(
                f"llama.cpp cannot load {file.name} (architecture {known.architecture}):"
                " unknown to it, damaged, not finite, or too large for the memory"
            ) from None


def require_device(gpu_layers: str, kinds: list[str]) -> None:
    """Raises Refused when layers were promised to a GPU that is not there, or the number is none."""
    if gpu_layers == FAST:
        return
    if not gpu_layers.isdecimal():
        raise Refused(f"gpu_layers is {gpu_layers}: it must be auto or a whole number")
    if int(gpu_layers) and not any("GPU" in kind for kind in kinds):
        raise Refused(f"gpu_layers is {gpu_layers}, but this llama.cpp sees no GPU")


def _parameters(file: Path, plan: Plan, socket: Path) -> xllamacpp.CommonParams:
    made = xllamacpp.CommonParams()
    made.model.path = str(file)
    made.n_ctx, made.n_parallel = plan.context * plan.slots, plan.slots
    made.n_batch = made.n_ubatch = plan.batch
    threads = plan.threads or len(os.sched_getaffinity(0))
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = threads
    made.n_gpu_layers = -1 if plan.gpu_layers == FAST else int(plan.gpu_layers)
    # One value that is not finite spoils every answer.
    made.check_tensors = True
    # Without it a model with a sliding window forgets the start, which is the part two prompts share.
    made.swa_full = True
    # No prompt is kept beyond its slot, nothing is told to anybody, and the log is Triton's.
    made.cache_ram_mib, made.verbosity, made.offline = 0, 1, True
    made.endpoint_slots = made.endpoint_metrics = made.endpoint_props = made.ui = False
    made.hostnames, made.api_keys = [str(socket)], [secrets.token_hex(32)]
    # As planned or not at all: it would quietly take a shorter context.
    made.fit_params, made.ctx_shift, made.use_jinja = False, False, False
    return made
