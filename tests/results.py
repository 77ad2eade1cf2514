"""Where a long test leaves what it measured: below the folder that RADRAG_TEST_RESULTS names, if any."""

import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.record import record


def kept(name: str, figures: Mapping[str, object]) -> None:
    """Prints the figures, and writes them as NAME.json with the commit and the machine."""
    print(f"{name}: {dict(figures)}")  # noqa: T201 - what was measured
    if folder := os.environ.get("RADRAG_TEST_RESULTS"):
        record(Path(folder) / f"{name}.json", figures)
