"""A stored baseline, and which figures of a new run have fallen out of its bootstrap intervals."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from evaluation.jsonl import DatasetError
from evaluation.measures import Mean


def write(path: Path, found: Mapping[str, Mean], data: str) -> None:
    """Keeps a run as the baseline; `data` is the hash of what was measured."""
    kept = {"data_sha256": data, "measures": {name: asdict(one) for name, one in found.items()}}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def read(path: Path, data: str) -> dict[str, Mean]:
    """The baseline. Raises DatasetError when it is missing, broken, or of other data."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        measures = {name: Mean(**one) for name, one in kept["measures"].items()}
        of = kept["data_sha256"]
    except OSError:
        raise DatasetError(path, 0, "is missing: make it with --write") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(path, 0, f"is not a baseline ({type(error).__name__})") from None
    if of != data:
        raise DatasetError(path, 0, "was measured on other data: look at the change, then --write")
    return measures


def fallen(found: Mapping[str, Mean], baseline: Mapping[str, Mean]) -> list[str]:
    """A sentence for each figure below its baseline's interval, or missing."""
    return [
        f"{name} is {found[name].mean:.3f}, below {one.low:.3f} (baseline {one.mean:.3f})"
        if name in found
        else f"{name} was not measured"
        for name, one in baseline.items()
        # Not "below": a figure that is no number has fallen too.
        if name not in found or not found[name].mean >= one.low - 1e-9
    ]
