"""Cuts Markdown text, English or Russian, into sentences, and tells which of a growing text are finished.

A heading, a table row and a list item end with their line. Everywhere else a sentence ends at a full stop,
exclamation or question mark or ellipsis that white space follows, unless what stands before it is an
abbreviation or an initial, or what stands after it goes on in lower case. Closing quotes and markers such
as `[1]` stay with the sentence they follow. Letters are any script's; offsets are code points.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

Span = tuple[int, int]

_MARKER = r"\[\d+(?:\s?[,;–-]\s?\d+)*\]"
_ENUMERATOR = r"\d{1,3}(?:\.\d{1,3}){0,3}"
# Where a sentence may end: after a stop with its closing quotes and markers, or at the end of a line.
# Every run of signs is read once, from its beginning; a stop has at most 20 markers, so that a row of stops
# and markers is not read again from each stop.
_CANDIDATE = re.compile(
    rf"(?P<stop>(?<![.!?…])[.!?…]++)(?P<close>[»”\"'’)\]*_]*+)"
    rf"(?P<marks>(?:[ \t]*+{_MARKER}[.!?…]*+){{0,20}})(?P<gap>\s++|\Z)"
    r"|(?P<end>\n\s*+)"
)
_OPENERS = re.compile(r"[«“„\"'‘(\[*_]*")
_WHOLE_LINE = re.compile(r"[ \t]*(?:\||#{1,6}\s|[-*_=]{3})")
_NEW_BLOCK = re.compile(
    rf"\||>|`{{3}}|#{{1,6}}\s|[-*_=]{{3}}|[-*+•–—]\s|{_ENUMERATOR}[.)]\s|[^\W\d_]\)\s|\d{{1,3}}\.\d[\d.]*\s"
)
# What may still turn into the start of a block, or into a marker, when more text arrives.
_UNFINISHED_BLOCK = re.compile(rf"`{{1,2}}|#{{1,6}}|[-*_=]{{1,2}}|[+•–—]|{_ENUMERATOR}\.?[.)]?|[^\W\d_]\)?")
_UNFINISHED_MARKER = re.compile(r"\[[\d\s,;–-]*")
_MARKS = re.compile(r"[\s#>*+•–—-]*+[«“„\"(*_]*+")
_ENUMERATED = re.compile(rf"{_ENUMERATOR}|[^\W\d_]")

_NEVER_ENDS = re.compile(
    r"(?<!\w)(?:"
    # Latin: for example, that is, compare, titles, figures
    r"e\.\s?g|i\.\s?e|cf|vs|viz|dr|prof|mr|mrs|ms|figs?|eqs?|approx|ca|"
    # Russian: то есть, так как, так называемый, таким образом, в том числе, смотри, рисунок, титулы
    r"т\.\s?е|т\.\s?к|т\.\s?н|т\.\s?о|т\.\s?ч|и\.\s?о|напр|ср|рис|табл|илл|прил|разд|им|проф|доц|акад|ул|рт|тел|"
    # a town: «г. Москва», but not a year: «в 2010 г. Затем»; "see", but not centimetres: «5 см. Затем»
    r"(?<!\d )(?<!\d\u00a0)(?<!\d)(?:г|см)"
    r")$",
    re.IGNORECASE,
)
_NEVER_BEFORE_NUMBER = re.compile(
    r"(?<!\w)(?:nos?|p|pp|vol|ch|sec|sect|art|tab|refs?|п|пп|с|стр|ст|гл|ч|кн|т|д|абз|подп|вып)$",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?<!\w)[^\W\d_]$")
_LONGEST_ABBREVIATION = 8


def sentences(text: str) -> list[Span]:
    """The sentences of a finished text, in order: half-open ranges of code points that cover it exactly once.

    White space behind a sentence belongs to it; white space at the start of the text to the first one.
    """
    return _spans([*_ends(text, final=True), len(text)])


def finished_sentences(text: str) -> list[Span]:
    """Those first sentences of a growing text that stay as they are whatever is appended to it.

    For every `more`, `finished_sentences(text)` is a prefix of `sentences(text + more)`. A sentence has ended
    when what follows it shows so: one more visible character as a rule, a few where a line may
    turn into a list item.
    """
    return _spans(list(_ends(text, final=False)))


def _spans(ends: list[int]) -> list[Span]:
    starts = [0, *ends[:-1]]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if end > start] if ends else []


class _Line(NamedTuple):
    """Where a line starts and, behind its marks, its words; `whole`: it ends a sentence only at its end."""

    start: int
    words: int
    whole: bool


def _line(text: str, start: int) -> _Line:
    marks = _MARKS.match(text, start)
    return _Line(start, marks.end() if marks else start, _WHOLE_LINE.match(text, start) is not None)


def _ends(text: str, final: bool) -> Iterator[int]:
    line, read = _line(text, 0), 0
    for candidate in _CANDIDATE.finditer(text):
        if candidate.end() == len(text):
            return
        line_start = text.rfind("\n", read, candidate.start()) + 1
        line, read = _line(text, line_start) if line_start else line, candidate.start()
        ends = _is_end(text, candidate, line, final)
        if ends is None:
            return
        if ends:
            yield candidate.end()


def _is_end(text: str, candidate: re.Match[str], line: _Line, final: bool) -> bool | None:
    """Whether a sentence ends at the candidate; None where only the text still to come can tell."""
    breaks = (candidate["gap"] or candidate["end"]).count("\n")
    if breaks > 1 or line.whole:
        return breaks > 0
    if breaks:
        if _NEW_BLOCK.match(text, candidate.end()):
            return True
        if not final and _UNFINISHED_BLOCK.fullmatch(text, candidate.end()):
            return None
    return _is_stop(text, candidate, line, final) if candidate["stop"] else False


def _is_stop(text: str, candidate: re.Match[str], line: _Line, final: bool) -> bool | None:
    if not final and _UNFINISHED_MARKER.fullmatch(text, candidate.end()):
        return None
    opened = _OPENERS.match(text, candidate.end())
    following = opened.end() if opened else candidate.end()
    if following == len(text):
        return True if final else None
    if candidate["marks"]:
        return True
    if text[following].islower() or text[following] in ",;:-–—%":
        return False
    closed = candidate["close"] or candidate["stop"] != "."
    return bool(closed) or not _abbreviated(text, line, candidate.start(), text[following])


def _abbreviated(text: str, line: _Line, stop: int, following: str) -> bool:
    """Whether the full stop at `stop` belongs to an abbreviation, an initial or the number of a list item."""
    if _ENUMERATED.fullmatch(text, line.words, stop):
        return True
    before = text[max(line.start, stop - _LONGEST_ABBREVIATION) : stop]
    if _NEVER_ENDS.search(before) or (following.isdigit() and _NEVER_BEFORE_NUMBER.search(before)):
        return True
    return before[-1:].isupper() and _INITIAL.search(before) is not None
