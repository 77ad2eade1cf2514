"""The bill of materials of a bundle: CycloneDX 1.5 JSON, out of what the wheels say of themselves."""

import email
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from cli.bundle_install import digest


def bill(version: str, wheels: Iterable[Path], weights: Mapping[str, str]) -> dict[str, object]:
    """`weights`: sha256 by file name. The same bundle gives the same bill: no date, no serial number."""
    parts = sorted((_package(wheel) for wheel in wheels), key=lambda one: str(one["bom-ref"]))
    unique = {str(one["bom-ref"]): one for one in parts}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "radrag", "version": version}},
        "components": [*unique.values(), *(_weights(name, sha) for name, sha in sorted(weights.items()))],
    }


def _package(wheel: Path) -> dict[str, object]:
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
        "hashes": [{"alg": "SHA-256", "content": digest(wheel)}],
    }
    if licence:  # a name; some packages put the whole text there
        one["licenses"] = [{"license": {"name": licence.strip().splitlines()[0][:120]}}]
    return one


def _classified(classifiers: Iterable[str]) -> str:
    names = [one.rsplit(" :: ", 1)[1] for one in classifiers if one.startswith("License :: ")]
    return " AND ".join(names)


def _weights(name: str, sha: str) -> dict[str, object]:
    return {
        "type": "machine-learning-model",
        "bom-ref": f"weights/{name}",
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": sha}],
    }
