"""Reads single figures from a /metrics page."""

import asyncio
import urllib.request

from prometheus_client.parser import text_string_to_metric_families


async def total(address: str, name: str, **labels: str) -> float:
    """The sum of the samples `name` whose labels agree; 0 where there is none."""

    def read() -> str:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as page:
            # Parsed is only what is asked for: who measures milliseconds by this must not spend them here.
            lines = str(page.read().decode()).splitlines(keepends=True)
            return "".join(line for line in lines if line.startswith(name))

    return added(await asyncio.to_thread(read), name, labels)


def added(page: str, name: str, labels: dict[str, str]) -> float:
    """As `total`, of a page that is at hand."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )
