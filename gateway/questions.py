"""Reads a question from the wire: every field is checked against its limit here, and nowhere else.

A fault raises InvalidArgument with the field's path and the limit; the question's text is never repeated.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.errors import InvalidArgument

CATEGORIES = ("web", "methodological", "textbook", "article", "regulatory")
LANGUAGES = re.compile(r"[a-z]{2}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Control characters other than tab and line ends; and those that reorder what is shown without changing what
# is read, so that an instruction can hide behind them.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Seen by nobody, they keep words from being found; documents have them taken out too (ingest/canonical.py).
# The joiners stay, since some scripts spell with them; so do marks of direction.
_INVISIBLE = re.compile(r"[\u00ad\u180e\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_CYRILLIC = re.compile(r"[\u0400-\u0481\u048a-\u04ff]")
# Composing shortens a text at most so much (Unicode, NFC stability: no canonical mapping is longer than 4).
_SHRINKS_AT_MOST = 4

Request = wire.SearchRequest | wire.PromptRequest | wire.GenerateRequest | wire.GenerateStreamRequest


@dataclass(frozen=True)
class Limits:
    """The largest values a request may ask for, which are also its defaults."""

    children_per_topic: int = 15
    candidates: int = 13
    sources: int = 5
    max_tokens: int = 512


@dataclass(frozen=True)
class Question:
    """A checked question: NFC text without outer white space, its language (en, ru), where to look."""

    text: str
    language: str
    as_of: date
    topics: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    limits: Limits = Limits()


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True)
class Rules:
    """What this service accepts."""

    topics: tuple[str, ...]
    limits: Limits = Limits()
    max_characters: int = 2000
    today: Callable[[], date] = _today

    def read(self, request: Request) -> Question:
        """The question of a request. Raises InvalidArgument for the first field that breaks its limit."""
        text, where = self._text(request.question), request.filter
        return Question(
            text,
            language_of(text),
            self._as_of(where),
            _known("filter.topics", where.topics, 32, self.topics),
            _matching("filter.languages", where.languages, 8, LANGUAGES, "ISO 639-1 codes"),
            _known("filter.categories", where.categories, 8, CATEGORIES),
            _document_ids(where.document_ids),
            self._limits(request.limits),
        )

    def _text(self, raw: str) -> str:
        limit = f"1 to {self.max_characters:,} characters, not only white space, no control characters"
        if len(raw) > self.max_characters * _SHRINKS_AT_MOST or _FORBIDDEN.search(raw):
            raise InvalidArgument("question", limit)
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", raw)).strip()
        if len(text) > self.max_characters or not any(sign.isalnum() for sign in text):
            raise InvalidArgument("question", limit)
        return text

    def _as_of(self, where: wire.Filter) -> date:
        if not where.HasField("as_of"):
            return self.today()
        try:
            if not _DAY.fullmatch(where.as_of):
                raise ValueError
            return date.fromisoformat(where.as_of)
        except ValueError:
            raise InvalidArgument("filter.as_of", "a day as YYYY-MM-DD") from None

    def _limits(self, asked: wire.Limits) -> Limits:
        names = ("children_per_topic", "candidates", "sources", "max_tokens")
        return Limits(*(_limit(asked, name, getattr(self.limits, name)) for name in names))


def language_of(text: str) -> str:
    """`ru` when a third of the letters or more are Cyrillic, else `en`: Latin names and codes mix in."""
    if text.isascii():
        return "en"
    letters, cyrillic = sum(map(str.isalpha, text)), len(_CYRILLIC.findall(text))
    return "ru" if letters and 3 * cyrillic >= letters else "en"


def _limit(asked: wire.Limits, name: str, largest: int) -> int:
    if not asked.HasField(name):
        return largest
    value = int(getattr(asked, name))
    if not 1 <= value <= largest:
        raise InvalidArgument(f"limits.{name}", f"1 to {largest}")
    return value


def _known(field: str, given: Sequence[str], most: int, known: Sequence[str]) -> tuple[str, ...]:
    _count(field, given, most)
    for index, value in enumerate(given):
        if value not in known:
            raise InvalidArgument(f"{field}[{index}]", f"one of {', '.join(known)}")
    return tuple(dict.fromkeys(given))


def _matching(
    field: str, given: Sequence[str], most: int, pattern: re.Pattern[str], meaning: str
) -> tuple[str, ...]:
    _count(field, given, most)
    for index, value in enumerate(given):
        if not pattern.fullmatch(value):
            raise InvalidArgument(f"{field}[{index}]", meaning)
    return tuple(dict.fromkeys(given))


def _document_ids(given: Sequence[str]) -> tuple[str, ...]:
    _count("filter.document_ids", given, 100)
    for index, value in enumerate(given):
        if not 1 <= len(value) <= 200 or _FORBIDDEN.search(value):
            raise InvalidArgument(
                f"filter.document_ids[{index}]", "1 to 200 characters, no control characters"
            )
    return tuple(dict.fromkeys(given))


def _count(field: str, given: Sequence[str], most: int) -> None:
    if len(given) > most:
        raise InvalidArgument(field, f"at most {most}")
