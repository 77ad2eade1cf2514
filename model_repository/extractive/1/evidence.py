"""What each statement of the sources offers as an answer: one row of numbers per statement.

A statement is read together with what stands above it (title, headings, the lead of its list, the head of its
table) and the sentence before it: `It carries 75 %` answers for the vein named there. Words are looked
for by spelling and meaning, tokens by late interaction, and a question after a quantity wants a number.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from e5_encoder import Floats, Ints
from matching import Vocabulary
from prompt import Source
from quantities import Wanted
from question import Question, by_word, softmin, understood
from reader import Reader
from reading import holdings, pieces, windows
from sentences import Span, sentences
from statements import Statement, statements
from words import Word, is_cyrillic, words

# Tokens that the encoder reads of all sources together.
BUDGET = 2240
# A word of this weight or more counts as a subject that must be there.
USUAL_WEIGHT = 1.2
LONGEST_SOURCE = 40_000

NAMES = (
    "written_here",
    "written_around",
    "covered",
    "maxsim",
    "softmin",
    "quantity_given",
    "quantity_missing",
    "unwritten",
    "written_in_source",
    "other_script",
    "other_written_here",
    "other_written_around",
    "other_covered",
)


class Evidence(NamedTuple):
    """A statement of a source, and its row, [len(NAMES)]."""

    source: Source
    statement: Statement
    row: Floats


class Page(NamedTuple):
    """A source as read. titles: words and states of title and section. similar: [question's tokens, tokens
    read], and where these tokens stand, ascending, [tokens read, 2]."""

    source: Source
    words: Sequence[Word]
    starts: Sequence[int]
    titles: Sequence[Word]
    title_similar: Floats
    similar: Floats
    offsets: Ints


def evidence(
    asked: Question, wanted: Wanted, source: Source, reader: Reader, budget: int, *, cyrillic: bool
) -> Iterator[Evidence]:
    """All statements of one source, one by one, so that the caller may stop. cyrillic: whether the question
    is."""
    found = statements(source.text[:LONGEST_SOURCE])
    if not found:
        return
    page = read(asked, source, reader, budget)
    other = is_cyrillic(source.text) != cyrillic
    everywhere = likeness(asked, Vocabulary([*page.words, *page.titles]))
    for statement in found:
        yield Evidence(source, statement, row(asked, wanted, page, statement, everywhere, other=other))


def read(asked: Question, source: Source, reader: Reader, budget: int) -> Page:
    text = source.text[:LONGEST_SOURCE]
    every = words(text)
    spans, costs = pieces(sentences(text), reader.tokens(text))
    chosen = windows(spans, costs, lambda: holdings(asked.words, spans, every), asked.weights, budget)
    title = "\n".join((source.title, source.section, source.header))
    named, *parts = reader.passages([title, *(text[start:end] for start, end in chosen)])
    states = np.concatenate([part.states for part in parts])
    offsets = np.concatenate([part.offsets + start for part, (start, _) in zip(parts, chosen, strict=True)])
    return Page(
        source,
        every,
        [word.start for word in every],
        words(title),
        nearest(asked, named.states),
        asked.states @ states.T,
        offsets,
    )


def row(
    asked: Question, wanted: Wanted, page: Page, statement: Statement, everywhere: Floats, *, other: bool
) -> Floats:
    here = [(statement.start, statement.end)]
    above = [*statement.above, *([statement.header] if statement.header else [])]
    before = [statement.before] if statement.before else []
    written = likeness(asked, Vocabulary(words_in(page, here)))
    around = np.maximum(written, likeness(asked, Vocabulary([*words_in(page, above + before), *page.titles])))
    seen = np.maximum(np.maximum(similar_in(page, here), similar_in(page, above)), page.title_similar)
    meant = by_word(seen, asked, 0.0)
    known = understood(by_word(np.maximum(seen, similar_in(page, before)), asked, 0.0))
    part, tokens = asked.weights / asked.weights.sum(), asked.token_weights / asked.token_weights.sum()
    kind = wanted.fit(text_in(page, here), text_in(page, above))
    lexical = np.array([part @ written, part @ around, part @ np.maximum(around, known)])
    rest = [
        tokens @ seen,
        softmin(meant, part),
        max(kind, 0.0),
        max(-kind, 0.0),
        (np.minimum(asked.weights / USUAL_WEIGHT, 1) * (1 - everywhere)).max(),
        part @ everywhere,
        float(other),
    ]
    return np.array([*lexical, *rest, *(lexical * other)], np.float32)


def likeness(asked: Question, vocabulary: Vocabulary) -> Floats:
    """How far each word of the question is written, [words] 0..1."""
    return np.array([vocabulary.likeness(word) for word in asked.words], np.float32)


def nearest(asked: Question, states: Floats) -> Floats:
    """Each token of the question against its nearest, [question's tokens]."""
    best: Floats = (asked.states @ states.T).max(axis=1, initial=0.0)
    return best


def similar_in(page: Page, spans: Sequence[Span]) -> Floats:
    """As `nearest`, among the tokens that stand in the spans; those that were not read count for nothing."""
    best = np.zeros(len(page.similar), np.float32)
    for start, end in spans:
        first, last = np.searchsorted(page.offsets[:, 0], (start, end))
        best = np.maximum(best, page.similar[:, first:last].max(axis=1, initial=0.0))
    return best


def words_in(page: Page, spans: Sequence[Span]) -> list[Word]:
    bounds = [(bisect_left(page.starts, start), bisect_left(page.starts, end)) for start, end in spans]
    return [word for first, last in bounds for word in page.words[first:last]]


def text_in(page: Page, spans: Sequence[Span]) -> str:
    return "\n".join(page.source.text[start:end] for start, end in spans)
