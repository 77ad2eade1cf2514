"""The pages that alerts lead to, and the query of each."""

import re
from collections.abc import Mapping
from pathlib import Path

from cli.places import ROOT

PAGES = sorted((ROOT / "deploy" / "runbooks").glob("*.md"))


def query(page: Path) -> str:
    """What the page has somebody ask of Prometheus."""
    (found,) = re.findall(
        r"^## Query\n\n```promql\n(.+?)\n```$", page.read_text(encoding="utf-8"), re.M | re.S
    )
    return str(found)


QUERIES: Mapping[str, str] = {page.stem: query(page) for page in PAGES}
