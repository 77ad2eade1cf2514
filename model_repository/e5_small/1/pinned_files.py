"""Refuses a model whose files are not the ones its config.pbtxt names."""

import hashlib
from collections.abc import Mapping
from pathlib import Path


class WrongFile(RuntimeError):
    """A file is absent or has another sha256 than the configuration says. The message names it."""


def check_files(folder: Path, expected: Mapping[str, str]) -> None:
    """File name -> sha256, in hexadecimal; raises WrongFile for the first that differs."""
    for name, digest in expected.items():
        path = folder / name
        if not path.is_file():
            raise WrongFile(f"{name} is absent: run `make models`")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != digest:
            raise WrongFile(f"{name} has sha256 {found}, config.pbtxt expects {digest}")
