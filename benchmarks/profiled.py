"""Runs a process of ours under cProfile, and writes where its loop's processor time went when it ends.

Run: python -m benchmarks.profiled FILE gateway. SIGTERM ends it, as always. Time is the thread's own, so that
other work on the machine does not count.
"""

import cProfile
import io
import pstats
import runpy
import sys
import time
from pathlib import Path

LINES = 40


def text(profile: cProfile.Profile, head: str) -> str:
    """The dearest functions, by their own time and by the time in them."""
    page = io.StringIO()
    stats = pstats.Stats(profile, stream=page).strip_dirs()
    stats.sort_stats("tottime").print_stats(LINES)
    stats.sort_stats("cumtime").print_stats(LINES)
    return f"{head}\n{page.getvalue()}"


def main(path: Path, module: str) -> None:
    """Runs the module as a program."""
    profile = cProfile.Profile(time.thread_time)
    sys.argv = [module]
    try:
        profile.runcall(runpy.run_module, module, run_name="__main__")
    finally:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(profile, f"python -m {module}"), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
