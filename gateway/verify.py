"""Verifies an answer as it is written: text is held until its sentence is complete and checked.

Nothing is released before one sentence was found to be supported, or while the first two may turn out to be a
refusal. What is released never depends on how the text was cut into pieces.
"""

import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from gateway.answer import Citation, Kind, Notice, Outcome, Prompt
from gateway.check import Checked, Checker, Place
from gateway.citations import CLOSED, open_quote
from radrag.sentences import Span, finished_sentences, sentences
from radrag.triton import Piece

POLICIES = ("flag", "drop", "refuse")
_THINK, _THOUGHT = "<think>", "</think>"
_MAY_END = re.compile(r"[.!?…\n]")
_ENDS = tuple('.!?…»”"]|')


@dataclass(frozen=True)
class Unit:
    """A sentence, or several that one quote spans: its checked body, and the white space behind it."""

    checked: Checked
    gap: str


class Verification:
    """The state of one answer: what was released, what it cites, what the caller should know."""

    def __init__(self, prompt: Prompt, language: str, unsupported: str = "flag") -> None:
        self._sources = prompt.sources
        self._language = language
        self._policy = unsupported
        self._checker = Checker(prompt.sources)
        self._raw = ""
        self._read = 0
        self._gap = ""
        self._held: list[Unit] = []
        self._open = False
        self._seen: Counter[str] = Counter()
        self._sentences: list[Notice] = []
        self.text = ""
        self.citations: list[Citation] = []
        self.refused = ""

    def feed(self, text: str) -> str:
        """Takes the next piece; returns what may be released now, often nothing."""
        self._raw += text
        visible = _visible(self._raw, final=False)
        return self._take(visible, self._finished(visible), final=False)

    def end(self, cut: bool) -> str:
        """Takes the end of the text. After a `cut` the last sentence counts only if it is supported."""
        visible = _visible(self._raw, final=True)
        released = self._take(visible, self._finished(visible), final=False)
        released += "" if self.refused else self._take(visible, sentences(visible), final=True, cut=cut)
        return released + self._last_word()

    @property
    def outcome(self) -> Outcome:
        """ANSWERED once something was released and not taken back by the policy."""
        return Outcome.ANSWERED if self.text and not self.refused else Outcome.INSUFFICIENT_EVIDENCE

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """What the caller should know about the text released."""
        return (*self._sentences, *self._summary()) if self.text else ()

    def _summary(self) -> list[Notice]:
        languages = {one.passage.document.language for one in self.citations if one.verified}
        other = sorted(languages - {self._language})
        summary = [
            (Kind.PARTIAL_ANSWER, "" if self._seen["refusals"] else None),
            (Kind.MARKER_REMOVED, str(self._seen["removed"]) if self._seen["removed"] else None),
            (Kind.OTHER_LANGUAGE, ",".join(other) or None),
        ]
        return [Notice(kind, detail) for kind, detail in summary if detail is not None]

    def _finished(self, visible: str) -> list[Span]:
        """The finished sentences from the line on that is being read: nothing above it matters."""
        if not _MAY_END.search(visible, self._read):
            return []
        line = visible.rfind("\n", 0, self._read) + 1
        return [(line + start, line + end) for start, end in finished_sentences(visible[line:])]

    def _take(self, text: str, spans: list[Span], final: bool, cut: bool = False) -> str:
        released = ""
        for start, end in _units(text, spans, self._read, final):
            self._read = end
            unit = self._unit(text[start:end])
            unfinished = cut and final and end == len(text)
            if unit and not self.refused and not (unfinished and not _stands(unit.checked)):
                released += self._pass(unit)
        return released

    def _unit(self, text: str) -> Unit | None:
        body = text.strip()
        return Unit(self._checker.check(body), text[len(text.rstrip()) :]) if body else None

    def _pass(self, unit: Unit) -> str:
        """Lets a checked unit through, or holds it; the first supported one opens the gate."""
        if self._open:
            return self._release(unit)
        self._held.append(unit)
        if unit.checked.verified and self._policy != "refuse":
            return self._release_held()
        verified = any(one.checked.verified for one in self._held)
        if len(self._held) > 1 and not verified and any(one.checked.refuses for one in self._held):
            self.refused = "generator_refused"
        return ""

    def _last_word(self) -> str:
        if self._open or self.refused:
            return ""
        if not any(one.checked.verified for one in self._held):
            refuses = any(one.checked.refuses for one in self._held)
            self.refused = "generator_refused" if refuses else "unsupported"
        elif any(_unsupported(one.checked) for one in self._held):
            self.refused = "unsupported"
        return "" if self.refused else self._release_held()

    def _release_held(self) -> str:
        self._open = True
        released = "".join(self._release(unit) for unit in self._held)
        self._held.clear()
        return released

    def _release(self, unit: Unit) -> str:
        checked, unsupported = unit.checked, _unsupported(unit.checked)
        self._seen["removed"] += checked.removed
        self._seen["refusals"] += checked.refuses
        if not checked.text:
            return ""
        if unsupported and self._policy == "drop":
            self._sentences.append(Notice(Kind.UNSUPPORTED_SENTENCE, "dropped"))
            return ""
        released = (self._gap if self.text else "") + checked.text
        end = len(self.text) + len(released)
        span = (end - len(checked.text), end)
        self.text += released
        self._gap = unit.gap
        self.citations += [self._citation(place, span) for place in checked.places]
        if unsupported:
            self._sentences.append(Notice(Kind.UNSUPPORTED_SENTENCE, "flagged", span))
        return released

    def _citation(self, place: Place, span: Span) -> Citation:
        passage = self._sources[place.number - 1]
        start, end = passage.start + place.start, passage.start + place.end
        quote = passage.text[place.start : place.end]
        return Citation(place.number, *span, passage, start, end, quote, place.verified)


async def verify(answer: Verification, pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[str, None]:
    """The checked text of `pieces`, sentence by sentence. A refusal stops the generator."""
    finish_reason = ""
    async with aclosing(pieces):
        async for piece in pieces:
            finish_reason = piece.finish_reason or finish_reason
            released = answer.feed(piece.text)
            if released:
                yield released
            if answer.refused:
                return
    released = answer.end(cut=finish_reason == "length")
    if released:
        yield released


def _unsupported(checked: Checked) -> bool:
    return checked.claims and not checked.verified and not checked.refuses


def _stands(checked: Checked) -> bool:
    """Whether a sentence that may have been cut can stand as it is."""
    return checked.verified and checked.text.endswith(_ENDS)


def _units(text: str, spans: list[Span], read: int, final: bool) -> list[Span]:
    """The spans from `read` on, joined where a quote goes on over a sentence's end; it ends with its line.

    Unless this is the text's end, a unit whose quote is still open waits for more.
    """
    units, start, quote, seen = [], read, CLOSED, read
    for _, end in spans:
        if end <= read:
            continue
        sentence, seen = text[seen:end], end
        quote = open_quote(sentence, quote)
        if "\n" not in sentence[len(sentence.rstrip()) :] and quote != CLOSED:
            continue
        units.append((start, end))
        start, quote = end, CLOSED
    if final and start < len(text):
        units.append((start, len(text)))
    return units


def _visible(raw: str, final: bool) -> str:
    """The answer without the reasoning that some models write first."""
    text = raw.lstrip()
    if text.startswith(_THINK):
        _, found, answer = text.partition(_THOUGHT)
        return answer.lstrip() if found else ""
    return "" if not final and _THINK.startswith(text) else text
