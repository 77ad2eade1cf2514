"""Turns pip's report of a resolution into a lock: `make lock` does it.

    python -m cli.lock versions REPORT > requirements.lock      for any platform
    python -m cli.lock hashes REPORT > requirements.hashes      for ours: CPython 3.11 on Linux, x86-64
    python -m cli.lock here                                     what pip is given on this machine

The lock is complete, so that it is installed without resolving; it names no index and no file.
"""

import json
import platform
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HEADER = "# Every package of the main environment, exactly. Made by `make lock`; installed by `make setup`."
HASHED = (
    "# requirements.lock with each file's sha256, for CPython 3.11 on Linux on x86-64. Made by `make lock`;\n"
    "# installed by `make setup` there, and elsewhere the versions alone."
)
OURS = ("CPython", (3, 11), "Linux", "x86_64")


def packages(report: str) -> dict[str, Mapping[str, Any]]:
    """What would be installed by `name==version`, sorted, without the project itself.

    Raises ValueError when torch has crept in.
    """
    found = {_normalised(item["metadata"]["name"]): item for item in json.loads(report)["install"]}
    if "torch" in found:
        raise ValueError("torch has crept into the resolution: nothing here may need it")
    ours = (one for one in sorted(found.items()) if one[0] != "radrag")
    return {f"{name}=={item['metadata']['version']}": item for name, item in ours}


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()  # as an index names it


def versions(report: str) -> list[str]:
    """The lines of requirements.lock."""
    return [HEADER, *packages(report)]


def hashes(report: str) -> list[str]:
    """The lines of requirements.hashes. Raises KeyError for a file without a sha256."""
    return [HASHED, *(f"{pin} --hash=sha256:{_sha256(item)}" for pin, item in packages(report).items())]


def _sha256(item: Mapping[str, Any]) -> str:
    sha256: str = item["download_info"]["archive_info"]["hashes"]["sha256"]
    return sha256


def here() -> str:
    """The options of `pip install` that install the lock on this machine."""
    this = (
        platform.python_implementation(), sys.version_info[:2], platform.system(), platform.machine(),
    )  # fmt: skip
    if this == OURS:
        return "--require-hashes --requirement requirements.hashes"
    print("no hashes are kept for this platform: versions alone are checked", file=sys.stderr)
    return "--requirement requirements.lock"


if __name__ == "__main__":
    act, *report = sys.argv[1:]
    made: dict[str, Callable[[str], list[str]]] = {"versions": versions, "hashes": hashes}
    lines = made[act](Path(report[0]).read_text(encoding="utf-8")) if report else [here()]
    print(*lines, sep="\n")
