"""What has to stand beside a measured number: the day, the commit and the machine it was measured on."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def provenance(root: Path) -> dict[str, object]:
    """Day (UTC), commit (`+` when files differ from it), machine; commit is empty outside a checkout."""
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "commit": _commit(root),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
    }


def _commit(root: Path) -> str:
    commit = _git(root, "rev-parse", "HEAD")
    return commit + ("+" if commit and _git(root, "status", "--porcelain", "--untracked-files=no") else "")


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603, S607
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
