"""Set-up's Debian packages: installed when that is allowed, else one line to run; on a made-up machine."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A Python of the right version that lacks one module.
BARE = '#!/bin/sh\ncase "$2" in *version_info*) echo 3.11 ;; *ensurepip*) exit 1 ;; esac\n'
WHOLE = '#!/bin/sh\ncase "$2" in *version_info*) echo 3.11 ;; esac\n'


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs; apt-get writes down how it was called."""
    programs = {
        "python": BARE,
        "id": "#!/bin/sh\necho 1000\n",
        "sudo": "#!/bin/sh\nexit 1\n",
        "apt-get": f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n',
    }
    for name, text in programs.items():
        place(tmp_path / name, text)
    return tmp_path


def place(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def set_up(machine: Path) -> "subprocess.CompletedProcess[str]":
    environ = {"PATH": f"{machine}:{os.environ['PATH']}"}
    command = [ROOT / "cli" / "setup.sh", machine / "python"]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def called(machine: Path) -> list[str]:
    return (machine / "called").read_text().splitlines() if (machine / "called").exists() else []


def test_where_nothing_is_missing_nothing_is_called(machine: Path) -> None:
    place(machine / "python", WHOLE)
    assert set_up(machine).returncode == 0
    assert called(machine) == []


def test_root_installs_what_is_missing(machine: Path) -> None:
    place(machine / "id", "#!/bin/sh\necho 0\n")
    assert set_up(machine).returncode == 0
    assert called(machine) == ["update -qq", "install -y --no-install-recommends python3.11-venv"]


def test_so_does_sudo_without_a_password(machine: Path) -> None:
    place(machine / "sudo", '#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
    assert set_up(machine).returncode == 0
    assert len(called(machine)) == 2


def test_anybody_else_gets_the_one_line_and_a_stop(machine: Path) -> None:
    finished = set_up(machine)
    assert finished.returncode == 1
    assert "sudo apt-get update && sudo apt-get install -y" in finished.stderr
    assert "python3.11-venv" in finished.stderr
    assert called(machine) == []


def test_another_python_is_refused_by_name(machine: Path) -> None:
    place(machine / "python", "#!/bin/sh\necho 3.13\n")
    finished = set_up(machine)
    assert (finished.returncode, "is 3.13" in finished.stderr) == (1, True)
