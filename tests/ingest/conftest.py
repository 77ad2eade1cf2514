"""Temporary folders in memory where the platform has one, and the databases a catalogue may live in."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server: the one RADRAG_TEST_POSTGRES_URL names, else one of our own on a socket."""
    if given := os.environ.get("RADRAG_TEST_POSTGRES_URL"):
        yield given
        return
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not found:
        pytest.skip("PostgreSQL is not installed and RADRAG_TEST_POSTGRES_URL names none")
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield from served(found[-1].parent, Path(folder))


def served(binaries: Path, folder: Path) -> Iterator[str]:
    """A server with its data in `folder`, stopped at the end; it refuses to run as root."""
    own: list[str | Path] = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if own:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    made = [*own, binaries / "initdb", "-D", data, "-U", "radrag", "-A", "trust", "-E", "UTF8", "--no-sync"]
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control = [*own, binaries / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
    ran(folder, made)
    ran(folder, [*control, "-o", options, "start"])
    try:
        yield f"postgresql+psycopg://radrag@/postgres?host={folder}"
    finally:
        ran(folder, [*control, "-m", "immediate", "stop"])


def ran(folder: Path, command: Sequence[str | Path]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
