"""Collects a bundle for a closed network: what an install, the images and the chart need, in one folder."""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

import yaml

from cli import bundle_install, bundle_packages, bundle_sbom, models_archive
from cli.places import MODEL_REPOSITORY, ROOT

TESSDATA = Path("/usr/share/tesseract-ocr")
LANGUAGES = ("eng", "rus", "osd")
CONVERTED = ("model.onnx", "tokenizer.json", "limits.json")
DEPLOY = ROOT / "deploy"
SBOM, IMAGES = "sbom.cdx.json", "images.txt"


class NotCollected(RuntimeError):
    """A part of the bundle could not be had; the message names it."""


def create(folder: Path, version: str, models: Sequence[Path], said: Callable[[str], None]) -> int:
    """Fills an empty folder and returns its bytes. `models` are folders of weights with a manifest.json."""
    said("project")
    commit = committed(folder / bundle_install.SOURCE)
    if left := uncommitted():
        said(f"without what is not committed: {left} files")
    shutil.copy2(bundle_install.__file__, folder / "install.py")
    said("packages")
    main = bundle_packages.pinned(bundle_packages.closure(bundle_packages.EXTRAS, bundle_packages.BUILD))
    requirements = folder / "requirements-main.txt"
    requirements.write_text("\n".join(main) + "\n", encoding="ascii")
    wheels(requirements, folder / "wheels" / "main")
    wheels(MODEL_REPOSITORY / "requirements.txt", folder / "wheels" / "models")
    said("weights, OCR data, chart, images")
    weights(folder / "weights", models)
    ocr(folder / "ocr")
    chart(folder / "charts", version)
    if not cluster(folder / "charts"):
        said("without Qdrant's own chart: helm dependency build deploy/helm/cluster fetches it")
    (folder / IMAGES).write_text("\n".join(images(version)) + "\n", encoding="ascii")
    return sealed(folder, version, commit)


def sealed(folder: Path, version: str, commit: str) -> int:
    """Writes the bill of materials and the manifest, last: what is added later is noticed."""
    (folder / SBOM).unlink(missing_ok=True)
    files = bundle_install.described(folder)
    hashes = {name: str(one["sha256"]) for name, one in files.items()}
    bill = json.dumps(_bill(folder, version, hashes), indent=1).encode() + b"\n"
    (folder / SBOM).write_bytes(bill)
    files[SBOM] = {"bytes": len(bill), "sha256": hashlib.sha256(bill).hexdigest()}
    manifest = {
        "format": bundle_install.FORMAT,
        "version": version,
        "commit": commit,
        "machine": bundle_install.machine(),
        "files": files,
    }
    (folder / bundle_install.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return sum(int(str(one["bytes"])) for one in files.values())


def _bill(folder: Path, version: str, hashes: Mapping[str, str]) -> dict[str, object]:
    wheels = {folder / name: sha for name, sha in hashes.items() if name.endswith(".whl")}
    data = {name: sha for name, sha in hashes.items() if name.startswith(("weights/", "ocr/"))}
    named = folder / IMAGES
    listed = named.read_text(encoding="ascii").splitlines() if named.exists() else []
    return bundle_sbom.bill(version, wheels, data, listed)


def committed(file: Path) -> str:
    """A tar of the project as it was last committed, and that commit: half-done work is in no bundle."""
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        commit = head.stdout.strip()
        line = ["git", "archive", "--format=tar", f"--output={file.absolute()}", commit]
        subprocess.run(line, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise NotCollected("create needs a checkout under git: a bundle holds what was committed") from None
    return commit


def uncommitted() -> int:
    """Files that differ from the commit, new ones too."""
    line = ["git", "status", "--porcelain", "--untracked-files=all"]
    told = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return len(told.splitlines())


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
    entry.mode = 0o644
    return entry


def wheels(requirements: Path, folder: Path) -> None:
    """A wheel of every line of a requirements file; what has none is built here. Raises NotCollected."""
    folder.mkdir(parents=True)
    line = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*line, "--wheel-dir", str(folder), "--requirement", str(requirements)], check=False
    )
    if done.returncode:
        raise NotCollected(f"packages of {requirements.name}: pip's output is above")


def weights(folder: Path, models: Sequence[Path]) -> None:
    """e5_small's converted files, and a bundle of each further model. Raises NotCollected."""
    own = folder / "e5_small"
    own.mkdir(parents=True)
    for name in CONVERTED:
        source = MODEL_REPOSITORY / "e5_small" / "1" / name
        if not source.is_file():
            raise NotCollected(f"{source} is absent: run make models")
        shutil.copy2(source, own / name)
    for model in models:
        models_archive.written(model, folder / f"{model.name}.tar")


def ocr(folder: Path) -> None:
    """Tesseract's data of our languages. Raises NotCollected."""
    folder.mkdir()
    for language in LANGUAGES:
        found = sorted(TESSDATA.rglob(f"{language}.traineddata"))
        if not found:
            raise NotCollected(f"tesseract has no {language}.traineddata: run make packages")
        shutil.copy2(found[-1], folder / found[-1].name)


def chart(folder: Path, version: str) -> None:
    """The chart as `helm install` takes it, and its sets of values."""
    folder.mkdir()
    root = DEPLOY / "helm"
    names = [path.relative_to(root).as_posix() for path in (root / "radrag").rglob("*") if path.is_file()]
    plain = BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(names):
            tar.add(root / name, name, filter=_plain)
    (folder / f"radrag-{version}.tgz").write_bytes(gzip.compress(plain.getvalue(), mtime=0))
    shutil.copytree(root / "values", folder / "values")


def cluster(folder: Path, source: Path = DEPLOY / "helm" / "cluster") -> bool:
    """The chart of RadRAG with Qdrant, complete; False where Qdrant's own was not fetched."""
    fetched = sorted((source / "charts").glob("qdrant-*.tgz"))
    if fetched:
        target = folder / "cluster"
        (target / "charts").mkdir(parents=True)
        for file in (source / "Chart.yaml", source / "values.yaml"):
            shutil.copy2(file, target)
        for file in (*fetched, *folder.glob("radrag-*.tgz")):
            shutil.copy2(file, target / "charts")
    return bool(fetched)


def images(version: str) -> list[str]:
    """Every image that compose, its layers and the chart name, for `docker save` or a registry's mirror."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    found = set(re.findall(r"^ARG \w+_IMAGE=(\S+)", text, re.MULTILINE))
    schema = json.loads((DEPLOY / "helm/radrag/values.schema.json").read_text(encoding="utf-8"))
    own = schema["properties"]["image"]["properties"]["digests"]["propertyNames"]["enum"]
    found |= {f"radrag/{one}:{version}" for one in own}
    for layer in sorted(DEPLOY.glob("compose*.yaml")):
        for service in yaml.safe_load(layer.read_text(encoding="utf-8"))["services"].values():
            image = service.get("image", "")
            ours = re.fullmatch(r"\$\{IMAGE_REGISTRY:-radrag\}/([a-z-]+):.*", image)
            found.add(f"radrag/{ours[1]}:{version}" if ours else image)
    return sorted(found - {""})
