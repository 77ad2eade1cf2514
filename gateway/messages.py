"""The fixed texts of refusals, by language; each says how to ask better. A file's, and those of the gates."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INSUFFICIENT = "insufficient_evidence"
OUT_OF_SCOPE = "out_of_scope"
LANGUAGES = ("en", "ru")


@dataclass(frozen=True)
class Messages:
    """Texts by language and name: `insufficient_evidence`, `out_of_scope`, and one per gate."""

    texts: dict[str, dict[str, str]]

    def insufficient(self, language: str) -> str:
        """What is said when the sources do not suffice."""
        return self.texts[language][INSUFFICIENT]

    def deferral(self, gate: str, language: str) -> str:
        """What is said when a gate stops the question: its own text, or the general one."""
        texts = self.texts[language]
        return texts.get(gate, texts[OUT_OF_SCOPE])


def load(path: Path, deferrals: Mapping[str, Mapping[str, str]] | None = None) -> Messages:
    """Reads the texts and adds the gates'. Raises ValueError naming the first that is missing."""
    texts = json.loads(path.read_text(encoding="utf-8"))
    for language in LANGUAGES:
        for name in (INSUFFICIENT, OUT_OF_SCOPE):
            if not texts.get(language, {}).get(name):
                raise ValueError(f"{path.name}: {language}.{name} is missing")
    return Messages(
        {language: {**(deferrals or {}).get(language, {}), **texts[language]} for language in LANGUAGES}
    )
