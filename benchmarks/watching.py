"""What processes hold while they run: memory, open files, asyncio tasks; sampled once a second."""

import asyncio
import os
import statistics
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")


@dataclass(frozen=True)
class Sample:
    """Resident bytes and open files of a process and those it started; `tasks` where they are told."""

    memory: int
    files: int
    tasks: int = 0


def sample(pid: int, tasks: Path | None = None) -> Sample:
    """Of the session that `pid` leads: a child of ours is started in one of its own."""
    pids = [one for one in PROC.iterdir() if one.name.isdigit() and _session(one) == pid]
    held = [_held(one) for one in pids]
    memory, files = (sum(one) for one in zip(*held, strict=True)) if held else (0, 0)
    return Sample(memory, files, _number(tasks) if tasks else 0)


@dataclass
class Watch:
    """Samples by process, in the order in which they were taken."""

    pids: Mapping[str, int]
    tasks: Mapping[str, Path]
    samples: list[Mapping[str, Sample]] = field(default_factory=list)

    def now(self) -> Mapping[str, Sample]:
        """One of each process."""
        return {name: sample(pid, self.tasks.get(name)) for name, pid in self.pids.items()}

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Takes samples while the block runs."""

        async def forever() -> None:
            while True:
                self.samples.append(self.now())
                await asyncio.sleep(1)

        running = asyncio.create_task(forever())
        try:
            yield
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    def growth(self) -> dict[str, float]:
        """By what share memory grew from the second quarter of the time to the last."""
        return {name: grown([one[name].memory for one in self.samples]) for name in self.pids}


def grown(values: Sequence[float]) -> float:
    """The mean of the last quarter over that of the second, less 1. The first is warming up."""
    quarter = len(values) // 4
    if not quarter:
        raise ValueError("values: at least 4")
    return statistics.fmean(values[-quarter:]) / statistics.fmean(values[quarter : 2 * quarter]) - 1


def _held(process: Path) -> tuple[int, int]:
    try:
        pages = int((process / "statm").read_text().split()[1])
        return pages * PAGE, len(list((process / "fd").iterdir()))
    except FileNotFoundError:  # it has ended
        return 0, 0


def _session(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:  # it has ended
        return 0


def _number(path: Path) -> int:
    try:
        return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # being written, or not yet
        return 0
