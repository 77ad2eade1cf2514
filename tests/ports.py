"""Ports for the servers that tests start. No two workers of a run are ever given the same.

Each worker has a range of its own, below the ports that the system gives to clients, and goes round in it.
Of two that ask the system for any free port, both may get the one that neither listens at yet; then the
first server answers the second's test.
"""

import os
from itertools import count

from cli import ports

FIRST, EACH, WORKERS = 10_000, 2_500, 8
# As in `cli.health` and `cli.services`, which the model servers' environment cannot import.
HEALTH, METRICS = 100, 200
APART = 3  # a Triton takes the ports on both sides of its own

_turns = count(os.getpid())  # two runs at once should not begin alike


def own_range(worker: str) -> range:
    """The ports of a worker of pytest-xdist, `gw0` and on; the last range is for a run without workers."""
    number = int(worker.removeprefix("gw")) % (WORKERS - 1) if worker else WORKERS - 1
    first = FIRST + number * EACH
    return range(first + 1, first + EACH - METRICS, APART)


def free_port() -> int:
    """A port that is free together with those for health and metrics above it."""
    return _free(0, HEALTH, METRICS)


def free_grpc_port() -> int:
    """A port for Triton, free together with its neighbours, which serve HTTP and metrics."""
    return _free(-1, 0, 1)


def _free(*beside: int) -> int:
    mine = own_range(os.environ.get("PYTEST_XDIST_WORKER", ""))
    for _ in mine:
        port = mine[next(_turns) % len(mine)]
        if not ports.taken(ports.Port("127.0.0.1", port + one, "test") for one in beside):
            return port
    raise OSError(f"none of the ports {mine.start} to {mine.stop} is free")
