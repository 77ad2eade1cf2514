"""Runs a process of ours without any measuring, to compare with. Run: python -m benchmarks.bare gateway

Metrics take nothing, no call is logged, and without a collector's address no span is made. The stages of a
reply stay, since they are part of it. The audit trail has a setting of its own.
"""

import runpy
import sys

from radrag.serving import door
from radrag.telemetry import metrics


def silence() -> None:
    """Takes the work out of what measures."""
    for kind in {type(metric) for metric in metrics.ALL}:
        acts = {act: _nothing for act in ("inc", "dec", "set", "observe", "clear") if hasattr(kind, act)}
        for act, instead in {**acts, "labels": _itself}.items():
            setattr(kind, act, instead)
    door._log = _nothing


def _nothing(*args: object, **kwargs: object) -> None:
    return None


def _itself(self: object, *args: object, **kwargs: object) -> object:
    return self


if __name__ == "__main__":
    silence()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__")
