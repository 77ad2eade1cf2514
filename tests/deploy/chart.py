"""The chart, rendered by the real helm: `make helm` puts it where it is found."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.places import ROOT

CHART = ROOT / "deploy" / "helm" / "radrag"
VALUES = sorted((ROOT / "deploy" / "helm" / "values").glob("*.yaml"))
Object = dict[str, Any]


def run(program: str, *words: str, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """Runs helm or kubectl with nothing of this user's, so that no cluster can be reached."""
    ours = ROOT / "var" / "helm" / program
    path = shutil.which(program) or (str(ours) if ours.exists() else None)
    if path is None:
        pytest.fail(f"{program} is missing: run `make helm`")
    line, environ = [path, *words], {"PATH": os.defpath, "HOME": "/nonexistent"}
    return subprocess.run(
        line, env=environ, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def helm(*words: str) -> "subprocess.CompletedProcess[str]":
    """Runs helm."""
    return run("helm", *words)


def template(*words: str) -> "subprocess.CompletedProcess[str]":
    """Renders the chart as release `radrag` in namespace `radrag`."""
    return helm("template", "radrag", str(CHART), "--namespace", "radrag", *words)


@cache
def text(values: Path) -> str:
    """What a set of values renders to."""
    done = template("--values", str(values))
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def objects(values: Path) -> list[Object]:
    """The objects of a set of values."""
    return [one for one in yaml.safe_load_all(text(values)) if one]


def of_kind(values: Path, kind: str) -> dict[str, Object]:
    """Those of one kind, by name."""
    return {one["metadata"]["name"]: one for one in objects(values) if one["kind"] == kind}


def pods(values: Path) -> Iterator[tuple[str, Object]]:
    """Every pod's specification, by the name of what makes it."""
    for one in objects(values):
        name = one["metadata"]["name"]
        if one["kind"] in {"Deployment", "Job"}:
            yield name, one["spec"]["template"]["spec"]
        elif one["kind"] == "CronJob":
            yield name, one["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def environ(container: Object) -> dict[str, str]:
    """A container's variables; those from secrets with a stand-in."""
    return {one["name"]: one.get("value", "from-a-secret") for one in container.get("env", [])}
