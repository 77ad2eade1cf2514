"""The matrix of faults, read from faults.yaml."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Fault:
    """What breaks and what comes of it, as the head of faults.yaml says."""

    what: str
    status: str
    degraded: str
    alert: str
    back: str
    test: str

    @property
    def most(self) -> float | None:
        """Seconds after which all must be well again, where they are measured."""
        form = re.fullmatch(r"([\d.]+) s", self.back)
        return float(form[1]) if form else None


FAULTS = tuple(
    Fault(**one)
    for one in yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8"))
)
