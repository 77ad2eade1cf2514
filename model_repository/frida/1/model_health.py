"""Whether a model on Triton can still serve; one that cannot ends its server, so that it is started anew."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from failures import DeviceLost

Found = TypeVar("Found")
# What a caller is told.
LOST = "the model's device is lost; the server ends"


class Health:
    """Of one model's process."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.lost = False

    def kept(self, work: Callable[[], Found]) -> Found | None:
        """What `work` returns; None once the device is lost."""
        if self.lost:
            return None
        try:
            return work()
        except DeviceLost as error:
            self.lost = True
            end_server(f"{self.model} can serve no more: {error}")
            return None


def end_server(why: str) -> None:
    """Tells Triton to end: from now on it is not ready, callers go to another, and whoever runs it starts it
    anew, with a new context on the device."""
    print(f"{why}. Triton is told to end, so that it is started anew", file=sys.stderr, flush=True)
    parent = os.getppid()
    if Path(f"/proc/{parent}/comm").read_text(encoding="utf-8").startswith("tritonserver"):
        os.kill(parent, signal.SIGTERM)
    else:
        # Whatever stands there, this process can compute no more.
        os._exit(1)
