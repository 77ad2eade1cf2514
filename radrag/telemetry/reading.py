"""Reads a /metrics page back."""

from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families


class Sample(NamedTuple):
    """One line of a page."""

    name: str
    labels: dict[str, str]
    value: float


def samples(page: str) -> Iterator[Sample]:
    """The samples of a page in the text format. Raises ValueError when it is none."""
    for family in text_string_to_metric_families(page):
        for one in family.samples:
            yield Sample(one.name, dict(one.labels), float(one.value))
