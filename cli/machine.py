"""What `radrag doctor` asks of this machine, each question a callable so that a test can answer for it."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cli import ports
from cli.model_environment import ModelEnvironment, SetupFailed, require_libpython
from cli.ports import Port


def _system() -> tuple[str, str]:
    return platform.system(), platform.machine()


def _python() -> tuple[int, int]:
    return sys.version_info[:2]


def _has_libpython() -> bool:
    try:
        require_libpython(ModelEnvironment())
    except SetupFailed:
        return False
    return True


def _memory() -> int:
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(lines["MemAvailable"].split()[0]) * 1024
    return min(available, _control_group_left(available))


def _control_group_left(otherwise: int) -> int:
    """What a container may still take: its limit counts, not the host's memory."""
    group = Path("/sys/fs/cgroup")
    try:
        return int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no such group, or "max": no limit
        return otherwise


def _disk(path: Path) -> int:
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def _writable(path: Path) -> bool:
    while not path.exists():
        path = path.parent
    return os.access(path, os.W_OK)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _installed(module: str) -> bool:
    return find_spec(module) is not None


def _ocr_languages() -> frozenset[str]:
    try:
        done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    return frozenset(done.stdout.split("\n")[1:-1])


@dataclass(frozen=True)
class Machine:
    """The questions. Sizes are bytes; `sha256` is empty for a file that cannot be read.

    `ocr_languages` are Tesseract's, by its own names; none where it is not installed.
    """

    system: Callable[[], tuple[str, str]] = _system
    python: Callable[[], tuple[int, int]] = _python
    has_libpython: Callable[[], bool] = _has_libpython
    memory: Callable[[], int] = _memory
    disk: Callable[[Path], int] = _disk
    writable: Callable[[Path], bool] = _writable
    exists: Callable[[Path], bool] = Path.exists
    sha256: Callable[[Path], str] = _sha256
    installed: Callable[[str], bool] = _installed
    ocr_languages: Callable[[], frozenset[str]] = _ocr_languages
    free: Callable[[Port], bool] = ports.free
    holder: Callable[[int], str] = ports.holder
