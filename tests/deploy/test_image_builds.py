"""The images' Python steps, run for real in fresh environments: what a build of each target would install.

No container engine is needed: the steps are read from the Dockerfile itself, and its folders are moved below
one of the test's. Minutes a target, it is done for those that RADRAG_TEST_IMAGES names, as `make prove` does.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli.places import ROOT
from radrag.triton import ModelServer
from tests.deploy import dockerfile
from tests.ports import free_grpc_port
from tests.results import kept

FILE = dockerfile.read(ROOT / "deploy" / "Dockerfile")
ASKED = os.environ.get("RADRAG_TEST_IMAGES", "").split()
MOST = {"gateway": 250, "retrieval": 250}  # megabytes of an image's layers beyond its base
# What NVIDIA's Triton images bring for their Python backend, at the version that ours pins for it.
BROUGHT = re.findall(r"^numpy==\S+", (ROOT / "model_repository/requirements.txt").read_text(), re.MULTILINE)
asked = pytest.mark.skipif(
    not ASKED, reason="minutes a target: RADRAG_TEST_IMAGES names them, as in make prove"
)


def copied(stage: str, root: Path) -> None:
    """What a stage copies from the project, in its working folder below `root`."""
    folder = root
    for word, rest in FILE.stages[stage].steps:
        if word == "WORKDIR":
            folder = root / rest.lstrip("/")
        elif word == "COPY":
            *names, target = rest.split()
            for name in names:
                place = (root / target.lstrip("/")) if target.startswith("/") else folder / target
                _copy(ROOT / name, place)


def _copy(source: Path, target: Path) -> None:
    unwanted = shutil.ignore_patterns("__pycache__", "model.onnx", "tokenizer.json", "limits.json")
    if source.is_dir():
        # Links as links, as a build copies them: models find their files beside what a link leads to.
        shutil.copytree(source, target, symlinks=True, ignore=unwanted, dirs_exist_ok=True)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def run(command: str, folder: Path, environ: Mapping[str, str]) -> None:
    """A step as a build runs it. What it says comes with a failure."""
    done = subprocess.run(
        ["sh", "-euc", command], cwd=folder, env=dict(environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def megabytes(folder: Path) -> float:
    return (
        sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and not one.is_symlink()) / 1e6
    )


def clean(root: Path) -> dict[str, str]:
    """This machine's interpreter as `python`, its and this user's package index, and nothing else of ours."""
    (root / "bin").mkdir(parents=True, exist_ok=True)
    (root / "bin" / "python").symlink_to(sys._base_executable)  # type: ignore[attr-defined]
    index = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
    return index | {"PATH": f"{root / 'bin'}:/usr/bin:/bin", "LANG": "C.UTF-8"}


def chosen(*targets: str) -> list[str]:
    return [one for one in targets if one in ASKED or not ASKED]


@asked
@pytest.mark.parametrize("target", chosen("gateway", "retrieval", "ingest", "ingest-ray"))
def test_a_service_builds_in_a_fresh_environment_and_starts(target: str, tmp_path: Path) -> None:
    """It then says what it lacks to start: who calls."""
    copied("source", tmp_path)
    given = clean(tmp_path)
    prefix = tmp_path / "opt" / "radrag"
    for command in FILE.commands(f"{target}-build"):
        run(command.replace("/opt/radrag", str(prefix)), tmp_path / "src", given)
    size = megabytes(prefix)
    kept(f"image_{target}", {"megabytes": round(size, 1)})
    assert size < MOST.get(target, 10_000), f"{size:.0f} MB"
    module = target.removesuffix("-ray")
    line = [str(prefix / "bin" / "python"), "-m", module]
    here = given | {"RADRAG_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        line, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=120, check=False
    )
    assert "nobody could be told from anybody else" in done.stderr
    if module == "ingest":  # what jobs run, and people in its pod
        commands = "cli.ingest, cli.kb_watch, cli.kb_review, cli.kb_reindex, cli.kb_reconcile, cli.kb_stats"
        more = ", ray" if target == "ingest-ray" else ""
        run(f"{prefix}/bin/python -c 'import {commands}{more}'", tmp_path, given)


@asked
@pytest.mark.parametrize("target", chosen("model-server"))
def test_the_cpu_model_server_builds_and_answers(target: str, tmp_path: Path) -> None:
    """By the image's entry point and models, from the folders it copies, with an interpreter of nothing."""
    copied("models", tmp_path)
    given = clean(tmp_path)
    prefix = tmp_path / "opt" / "models"
    for command in FILE.commands("models"):
        run(command.replace("/opt/models", str(prefix)), tmp_path / "app", given)
    kept(f"image_{target}", {"megabytes": round(megabytes(tmp_path / "opt"), 1)})
    entry, models = (
        re.findall(r'"([^"]+)"', FILE.stages[target].said(word)[-1]) for word in ("ENTRYPOINT", "CMD")
    )
    port = free_grpc_port()
    line = [*(one.replace("/opt/models", str(prefix)) for one in entry), f"--grpc-port={port}", *models]
    with subprocess.Popen(line, cwd=tmp_path / "app", env=given) as server:
        try:
            asyncio.run(_answers(f"127.0.0.1:{port}", models, server))
        finally:
            server.terminate()


async def _answers(address: str, models: list[str], server: "subprocess.Popen[bytes]") -> None:
    role, until = ModelServer(address, "model server"), time.monotonic() + 180
    try:
        while not all([await role.ready(one) for one in models]):
            assert server.poll() is None, "it ended"
            assert time.monotonic() < until, "it is not ready in three minutes"
            await asyncio.sleep(0.5)
        assert len((await role.embed(models[0], "dose", "query")).vectors) == 1
    finally:
        await role.close()


@asked
@pytest.mark.parametrize("target", chosen("model-server-gpu"))
def test_what_a_gpu_model_server_adds_to_nvidias_image_is_complete(target: str, tmp_path: Path) -> None:
    """Beside NumPy, which the base brings for its Python backend, it is all that our models import."""
    copied(target, tmp_path)
    given = clean(tmp_path)
    venv.create(tmp_path / "base", with_pip=True)
    pip = f"{tmp_path}/base/bin/pip --disable-pip-version-check"
    run(f"{pip} install --quiet {' '.join(BROUGHT)}", tmp_path, given)
    for command in FILE.commands(target):
        moved = command.replace("pip install", f"{pip} install --quiet").replace("/app/", f"{tmp_path}/app/")
        run(moved, tmp_path, given)
    for folder, module in (("frida", "frida_encoder"), ("qwen3_reranker", "qwen3_reranker")):
        here = given | {"PYTHONPATH": f"{tmp_path}/app/model_repository/{folder}/1"}
        run(f"{tmp_path}/base/bin/python -c 'import {module}'", tmp_path, here)
    kept(f"image_{target}", {"megabytes": round(megabytes(tmp_path / "base"), 1)})
