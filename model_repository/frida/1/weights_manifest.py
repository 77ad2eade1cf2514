"""What a folder of weights must hold: manifest.json, its format, check and making. Standard library only.

The file is {"format": 1, "name": "frida", "source": "where it came from, with a revision",
"files": {"model.safetensors": {"bytes": 3291, "sha256": "…"}, …}}: every file of the bundle but itself, paths
with forward slashes below the folder.

    python weights_manifest.py check FOLDER
    python weights_manifest.py write FOLDER NAME [SOURCE]
    python weights_manifest.py pin FOLDER CONFIG_PBTXT…
"""

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

FILE = "manifest.json"
FORMAT = 1
# What of a bundle is part of a model's fingerprint: parameter of config.pbtxt -> file.
PINNED = {
    "weights_sha256": "model.safetensors",
    "tokenizer_sha256": "tokenizer.json",
    "limits_sha256": "limits.json",
}


class Refused(RuntimeError):
    """Why a model does not start: one line, for an operator."""


class WrongBundle(Refused):
    """The weights are not those of their manifest, or there is none. The message names the file."""


@dataclass(frozen=True)
class File:
    """Size in bytes, and sha256 in hexadecimal."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """files: path below the bundle's folder -> what it must be."""

    name: str
    source: str
    files: dict[str, File]


def read(folder: Path) -> Manifest:
    """Raises WrongBundle when there is no manifest, or none that this program understands."""
    path = folder / FILE
    if not path.is_file():
        raise WrongBundle(f"{path} is absent")
    return parsed(path.read_bytes(), str(path))


def parsed(content: bytes, place: str) -> Manifest:
    """A manifest's content; `place` is where it was found, for the message of WrongBundle."""
    try:
        known = json.loads(content.decode("utf-8"))
        if known["format"] != FORMAT:
            raise WrongBundle(f"{place} has format {known['format']}, known is {FORMAT}")
        files = {checked(name): described(**entry) for name, entry in known["files"].items()}
        return Manifest(known["name"], known["source"], files)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise WrongBundle(f"{place} is no manifest") from None


def described(bytes: int, sha256: str) -> File:  # noqa: A002 - the manifest's own names
    if type(bytes) is not int or bytes < 0 or not re.fullmatch("[0-9a-f]{64}", sha256):
        raise ValueError("bytes, sha256")
    return File(bytes, sha256)


def checked(name: str) -> str:
    """A manifest comes with the weights: it must not make us read elsewhere."""
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise ValueError(name)
    return name


def faults(folder: Path, manifest: Manifest) -> list[str]:
    """One line for every file that is absent, truncated or another; sizes first, they cost nothing."""
    return [
        line for name, file in sorted(manifest.files.items()) if (line := fault(folder / name, name, file))
    ]


def fault(path: Path, name: str, expected: File) -> str:
    if not path.is_file():
        return f"{name} is absent"
    size = path.stat().st_size
    if size != expected.bytes:
        how = "truncated" if size < expected.bytes else "too long"
        return f"{name} is {how}: {size} bytes, the manifest says {expected.bytes}"
    found = digest(path)
    return (
        "" if found == expected.sha256 else f"{name} has sha256 {found}, the manifest says {expected.sha256}"
    )


def verify(folder: Path, *required: str) -> Manifest:
    """The folder's manifest, when it lists `required` and every file is right. Raises WrongBundle."""
    manifest = read(folder)
    unlisted = [f"{name} is not in the manifest" for name in required if name not in manifest.files]
    wrong = [*unlisted, *faults(folder, manifest)]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise WrongBundle(f"{folder}: {wrong[0]}{more}")
    return manifest


def require_pins(manifest: Manifest, parameters: dict[str, str]) -> None:
    """Raises WrongBundle when config.pbtxt publishes hashes that are not the bundle's."""
    for parameter, pin in pins(manifest).items():
        if parameters.get(parameter) != pin:
            raise WrongBundle(
                f"{pinned(manifest)[parameter]} has sha256 {pin}, config.pbtxt says"
                f" {parameters.get(parameter)}: pin it with `weights_manifest.py pin`"
            )


def pins(manifest: Manifest) -> dict[str, str]:
    return {key: manifest.files[name].sha256 for key, name in pinned(manifest).items()}


def pinned(manifest: Manifest) -> dict[str, str]:
    """What of this bundle is part of a fingerprint, as PINNED; of a lone .gguf file all is."""
    ggufs = [name for name in manifest.files if name.endswith(".gguf")]
    known = PINNED | ({"weights_sha256": ggufs[0]} if len(ggufs) == 1 else {})
    return {key: name for key, name in known.items() if name in manifest.files}


def write(folder: Path, name: str, source: str = "") -> Manifest:
    """Describes what lies in the folder now, hidden files aside."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    names = [path.relative_to(folder).as_posix() for path in paths]
    visible = [each for each in names if not any(part.startswith(".") for part in each.split("/"))]
    files = {each: File((folder / each).stat().st_size, digest(folder / each)) for each in visible}
    manifest = Manifest(name, source, files)
    (folder / FILE).write_text(text(manifest), encoding="utf-8")
    return manifest


def text(manifest: Manifest) -> str:
    """What manifest.json holds."""
    return json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1, ensure_ascii=False) + "\n"


def pin(manifest: Manifest, config: Path) -> None:
    """Writes the bundle's hashes into a config.pbtxt: what the server will publish as its fingerprint."""
    text = config.read_text(encoding="utf-8")
    for parameter, value in pins(manifest).items():
        entry = rf'(key: "{parameter}"\s+value: {{ string_value: ")[^"]*(")'
        text, changed = re.subn(entry, rf"\g<1>{value}\g<2>", text)
        if not changed and parameter != "limits_sha256":
            raise WrongBundle(f"{config} has no parameter {parameter}")
    config.write_text(text, encoding="utf-8")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["check", folder]:
            verify(Path(folder))
        case ["write", folder, name, *source]:
            write(Path(folder), name, *source)
        case ["pin", folder, *configs] if configs:
            for config in configs:
                pin(verify(Path(folder)), Path(config))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except WrongBundle as wrong:
        sys.exit(str(wrong))
