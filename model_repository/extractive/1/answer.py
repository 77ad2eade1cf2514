"""Puts an answer together from quotes: framing words in the question's language, quotes in their source's."""

import re
from collections.abc import Iterator, Sequence

from evidence import Evidence
from sentences import Span

_INSUFFICIENT = {
    True: "Недостаточно данных: в источниках нет ответа на этот вопрос. "
    "Уточните метод, орган, группу пациентов или величину.",
    False: "Insufficient evidence: the sources do not answer this question. "
    "Try naming the modality, organ, patient group or quantity.",
}
_FRAMING = {True: "По данным источников:", False: "According to the sources:"}
_QUOTES = {True: ("«", "»"), False: ("“", "”")}
_PIECE, _SPACE = re.compile(r"\s*\S+"), re.compile(r"\s+")


def insufficient(russian: bool) -> str:
    """What is said where the sources do not answer."""
    return _INSUFFICIENT[russian]


def answer(chosen: Sequence[Evidence], russian: bool) -> str:
    """A framing line, then a list item per statement: its quote and its marker."""
    return "\n".join([_FRAMING[russian], *(_item(one, russian) for one in chosen)])


def pieces(text: str) -> Iterator[str]:
    """Word by word, white space in front; together they are the text."""
    yield from _PIECE.findall(text.rstrip())


def _item(one: Evidence, russian: bool) -> str:
    text, statement = one.source.text, one.statement
    quotes = [_quoted(text, (statement.start, statement.end), russian)]
    if statement.header:
        quotes.insert(0, _quoted(text, statement.header, russian))
    return f"- {' '.join(quotes)} [{one.source.number}]"


def _quoted(text: str, span: Span, russian: bool) -> str:
    opening, closing = _QUOTES[russian]
    # A quote may run over line ends of its source; an item of the answer may not.
    return opening + _SPACE.sub(_on_one_line, text[slice(*span)]) + closing


def _on_one_line(space: re.Match[str]) -> str:
    return " " if "\n" in space[0] else space[0]
