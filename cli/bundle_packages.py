"""Which packages an install of RadRAG needs: the closure of its extras, by this environment's metadata."""

from collections.abc import Iterable
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What a service or the command line needs; hatchling and editables install the checkout itself, and the last
# two write the sample documents.
EXTRAS = ("gateway", "retrieval", "ingest", "evaluation", "console", "postgres")
BUILD = ("hatchling", "editables", "reportlab", "python-docx")


def closure(extras: Iterable[str], more: Iterable[str] = ()) -> dict[str, Distribution]:
    """Every package by its name, radrag among them. Raises PackageNotFoundError for one not installed."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    left = [("radrag", frozenset(extras)), *((one, frozenset[str]()) for one in more)]
    while left:
        name, wanted = one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        found[name] = distribution(name)
        for needed in map(Requirement, found[name].requires or []):
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *wanted}):
                left.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return found


def pinned(found: dict[str, Distribution]) -> list[str]:
    """name==version of each, as a requirements file has them, without radrag."""
    return sorted(f"{name}=={one.version}" for name, one in found.items() if name != "radrag")
