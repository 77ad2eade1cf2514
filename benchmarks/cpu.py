"""CPU seconds by the scheduler's own count: the clock ticks that `loops.spent` reads are long for a call."""

from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")


def members(leader: int) -> dict[int, str]:
    """The processes of a service, by pid, with their names: the group that its first process leads."""
    found = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            told = (folder / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:  # it has just ended
            continue
        name, _, rest = told.rpartition(")")
        if int(rest.split()[2]) == leader:
            found[int(folder.name)] = name.partition("(")[2]
    return found


def seconds(pids: Iterable[int]) -> float:
    """What the threads of these processes took so far. Threads that ended do not count."""
    return sum(_nanoseconds(pid) for pid in pids) / 1e9


def _nanoseconds(pid: int) -> int:
    files = (PROC / str(pid) / "task").glob("*/schedstat")
    return sum(int(one.read_text(encoding="ascii").split()[0]) for one in files)
