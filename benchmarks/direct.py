"""The model files in a process of their own, as Triton has them: its interpreter, threads, session options.

It leads a session of its own, too, as Linux may share the processors out among sessions (autogroups). What it
took is told by the clock and by CPU: on a busy machine the clock shows who had to wait, not who was dear.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import in_process
from cli.model_environment import ROOT, ModelEnvironment


@dataclass(frozen=True)
class Took:
    """What a call took, in seconds: by the clock, and of all processors."""

    clock: float
    cpu: float


class Direct:
    """A running process. It answers one call at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    async def ask(self, *given: object) -> Took:
        """What the call took in that process; the way there does not count.

        Raises RuntimeError when it ended.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(given).encode() + b"\n")
        if not (said := await stdout.readline()):
            raise RuntimeError("the process with the model files ended")
        return Took(*json.loads(said))


@asynccontextmanager
async def direct(kind: str) -> AsyncIterator[Direct]:
    """One process with one of KINDS, ended afterwards."""
    process = await asyncio.create_subprocess_exec(
        str(ModelEnvironment().python), "-m", "benchmarks.direct", kind,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT, start_new_session=True,
    )  # fmt: skip
    try:
        yield Direct(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _reranker() -> Callable[..., object]:
    score = in_process.reranker()
    return lambda pairs: score([(question, passage) for question, passage in pairs])


KINDS: Mapping[str, Callable[[], Callable[..., object]]] = {
    "embedder": in_process.embedder,
    "documents": in_process.document_embedder,
    "reranker": _reranker,
}


def timed(work: Callable[..., object], given: list[Any]) -> list[float]:
    """Seconds of a call: by the clock, and of this process."""
    began, spent = time.perf_counter(), time.process_time()
    work(*given)
    return [time.perf_counter() - began, time.process_time() - spent]


def main() -> None:
    """A line of JSON in, the arguments of a call; a line of JSON out, what it took."""
    work = KINDS[sys.argv[1]]()
    for line in sys.stdin:
        print(json.dumps(timed(work, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
