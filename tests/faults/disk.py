"""A disk of the tests' own that can be full or read-only: a tmpfs in a mount namespace, without root."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MEGABYTES = 400  # an index keeps 128 free, and each collection's log takes 32 at once
NEW = ("unshare", "--user", "--map-root-user", "--mount")


@dataclass(frozen=True)
class Disk:
    """Seen by processes that are started with `inside` alone; `folder` is where it is mounted."""

    folder: Path
    holder: int

    @property
    def inside(self) -> Sequence[str]:
        """What to put before a command."""
        return (
            "nsenter",
            "--preserve-credentials",
            "--user",
            "--mount",
            f"--target={self.holder}",
            "--wdns=.",
        )

    def fill(self) -> None:
        """Leaves no byte free."""
        fill = self.folder / "fill"
        self._run("sh", "-c", f"cat /dev/zero > {fill} 2>/dev/null; test $(stat -f -c %a {self.folder}) = 0")

    def free(self) -> None:
        """Takes away what filled it."""
        self._run("rm", str(self.folder / "fill"))

    def read_only(self) -> None:
        """Takes no writes from now on. The kernel allows it only while no file is open for writing."""
        self._run("mount", "--options", "remount,ro", str(self.folder))

    def writable(self) -> None:
        """Takes writes again."""
        self._run("mount", "--options", "remount,rw", str(self.folder))

    def _run(self, *line: str) -> None:
        subprocess.run([*self.inside, *line], check=True, capture_output=True)


def possible() -> bool:
    """Whether this machine lets us have one."""
    try:
        done = subprocess.run(
            [*NEW, "mount", "-t", "tmpfs", "none", "/mnt"], check=False, capture_output=True
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0


@contextmanager
def disk(folder: Path) -> Iterator[Disk]:
    """A disk at `folder` for as long as the block runs."""
    folder.mkdir()
    said = f"mount -t tmpfs -o size={MEGABYTES}m none {folder} && echo mounted && exec sleep 1000000"
    holder = subprocess.Popen([*NEW, "sh", "-c", said], stdout=subprocess.PIPE)
    try:
        assert holder.stdout
        assert holder.stdout.readline() == b"mounted\n"
        yield Disk(folder, holder.pid)
    finally:
        holder.kill()
        holder.communicate()
