"""Reads a Dockerfile as far as ours needs it: stages, what each is made from, and their steps in order."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """A stage: its name, the stage or image below it, and its instructions as (word, arguments)."""

    name: str
    below: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def said(self, word: str) -> list[str]:
        """The arguments of every instruction of this kind."""
        return [rest for one, rest in self.steps if one == word]


@dataclass(frozen=True)
class Dockerfile:
    """The arguments before the first stage, and the stages by name."""

    arguments: dict[str, str]
    stages: dict[str, Stage]

    def chain(self, target: str) -> list[Stage]:
        """The stages a target stands on, the lowest first, itself last."""
        stage = self.stages.get(target)
        return [*self.chain(stage.below), stage] if stage else []

    def settings(self, target: str) -> dict[str, str]:
        """The environment an image of this target sets."""
        words = [
            word for stage in self.chain(target) for rest in stage.said("ENV") for word in shlex.split(rest)
        ]
        return dict(word.split("=", 1) for word in words)

    def commands(self, target: str) -> list[str]:
        """The shell commands that build a target, in order, without BuildKit's mounts."""
        runs = [rest for stage in self.chain(target) for rest in stage.said("RUN")]
        return [re.sub(r"^(--mount=\S+\s+)*", "", run) for run in runs]


def read(path: Path) -> Dockerfile:
    """Raises ValueError for an instruction outside a stage that is no ARG."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.split(maxsplit=1) for line in re.sub(r"\\\n\s*", "", text).splitlines() if line.strip()]
    arguments: dict[str, str] = {}
    stages: dict[str, Stage] = {}
    current: Stage | None = None
    for word, rest in lines:
        if word == "FROM":
            below, _, name = rest.split()
            current = stages[name] = Stage(name, below)
        elif current is not None:
            current.steps.append((word, rest))
        elif word == "ARG":
            name, _, value = rest.partition("=")
            arguments[name] = value
        else:
            raise ValueError(f"{word} before the first FROM")
    return Dockerfile(arguments, stages)
