"""Whether a question is ours to answer: the gates of `scope.yaml`, and what their patterns stop.

Patterns are looked at before any call. They aim at what is said about one person, or to the machine, not at
the subject: "the dose to a patient" passes, "should I operate on my patient" does not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from radrag.yaml_file import content_of

LANGUAGES = ("en", "ru")


@dataclass(frozen=True)
class Gate:
    """A named reason to defer. A row of patterns stops a question when all of them match.

    `thresholds` go by embedder: the least cosine (-1 to 1) to an example that stops a question.
    `deferral` is what is said then, by language.
    """

    name: str
    rows: tuple[tuple[re.Pattern[str], ...], ...]
    examples: tuple[str, ...]
    thresholds: Mapping[str, float]
    deferral: Mapping[str, str]

    def stops(self, text: str) -> bool:
        """Whether the text is this gate's by its words."""
        return any(all(pattern.search(text) for pattern in row) for row in self.rows)


@dataclass(frozen=True)
class Scope:
    """The gates, the first that stops a question counts; and reference questions that are ours.

    `lead`, by embedder: how much nearer a question must be to a gate's examples than to ours, in cosine.
    """

    gates: tuple[Gate, ...]
    ours: tuple[str, ...]
    lead: Mapping[str, float]

    def judges(self, embedder: str) -> bool:
        """Whether vectors of this embedder can be judged."""
        return embedder in self.lead and any(embedder in gate.thresholds for gate in self.gates)

    def stops(self, text: str) -> str:
        """The name of the first gate that stops the question by its words; empty when none does."""
        return next((one.name for one in self.gates if one.stops(text)), "")

    async def gate(self, question: str) -> str:
        """As `stops`: the stage `scope`."""
        return self.stops(question)

    @property
    def deferrals(self) -> dict[str, dict[str, str]]:
        """What is said by language and gate."""
        return {language: {one.name: one.deferral[language] for one in self.gates} for language in LANGUAGES}


def load(path: Path) -> Scope:
    """Reads the file. Raises ValueError naming the gate and the part that is missing or wrong."""
    given = content_of(path)
    if not isinstance(given, dict) or not {"gates", "ours", "lead"} <= given.keys():
        raise ValueError(f"{path.name} must have gates, ours and lead")
    gates = tuple(_gate(name, part) for name, part in given["gates"].items())
    return Scope(gates, _texts("ours", given["ours"]), _numbers(given["lead"]))


def _gate(name: str, part: Mapping[str, object]) -> Gate:
    deferral = {language: text for language, (text,) in _by_language(f"{name}.deferral", part["deferral"])}
    return Gate(
        name,
        tuple(tuple(_pattern(name, one) for one in row) for row in cast("list[list[str]]", part["patterns"])),
        _texts(f"{name}.examples", part["examples"]),
        _numbers(part["thresholds"]),
        deferral,
    )


def _pattern(name: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{name}.patterns: {text!r} is no regular expression: {error}") from None


def _numbers(part: object) -> dict[str, float]:
    return {model: float(least) for model, least in cast("dict[str, float]", part).items()}


def _texts(where: str, part: object) -> tuple[str, ...]:
    return tuple(text for _, texts in _by_language(where, part) for text in texts)


def _by_language(where: str, part: object) -> list[tuple[str, list[str]]]:
    """The texts of each language; both must be there."""
    given = part if isinstance(part, dict) else {}
    found = [(language, given.get(language) or []) for language in LANGUAGES]
    for language, texts in found:
        if not texts:
            raise ValueError(f"{where}.{language} is missing")
    return [(language, [texts] if isinstance(texts, str) else list(texts)) for language, texts in found]
