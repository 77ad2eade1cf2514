"""Writes what a long run measured as JSON: the figures, the commit and the machine they belong to."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]


def record(path: Path, figures: Mapping[str, object]) -> None:
    """Writes one result, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit(), "machine": machine()}
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps({**said, **figures}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    aside.replace(path)


def commit() -> str:
    """The commit of the checkout, with a + when files differ from it; empty outside of one."""
    name = _git("rev-parse", "HEAD").strip()
    return name + "+" * bool(name and _git("status", "--porcelain", "--untracked-files=no").strip())


def machine() -> dict[str, object]:
    """Processor, cores that this process may use, memory in bytes, and the load of the last minute."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(names, platform.machine()),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": round(os.getloadavg()[0], 1),
    }


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout
