"""What shapes an answer besides the models and the index, as one hash: a reply's manifest holds it."""

import hashlib
from pathlib import Path
from typing import Protocol

from gateway import shipped
from gateway.prompt import RULES
from radrag import telemetry

SETTINGS = (
    "generator_template", "generator_kind", "openai_body", "children_per_topic", "children", "candidates",
    "sources", "max_tokens", "unsupported", "temperature", "top_p", "seed",
)  # fmt: skip


class Wanted(Protocol):
    """The files among the settings; the others are read by their names in `SETTINGS`."""

    @property
    def thresholds(self) -> Path:
        """When evidence is enough."""

    @property
    def messages(self) -> Path:
        """The fixed texts."""

    @property
    def scope(self) -> Path:
        """What is no question for us."""


def sha256(settings: Wanted) -> str:
    """The hash of what shapes an answer: rules, sampling, limits, thresholds, messages, our version."""
    shaping = [f"{name}={getattr(settings, name)}" for name in SETTINGS]
    paths = (settings.thresholds, settings.messages, settings.scope)
    files = [shipped.file(path).read_text(encoding="utf-8") for path in paths]
    return hashlib.sha256(
        "\n".join([telemetry.version(), *shaping, *files, *RULES.values()]).encode()
    ).hexdigest()
