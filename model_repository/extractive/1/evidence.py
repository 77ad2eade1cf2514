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


# Where a token stands to its statement; of each place so many tokens are looked at, and of all together.
TITLE, ABOVE, BEFORE, HERE = range(4)
_MOST = {TITLE: 32, ABOVE: 48, BEFORE: 40, HERE: 96}
_MOST_TOKENS = 160
# A word counts a little less where it only stands above the statement or in the title.
_IN_ABOVE, _IN_TITLE = 0.9, 0.8


class Evidence(NamedTuple):
    """A statement of a source, its row, [len(NAMES)], and the tokens of it and of what stands around it:
    states [tokens, dimension], places [tokens], at least one of them HERE."""

    source: Source
    statement: Statement
    row: Floats
    states: Floats
    places: Ints


class Page(NamedTuple):
    """A source as read. titles: the words of title and section. states: of the title's tokens and of
    those read, [tokens, dimension]. similar: [question's tokens, tokens read]. offsets: where the tokens read
    stand, ascending, [tokens read, 2]. everywhere: how far each word asked is written anywhere, [words]."""

    source: Source
    words: Sequence[Word]
    starts: Sequence[int]
    titles: Sequence[Word]
    title_similar: Floats
    states: Floats
    similar: Floats
    offsets: Ints
    everywhere: Floats

    @property
    def title_tokens(self) -> int:
        return len(self.states) - len(self.offsets)


class Candidate(NamedTuple):
    """A statement, and how near its tokens come to the question's, about 0..1."""

    page: Page
    statement: Statement
    nearness: float


def candidates(asked: Question, source: Source, reader: Reader, budget: int) -> list[Candidate]:
    """The statements of one source, those of which the encoder read nothing left out."""
    found = statements(source.text[:LONGEST_SOURCE])
    if not found:
        return []
    page = read(asked, source, reader, budget)
    return [
        Candidate(page, one, nearness(asked, page, one))
        for one in found
        if len(tokens_in(page, [(one.start, one.end)]))
    ]


def evidence(
    asked: Question, wanted: Wanted, chosen: Sequence[Candidate], *, cyrillic: bool
) -> Iterator[Evidence]:
    """What each candidate offers, one by one, so that the caller may stop. cyrillic: whether the question
    is."""
    for one in chosen:
        tokens, places = surroundings(one.page, one.statement)
        made = row_of(asked, wanted, one, cyrillic=cyrillic)
        yield Evidence(one.page.source, one.statement, made, one.page.states[tokens], places)


def read(asked: Question, source: Source, reader: Reader, budget: int) -> Page:
    text = source.text[:LONGEST_SOURCE]
    every = words(text)
    spans, costs = pieces(sentences(text), reader.tokens(text))
    chosen = windows(spans, costs, lambda: holdings(asked.words, spans, every), asked.weights, budget)
    title = "\n".join((source.title, source.section, source.header))
    named, *parts = reader.passages([title, *(text[start:end] for start, end in chosen)])
    states = np.concatenate([part.states for part in parts])
    offsets = np.concatenate([part.offsets + start for part, (start, _) in zip(parts, chosen, strict=True)])
    titles = words(title)
    return Page(
        source,
        every,
        [word.start for word in every],
        titles,
        nearest(asked, named.states),
        np.concatenate([named.states, states]),
        asked.states @ states.T,
        offsets,
        likeness(asked, Vocabulary([*every, *titles])),
    )


def nearness(asked: Question, page: Page, statement: Statement) -> float:
    here = similar_in(page, [(statement.start, statement.end)])
    above = similar_in(page, over(statement))
    seen = np.maximum(np.maximum(here, _IN_ABOVE * above), _IN_TITLE * page.title_similar)
    return float(asked.token_weights @ seen / asked.token_weights.sum())


def over(statement: Statement) -> list[Span]:
    """Headings, the lead of its list and the head of its table."""
    return [*statement.above, *([statement.header] if statement.header else [])]


def surroundings(page: Page, statement: Statement) -> tuple[Ints, Ints]:
    """The statement's tokens first, then what of its surroundings there is room for: which of the page's
    states, and where each stands."""
    before = tokens_in(page, [statement.before] if statement.before else [])
    parts = {
        HERE: tokens_in(page, [(statement.start, statement.end)]) + page.title_tokens,
        TITLE: np.arange(page.title_tokens),
        ABOVE: tokens_in(page, over(statement)) + page.title_tokens,
        BEFORE: before[max(0, len(before) - _MOST[BEFORE]) :] + page.title_tokens,
    }
    tokens = np.concatenate([some[: _MOST[place]] for place, some in parts.items()])[:_MOST_TOKENS]
    places = np.concatenate([np.full(len(some[: _MOST[place]]), place) for place, some in parts.items()])
    return tokens, places[:_MOST_TOKENS]


def row_of(asked: Question, wanted: Wanted, one: Candidate, *, cyrillic: bool) -> Floats:
    """The candidate's row, [len(NAMES)]."""
    page, statement = one.page, one.statement
    other = is_cyrillic(page.source.text) != cyrillic
    here = [(statement.start, statement.end)]
    above = over(statement)
    before = [statement.before] if statement.before else []
    everywhere = page.everywhere
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


def tokens_in(page: Page, spans: Sequence[Span]) -> Ints:
    """The places among the tokens read of those that stand in the spans, span by span."""
    bounds = [np.searchsorted(page.offsets[:, 0], span) for span in spans]
    return np.concatenate([np.arange(first, last) for first, last in bounds] or [np.empty(0, np.int64)])


def words_in(page: Page, spans: Sequence[Span]) -> list[Word]:
    bounds = [(bisect_left(page.starts, start), bisect_left(page.starts, end)) for start, end in spans]
    return [word for first, last in bounds for word in page.words[first:last]]


def text_in(page: Page, spans: Sequence[Span]) -> str:
    return "\n".join(page.source.text[start:end] for start, end in spans)
