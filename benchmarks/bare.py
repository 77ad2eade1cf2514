"""Runs a process of ours whose measuring stops at SIGUSR1 and goes on at SIGUSR2, to compare the two.

While it stands still metrics take nothing, no call is logged, no span is made and no record is written. The
stages of a reply stay, since they are part of it. Run: python -m benchmarks.bare gateway
"""

import runpy
import signal
import sys
from collections.abc import Iterator
from typing import Any

from radrag import telemetry
from radrag.account import Account, Trail
from radrag.serving import door
from radrag.telemetry import metrics, stages, traces

Place = tuple[Any, str]
NO_SPANS = traces.tracer  # as long as the process is not set up, they have nowhere to go


def silent() -> Iterator[tuple[Place, Any]]:
    """What stands where while nothing is measured."""
    for kind in {type(metric) for metric in metrics.ALL}:
        acts = [act for act in ("inc", "dec", "set", "observe", "clear") if hasattr(kind, act)]
        yield from (((kind, act), _nothing) for act in acts)
        yield (kind, "labels"), _itself
    for place in (stages, telemetry):
        yield (place, "child"), lambda metric, *labels: metric
    yield (door, "_log"), _nothing
    yield (door, "Account"), lambda method, trail: Account(method, Trail())
    yield (traces, "tracer"), NO_SPANS


def switchable() -> None:
    """Listens to the two signals. The first one must come once the process is set up."""
    quiet: dict[Place, Any] = dict(silent())
    loud: dict[Place, Any] = {}

    def stop(*_: object) -> None:
        for place in quiet:
            loud.setdefault(place, getattr(*place))
        _put(quiet)

    signal.signal(signal.SIGUSR1, stop)
    signal.signal(signal.SIGUSR2, lambda *_: _put(loud))


def _put(these: dict[Place, Any]) -> None:
    for (where, name), what in these.items():
        setattr(where, name, what)


def _nothing(*args: object, **kwargs: object) -> None:
    return None


def _itself(self: object, *args: object, **kwargs: object) -> object:
    return self


if __name__ == "__main__":
    switchable()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__")
