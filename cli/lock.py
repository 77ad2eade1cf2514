"""Turns pip's report of a resolution into a lock. Run: python -m cli.lock REPORT > requirements.lock

The lock is complete, so that it is installed without resolving; it names versions only, no index and no file.
"""

import json
import sys
from pathlib import Path

HEADER = "# Every package of the main environment, exactly. Made by `make lock`; installed by `make setup`."


def lines(report: str) -> list[str]:
    """name==version, sorted, without the project itself. Raises ValueError when torch has crept in."""
    packages = [item["metadata"] for item in json.loads(report)["install"]]
    found = {one["name"].lower().replace("_", "-"): one["version"] for one in packages}
    if "torch" in found:
        raise ValueError("torch has crept into the resolution: nothing here may need it")
    return [f"{name}=={version}" for name, version in sorted(found.items()) if name != "radrag"]


if __name__ == "__main__":
    print(HEADER, *lines(Path(sys.argv[1]).read_text()), sep="\n")
