"""Runs a process of ours under cProfile, and writes where its loop's processor time went when it ends.

Run: python -m benchmarks.profiled FILE gateway. SIGTERM ends it, as always. Time is the thread's own, so that
other work on the machine does not count. Pages that programs keep have names of their own: `keep`.
"""

import cProfile
import io
import pstats
import runpy
import sys
import time
from pathlib import Path

from benchmarks.record import ROOT

LINES = 40
PROFILES = ROOT / "benchmarks" / "profiles"
OWN = ("cpu_", "allocated_", "loops_")  # how a program's page begins; all others are written by people


def keep(path: Path, page: str) -> None:
    """Writes a page. Raises ValueError for one of benchmarks/profiles that people write."""
    if path.resolve().parent == PROFILES and not path.name.startswith(OWN):
        raise ValueError(f"{path.name}: a page that people write; a program's begins with {' or '.join(OWN)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def text(profile: cProfile.Profile, head: str) -> str:
    """The dearest functions, by their own time and by the time in them."""
    page = io.StringIO()
    stats = pstats.Stats(profile, stream=page).strip_dirs()
    stats.sort_stats("tottime").print_stats(LINES)
    stats.sort_stats("cumtime").print_stats(LINES)
    lines = (line.rstrip() for line in page.getvalue().splitlines())
    return head + "\n" + "\n".join(lines).rstrip() + "\n"


def main(path: Path, module: str) -> None:
    """Runs the module as a program."""
    profile = cProfile.Profile(time.thread_time)
    sys.argv = [module]
    try:
        profile.runcall(runpy.run_module, module, run_name="__main__")
    finally:
        keep(path, text(profile, f"python -m {module}"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
