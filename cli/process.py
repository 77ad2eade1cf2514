"""One detached child: started in a session of its own, remembered in a pid file, stopped with all it started.

A pid alone proves nothing, since the kernel gives it out again: the file keeps the start time too, and a
process is ours only while both match.
"""

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where the kernel keeps it
FAILURE = re.compile(r"error|fail|exception|no such|cannot", re.IGNORECASE)


@dataclass(frozen=True)
class Identity:
    """A process as the kernel knows it; `started` is in clock ticks since boot."""

    pid: int
    started: int


def identity(pid: int) -> Identity | None:
    """Who has this pid now; None when nobody does, or only a zombie."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if after_name[0] == "Z" else Identity(pid, int(after_name[19]))


@dataclass(frozen=True)
class Child:
    """A child's name and the folder below which its pid file and its log lie.

    `shared` begins the names of what it keeps in shared memory: killed, it leaves that there.
    """

    name: str
    home: Path
    shared: str = ""

    @property
    def pid_file(self) -> Path:
        """Where its pid and start time are kept while it should run."""
        return self.home / "run" / f"{self.name}.json"

    @property
    def log(self) -> Path:
        """What it writes; the start before the last one's is kept beside it."""
        return self.home / "log" / f"{self.name}.log"

    def running(self) -> Identity | None:
        """The process, when the pid file's process still runs and is the one that was started."""
        try:
            known = Identity(**json.loads(self.pid_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return known if identity(known.pid) == known else None

    def start(self, command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Identity:
        """Starts it detached: own session, no input, no open file of ours. Raises OSError.

        It leaves no core file, which would hold what it was asked; nor does this process from then on.
        """
        forget_shared(self.shared)
        for path in (self.pid_file, self.log):
            path.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists():
            self.log.rename(self.log.with_suffix(".previous.log"))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process.returncode = 0  # it outlives us by design: keeps Popen from warning about that
        known = identity(process.pid) or Identity(process.pid, 0)
        self.pid_file.write_text(json.dumps(asdict(known)))
        return known

    async def stop(self, seconds: float) -> bool:
        """Ends it and what it started: asks first, kills after `seconds`. False when it was not running."""
        known = self.running()
        if known is not None:
            with suppress(ProcessLookupError):
                os.kill(known.pid, signal.SIGTERM)
            await _until_gone(known, seconds)
            with suppress(ProcessLookupError, PermissionError):
                # The leader if it would not end, and the stubs it may have left behind.
                os.killpg(known.pid, signal.SIGKILL)
        self.pid_file.unlink(missing_ok=True)
        forget_shared(self.shared)
        return known is not None

    def last_lines(self, count: int = 20) -> list[str]:
        """The end of its log; lines before it that speak of a failure come first."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            return []
        before = [line for line in lines[:-count] if FAILURE.search(line)]
        return [*before[-count:], *lines[-count:]]


def forget_shared(prefix: str) -> None:
    """Removes what a killed process left in shared memory under names that begin so; nothing for no name."""
    for left in SHARED_MEMORY.glob(f"{prefix}*") if prefix else ():
        left.unlink(missing_ok=True)


async def _until_gone(known: Identity, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while identity(known.pid) == known and loop.time() < end:  # noqa: ASYNC110  nobody signals its end
        await asyncio.sleep(0.05)
