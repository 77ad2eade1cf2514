"""The operations guide: each command of ours is one that the program takes, each file it names is there."""

import re
import shlex
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
import yaml

from cli import arguments, evaluate
from cli.places import ROOT
from tests.deploy import chart, guide

GUIDES = [ROOT / "deploy" / name for name in ("README.md", "SCALING.md")]
MEASURING = ROOT / "evaluation" / "README.md"
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in GUIDES)
MADE = {"deploy/callers.json", "deploy/service-key"}  # by the operator
COMMAND = re.compile(
    r"^    \$ (?:[A-Z_]+=\S+ )?(?:cd \S+ && |make judge && )?(?:\.venv(?:-judge)?/bin/)?radrag (.*)$",
    re.MULTILINE,
)
MEASUREMENTS = COMMAND.findall(MEASURING.read_text(encoding="utf-8"))


def test_there_are_commands() -> None:
    assert len(guide.commands("radrag")) > 20
    assert len(MEASUREMENTS) > 15


@pytest.mark.parametrize("words", guide.commands("radrag"), ids=" ".join)
def test_the_command_is_one_that_radrag_takes(words: list[str]) -> None:
    arguments.parsed(words)


@pytest.mark.parametrize("line", sorted(set(MEASUREMENTS)))
def test_a_measurement_is_a_command_that_radrag_takes(line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "eval":  # the program's own grammar takes any words after it
        evaluate.parsed(words[1:])
    else:
        arguments.parsed(words)


def test_every_file_and_every_target_named_is_there() -> None:
    for path in GUIDES:
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
        assert [link for link in links if not (path.parent / link).exists()] == []
    named = set(re.findall(r"\b((?:deploy|model_repository|benchmarks|tests)/[\w./-]*[\w-])", TEXT))
    assert [one for one in named if not (ROOT / one).exists() and one not in MADE] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", TEXT)) <= targets


def flags(words: list[str]) -> set[str]:
    own = words[: words.index("--")] if "--" in words else words
    return {word.split("=")[0] for word in own if re.match(r"--?[a-z]", word)}


@cache
def told(program: str, *words: str) -> str:
    return chart.run(program, *words).stdout


def known(program: str, words: list[str]) -> set[str]:
    """The flags that `program WORDS…` has, by its own help, and the global ones."""
    path = list(takewhile(lambda one: not one.startswith("-"), words))[:3]
    text = "".join(told(program, *path[:end], "--help") for end in range(len(path) + 1))
    assert f"{program} {path[0]}" in text, f"{program} has no {path[0]}"
    return set(re.findall(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)", text + told(program, "options")))


@pytest.mark.parametrize("program", ["helm", "kubectl"])
def test_every_command_and_flag_is_one_that_the_program_has(program: str) -> None:
    found = guide.commands(program)
    assert len(found) > 10
    wrong = {" ".join(words): flags(_moved(words)) - known(program, _moved(words)) for words in found}
    assert not {line: bad for line, bad in wrong.items() if bad}


def _moved(words: list[str]) -> list[str]:
    """The namespace after the command: it is a flag of every one."""
    return [*words[2:], *words[:2]] if words[0] == "-n" else words


INSTALLS = [
    words for words in guide.commands("helm") if "deploy/helm/radrag" in words or "charts/" in words[2]
]


@pytest.mark.parametrize("words", INSTALLS, ids=" ".join)
def test_the_chart_renders_with_the_values_that_a_command_gives(words: list[str]) -> None:
    given = dict(pairwise(words))
    values = given["-f"].replace("my.yaml", "deploy/helm/values/gpu.yaml")
    values = values.replace("/media/radrag/charts", "deploy/helm")
    sets = [part for one, part in pairwise(words) if one == "--set"]
    done = chart.template("--values", str(ROOT / values), *(f"--set={one}" for one in sets))
    assert done.returncode == 0, done.stderr


SECRETS = [words for words in map(_moved, guide.commands("kubectl")) if words[:2] == ["create", "secret"]]


@pytest.mark.parametrize("words", SECRETS, ids=" ".join)
def test_a_secret_has_the_keys_that_the_pods_read(words: list[str], tmp_path: Path) -> None:
    files = [re.split("[=]", one)[-1] for one in words if one.startswith("--from-file")]
    for name in files:
        (tmp_path / name).write_text("x")
    line = [*words, "--dry-run=client", "-o", "yaml"]
    done = chart.run("kubectl", *line, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    secret = yaml.safe_load(done.stdout)
    keys = {
        "radrag-callers": {"callers.json"}, "radrag-service-key": {"token"}, "qdrant-key": {"api-key"},
        "radrag-versions-url": {"url"}, "radrag-catalogue-url": {"url"},
        "radrag-tls": {"tls.crt", "tls.key", "ca.crt"},
    }  # fmt: skip
    assert set(secret["data"]) == keys[secret["metadata"]["name"]]
    used = "".join(chart.text(one) for one in chart.VALUES)
    assert secret["metadata"]["name"] in used


def test_every_object_that_a_command_names_is_one_that_the_chart_makes() -> None:
    named = set(re.findall(r"\b(deployment|statefulset)/([\w-]+)", guide.GUIDE.read_text(encoding="utf-8")))
    made = {("deployment", name) for one in chart.VALUES for name in chart.of_kind(one, "Deployment")}
    assert named - made == {("statefulset", "qdrant")}  # Qdrant's own chart makes it
