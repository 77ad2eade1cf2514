"""Checks a bundle and installs it into an empty folder, without any network. Standard library only.

A bundle carries this file as install.py, since in a closed network nothing else is there yet:

    python3.11 BUNDLE/install.py PREFIX
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

MANIFEST = "manifest.json"
FORMAT = 1
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


def files(folder: Path) -> Iterator[str]:
    """Every file below, as the manifest names them; the manifest itself left out."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != MANIFEST:
            yield name


def described(folder: Path) -> dict[str, dict[str, object]]:
    """Size and sha256 of every file, by name."""
    paths = {name: folder / name for name in files(folder)}
    return {name: {"bytes": path.stat().st_size, "sha256": digest(path)} for name, path in paths.items()}


def wrong(bundle: Path) -> list[str]:
    """A line for every file that is absent, superfluous or another. Raises WrongBundle without a manifest."""
    expected = _manifest(bundle)
    there = set(files(bundle))
    lines = [f"{name} is absent" for name in sorted(expected.keys() - there)]
    lines += [f"{name} is not in the manifest" for name in sorted(there - expected.keys())]
    for name in sorted(there & expected.keys()):
        size, said = (bundle / name).stat().st_size, expected[name]
        if size != said["bytes"]:
            lines.append(f"{name} has {size} bytes, the manifest says {said['bytes']}")
        elif digest(bundle / name) != said["sha256"]:
            lines.append(f"{name} has another sha256 than the manifest says")
    return lines


def _manifest(bundle: Path) -> dict[str, dict[str, object]]:
    try:
        said = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
        expected: dict[str, dict[str, object]] = said["files"]
    except (OSError, ValueError, KeyError) as error:
        raise WrongBundle(f"{bundle} is no bundle: {MANIFEST}: {type(error).__name__}") from None
    if said.get("format") != FORMAT:
        raise WrongBundle(f"{MANIFEST} has format {said.get('format')}, this program reads {FORMAT}")
    return expected


def install(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    """Verifies, then unpacks the project, builds both environments and the samples. Raises WrongBundle."""
    if sys.version_info[:2] != PYTHON:
        raise WrongBundle(
            f"install needs Python 3.11, and this is {sys.version_info[0]}.{sys.version_info[1]}"
        )
    if prefix.exists() and any(prefix.iterdir()):
        raise WrongBundle(f"{prefix} is not empty")
    if lines := wrong(bundle):
        raise WrongBundle("\n".join(lines))
    _unpack(bundle / SOURCE, prefix)
    if (bundle / WEIGHTS).is_dir():
        shutil.copytree(bundle / WEIGHTS, prefix / CONVERTED, dirs_exist_ok=True)
    if (bundle / "ocr").is_dir():
        shutil.copytree(bundle / "ocr", prefix / "ocr")
    offline = {
        **environ,
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    for name in [one for one in offline if one.startswith("PIP_") and one.endswith("INDEX_URL")]:
        del offline[name]
    _main(bundle, prefix, offline)
    if (bundle / "wheels" / "models").is_dir():
        _models(bundle, prefix, offline)


def _unpack(file: Path, prefix: Path) -> None:
    with tarfile.open(file) as tar:
        for entry in tar:
            if entry.name.startswith("/") or ".." in PurePosixPath(entry.name).parts:
                raise WrongBundle(f"{file.name}: {entry.name} leads out of the folder")
            tar.extract(entry, prefix)


def _main(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    venv.create(prefix / ".venv", with_pip=True)
    python = prefix / ".venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps"]
    here = {**environ, "PIP_FIND_LINKS": str((bundle / "wheels" / "main").absolute())}
    _run([*pip, "--requirement", str((bundle / "requirements-main.txt").absolute())], prefix, here)
    _run([*pip, "--no-build-isolation", "--editable", "."], prefix, here)
    (prefix / ".venv" / "stamp").touch()  # for make: there is nothing to install


def _models(bundle: Path, prefix: Path, environ: Mapping[str, str]) -> None:
    python = prefix / ".venv" / "bin" / "python"
    here = {**environ, "PIP_FIND_LINKS": str((bundle / "wheels" / "models").absolute())}
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
