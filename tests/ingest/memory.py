"""How much memory the processes of a group hold, as the kernel counts it."""

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def group_bytes(group: int) -> int:
    """Resident bytes of all processes in a process group, pages that they share counted for each."""
    return sum(resident(process) for process in Path("/proc").glob("[0-9]*") if group_of(process) == group)


def group_of(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[2])
    except OSError:  # it has just ended
        return -1


def resident(process: Path) -> int:
    """Resident bytes of one process, by its folder below /proc; 0 when it has ended."""
    try:
        return int((process / "statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0
