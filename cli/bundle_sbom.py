"""The bill of materials of a bundle: CycloneDX 1.5 JSON, out of what the wheels say of themselves."""

import email
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def bill(
    version: str, wheels: Mapping[Path, str], data: Mapping[str, str], images: Iterable[str]
) -> dict[str, object]:
    """`wheels` and `data` (weights, OCR): sha256 by file. The same bundle gives the same bill: no date."""
    parts = sorted(
        (_package(wheel, sha) for wheel, sha in wheels.items()), key=lambda one: str(one["bom-ref"])
    )
    unique = {str(one["bom-ref"]): one for one in parts}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "radrag", "version": version}},
        "components": [
            *unique.values(),
            *(_data(name, sha) for name, sha in sorted(data.items())),
            *({"type": "container", "bom-ref": f"image/{one}", "name": one} for one in sorted(images)),
        ],
    }


def _package(wheel: Path, sha: str) -> dict[str, object]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [
            one for one in archive.namelist() if one.count("/") == 1 and one.endswith(".dist-info/METADATA")
        ]
        said = email.message_from_bytes(archive.read(name))
    place = f"pkg:pypi/{said['Name'].lower().replace('_', '-')}@{said['Version']}"
    licence = said["License-Expression"] or _classified(said.get_all("Classifier") or []) or said["License"]
    one: dict[str, object] = {
        "type": "library",
        "bom-ref": f"{place}#{wheel.name}",
        "name": said["Name"],
        "version": said["Version"],
        "purl": place,
        "hashes": [{"alg": "SHA-256", "content": sha}],
    }
    if licence:  # a name; some packages put the whole text there
        one["licenses"] = [{"license": {"name": licence.strip().splitlines()[0][:120]}}]
    return one


def _classified(classifiers: Iterable[str]) -> str:
    names = [one.rsplit(" :: ", 1)[1] for one in classifiers if one.startswith("License :: ")]
    return " AND ".join(names)


def _data(name: str, sha: str) -> dict[str, object]:
    return {
        "type": "machine-learning-model" if name.startswith("weights/") else "data",
        "bom-ref": name,
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": sha}],
    }
