"""The matrix of faults, read from faults.yaml."""

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Fault:
    """What breaks, what its caller gets, the warning's detail if any, and `file::test` below tests/."""

    what: str
    status: str
    degraded: str
    test: str


FAULTS = tuple(
    Fault(**one)
    for one in yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8"))
)
