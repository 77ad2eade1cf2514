"""Whether a question is ours to answer, by pattern: pure, before any call. Gates by vector come on top of it.

A gate needs each of its patterns to match. They aim at what is said about one person, or to the
machine, not at the subject: "the dose to a patient" passes, "should I operate on my patient" does not.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """A named reason to defer, and the patterns that must all match."""

    name: str
    patterns: tuple[re.Pattern[str], ...]

    def stops(self, text: str) -> bool:
        """Whether the text is this gate's."""
        return all(pattern.search(text) for pattern in self.patterns)


def _all(name: str, *patterns: str) -> Gate:
    return Gate(name, tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


_ONE_PERSON_EN = r"\b(?:my|this|our|that)\s+(?:\w+[\s-]){0,2}patient\b|\bpatient\s+(?:mr|mrs|ms)\b"
_DECISION_EN = (
    r"\b(?:diagnos\w+|treat(?:ment|ed|ing)?|prescri\w+|operat(?:e|ed|ion)|surgery|therapy|dose|dosage|have)\b"
)
_ONE_PERSON_RU = (
    r"\b(?:мо(?:й|его|ему|им|ей|я|ю|ём)|наш(?:его|ему|ей|а|у)?|эт(?:от|ого|ому|ой|у))\s+(?:\w+\s+)?пациент"
    r"|\bпациент\w*\s+[А-ЯЁ]\w+\s+[А-ЯЁ]\."
)
_DECISION_RU = r"\b(?:диагноз\w*|леч(?:ить|ени\w+)|назнач\w+|оперир\w+|операци\w+|терапи\w+|доз\w+)"

GATES = (
    _all("individual_patient", _ONE_PERSON_EN, _DECISION_EN),
    _all("individual_patient", _ONE_PERSON_RU, _DECISION_RU),
    _all(
        "rule_change",
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules|prompt|above|previous)\b"
        r"|\b(?:reveal|print|show|repeat)\b.{0,30}\b(?:system prompt|your (?:instructions|rules|prompt))\b"
        r"|\byou are now\b|<\|im_(?:start|end)\|>|</?(?:source|start_of_turn|think)\b",
    ),
    _all(
        "rule_change",
        r"\b(?:игнориру\w+|проигнориру\w+|забудь\w*|отмени\w*|не\s+обращай\w*\s+внимани\w+)\b"
        r".{0,40}\b(?:инструкци\w+|правил\w*|указани\w+|промпт\w*|предыдущ\w+)"
        r"|\b(?:покажи|выведи|повтори|раскрой)\w*\b.{0,30}\b(?:системн\w+\s+промпт\w*|сво\w+\s+(?:инструкци\w+|правил\w*))"
        r"|\bтеперь\s+ты\b|\bты\s+теперь\b",
    ),
)


def gate(text: str) -> str:
    """The name of the first gate that stops the question; empty when it is ours to answer."""
    return next((one.name for one in GATES if one.stops(text)), "")
