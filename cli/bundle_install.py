"""Checks a bundle and installs it into an empty folder, without any network. Standard library only.

A bundle carries this file as install.py, since in a closed network nothing else is there yet:

    python3.11 BUNDLE/install.py PREFIX
"""

import hashlib
import importlib.util
import json
import os
import platform
import posixpath
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

MANIFEST = "manifest.json"
FORMAT = 2
SOURCE = "source.tar"
PYTHON = (3, 11)
# Files that a converted model consists of, in the bundle and in the model repository.
WEIGHTS = PurePosixPath("weights/e5_small")
CONVERTED = PurePosixPath("model_repository/e5_small/1")


class WrongBundle(RuntimeError):
    """The bundle is not what its manifest says, or cannot be installed here; the message names the file."""


def digest(path: Path) -> str:
    """sha256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def machine() -> str:
    """What the packages of a bundle are for, as Linux x86_64."""
    return f"{platform.system()} {platform.machine()}"


def files(folder: Path) -> Iterator[str]:
    """Everything below that is no folder, as the manifest names it; the manifest itself left out."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name != MANIFEST and (path.is_symlink() or not path.is_dir()):
            yield name


def described(folder: Path) -> dict[str, dict[str, object]]:
    """Size and sha256 of every file, by name."""
    paths = {name: folder / name for name in files(folder)}
    return {name: {"bytes": path.stat().st_size, "sha256": digest(path)} for name, path in paths.items()}


def wrong(bundle: Path) -> list[str]:
    """A line for every file that is absent, superfluous or another. Raises WrongBundle without a manifest."""
    expected, _ = _manifest(bundle)
    there = set(files(bundle))
    lines = [f"{name} is absent" for name in sorted(expected.keys() - there)]
    lines += [f"{name} is not in the manifest" for name in sorted(there - expected.keys())]
    return lines + [
        f"{name} {fault}"
        for name in sorted(there & expected.keys())
        if (fault := _fault(bundle / name, *expected[name]))
    ]


def _fault(path: Path, size: int, sha256: str) -> str:
    """What is wrong with a file; "" for nothing. A stick that fails shows only when it is read."""
    try:
        if path.is_symlink() or not path.is_file():
            return "is no plain file"
        if path.stat().st_size != size:
            return f"has {path.stat().st_size} bytes, the manifest says {size}"
        return "" if digest(path) == sha256 else "has another sha256 than the manifest says"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _manifest(bundle: Path) -> tuple[dict[str, tuple[int, str]], str]:
    """Size and sha256 by name, and the machine that the packages are for."""
    try:
        said = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
        if said["format"] != FORMAT:
            raise WrongBundle(f"{MANIFEST} has format {said['format']}, this program reads {FORMAT}")
        expected = {
            name: (int(one["bytes"]), str(one["sha256"])) for name, one in dict(said["files"]).items()
        }
        return expected, str(said["machine"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongBundle(f"{bundle} is no bundle: {MANIFEST}: {type(error).__name__}") from None


def install(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    """Verifies, then unpacks the project, builds both environments and the samples. Raises WrongBundle.

    What it began and could not end it takes away again.
    """
    _fits(bundle, prefix)
    if lines := wrong(bundle):
        raise WrongBundle("\n".join(lines))
    made = prefix.exists()
    try:
        _installed(bundle, prefix, _offline(environ))
    except BaseException as error:
        _emptied(prefix, made)
        if isinstance(error, OSError | tarfile.TarError | subprocess.CalledProcessError):
            raise WrongBundle(f"not installed: {error}") from None
        raise


def _fits(bundle: Path, prefix: Path) -> None:
    """Raises WrongBundle where the bundle cannot be installed, before anything is read or written."""
    if sys.version_info[:2] != PYTHON:
        version = ".".join(map(str, sys.version_info[:2]))
        raise WrongBundle(f"install needs Python 3.11, and this is {version}")
    if not importlib.util.find_spec("ensurepip"):
        raise WrongBundle("install needs Python's ensurepip: Debian has it in python3.11-venv")
    if prefix.exists() and (not prefix.is_dir() or any(prefix.iterdir())):
        raise WrongBundle(f"{prefix} is not empty")
    _, wanted = _manifest(bundle)
    if wanted != machine():
        raise WrongBundle(f"the bundle is for {wanted}, and this is {machine()}: create one there")


def _installed(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    _unpack(bundle / SOURCE, prefix)
    if (bundle / WEIGHTS).is_dir():
        shutil.copytree(bundle / WEIGHTS, prefix / CONVERTED, dirs_exist_ok=True)
    if (bundle / "ocr").is_dir():
        shutil.copytree(bundle / "ocr", prefix / "ocr")
    _main(bundle, prefix, environ)
    if (bundle / "wheels" / "models").is_dir():
        _models(bundle, prefix, environ)


def _emptied(prefix: Path, keep: bool) -> None:
    """A folder that was there stays, as empty as it was."""
    shutil.rmtree(prefix, ignore_errors=True)
    if keep:
        prefix.mkdir(exist_ok=True)


def _offline(environ: Mapping[str, str]) -> dict[str, str]:
    """pip with no index and no configuration of this machine's or user's."""
    kept = {name: one for name, one in environ.items() if not name.startswith("PIP_")}
    return kept | {
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }


def _unpack(file: Path, prefix: Path) -> None:
    with tarfile.open(file) as tar:
        for entry in tar:
            if _leads_out(entry):
                raise WrongBundle(f"{file.name}: {entry.name} leads out of the folder")
            tar.extract(entry, prefix)


def _leads_out(entry: tarfile.TarInfo) -> bool:
    """Whether a name, or what a link points to, is anything but a place below the folder."""
    above = posixpath.dirname(entry.name) if entry.issym() else ""
    names = [entry.name, *([posixpath.join(above, entry.linkname)] if entry.issym() or entry.islnk() else [])]
    return entry.isdev() or any(
        posixpath.isabs(name) or posixpath.normpath(name).split("/")[0] == ".." for name in names
    )


def _main(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    venv.create(prefix / ".venv", with_pip=True)
    python = prefix / ".venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps"]
    here = {**environ, "PIP_FIND_LINKS": _wheels(bundle, "main")}
    _run([*pip, "--requirement", str((bundle / "requirements-main.txt").absolute())], prefix, here)
    _run([*pip, "--no-build-isolation", "--editable", "."], prefix, here)
    (prefix / ".venv" / "stamp").touch()  # for make: there is nothing to install


def _wheels(bundle: Path, name: str) -> str:
    """A folder of packages for pip, which parts such a variable at spaces: sticks have names with some."""
    return (bundle / "wheels" / name).absolute().as_uri()


def _models(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    python = prefix / ".venv" / "bin" / "python"
    here = {**environ, "PIP_FIND_LINKS": _wheels(bundle, "models")}
    _run([str(python), "-m", "cli.model_environment"], prefix, here)
    _run([str(python), "-m", "samples.build"], prefix, here)


def _run(line: list[str], folder: Path, environ: Mapping[str, str]) -> None:
    if subprocess.run(line, cwd=folder, env=dict(environ), check=False).returncode:
        raise WrongBundle(f"{' '.join(line)} failed: its output is above")


def main() -> int:
    """install.py PREFIX"""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        install(Path(__file__).resolve().parent, Path(sys.argv[1]).absolute(), os.environ)
    except WrongBundle as error:
        print(f"install: {error}", file=sys.stderr)
        return 1
    print(f"installed in {sys.argv[1]}: try .venv/bin/radrag demo there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
