"""A model's weights as one file: how it is written, and how it is read once from front to back.

The same weights give the same bytes: names in order, no dates, no owners. manifest.json comes first, so that
the reader knows what must follow.
"""

import hashlib
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from cli.models_manifest import FILE, Manifest, WrongBundle, parsed, read

BLOCK = 1 << 20


def written(folder: Path, file: Path) -> None:
    """Writes the bundle of a folder that was found right; in its place only when it is whole."""
    part = file.with_name(file.name + ".part")
    try:
        with tarfile.open(part, "w", format=tarfile.PAX_FORMAT) as tar:
            for name in (FILE, *sorted(read(folder).files)):
                with (folder / name).open("rb") as content:
                    tar.addfile(_entry(name, (folder / name).stat().st_size), content)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o644
    return entry


def unpacked(file: Path, keep: Callable[[str], BinaryIO]) -> tuple[Manifest, list[str]]:
    """Reads a bundle to its end, writing each file to what `keep` opens for it.

    Returns its manifest, and a line for every file that is missing, superfluous or another than it says.
    Raises WrongBundle for what is no bundle.
    """
    with _opened(file) as tar:
        entries = iter(tar)
        manifest = _manifest(tar, next(entries, None), file)
        left, wrong = dict(manifest.files), list[str]()
        for entry in entries:
            expected = left.pop(entry.name, None)
            if expected is None or not entry.isreg():
                wrong.append(f"{entry.name} is not in the manifest, or no file")
                continue
            with keep(entry.name) as target:
                size, found = _copied(tar.extractfile(entry), target)
            if (size, found) != (expected.bytes, expected.sha256):
                wrong.append(
                    f"{entry.name} has {size} bytes and sha256 {found},"
                    f" the manifest says {expected.bytes} and {expected.sha256}"
                )
        return manifest, [*wrong, *(f"{name} is absent" for name in left)]


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r|") as tar:
            yield tar
    except (tarfile.TarError, EOFError) as error:
        raise WrongBundle(f"{file} is no bundle, or not all of one: {error}") from None


def _manifest(tar: tarfile.TarFile, first: tarfile.TarInfo | None, file: Path) -> Manifest:
    if first is None or first.name != FILE:
        raise WrongBundle(f"{file} is no bundle: it does not begin with {FILE}")
    content = tar.extractfile(first)
    return parsed(content.read() if content else b"", f"{file}: {FILE}")


def _copied(source: IO[bytes] | None, target: BinaryIO) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    while block := source.read(BLOCK) if source else b"":
        digest.update(block)
        size += len(block)
        target.write(block)
    return size, digest.hexdigest()
