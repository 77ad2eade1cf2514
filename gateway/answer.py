"""What the answer path says: outcomes, notices, citations, evidence, and the three events of an answer."""

from dataclasses import dataclass, field
from enum import Enum

from gateway.passage import Passage
from gateway.questions import Question
from radrag.errors import RadragError


class Outcome(Enum):
    """How a question ended."""

    ANSWERED = "answered"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    OUT_OF_SCOPE = "out_of_scope"


class Kind(Enum):
    """The kinds of warning."""

    CONFLICTING_SOURCES = "conflicting_sources"
    UNSUPPORTED_SENTENCE = "unsupported_sentence"
    TRUNCATED = "truncated"
    DEGRADED = "degraded"
    OTHER_LANGUAGE = "other_language"
    RERANK_ROW_FAILED = "rerank_row_failed"
    MARKER_REMOVED = "marker_removed"
    PARTIAL_ANSWER = "partial_answer"


@dataclass(frozen=True)
class Notice:
    """Something the caller should know. `span` is a range of the answer's text, where it concerns one."""

    kind: Kind
    detail: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Citation:
    """A marker of the answer, the sentence [text_start, text_end) it stands in, and the cited place.

    `quote` is exactly the slice [start, end) of the cited document's Markdown.
    """

    marker: int
    text_start: int
    text_end: int
    passage: Passage
    start: int
    end: int
    quote: str
    verified: bool


@dataclass(frozen=True)
class Evidence:
    """The sources found for a question, and whether they are enough to answer from.

    `embedder` and its weights' hash name what embedded the question; empty when nothing did.
    """

    question: Question
    outcome: Outcome
    reason: str
    passages: tuple[Passage, ...] = ()
    warnings: tuple[Notice, ...] = ()
    gate: str = ""
    generation: str = ""
    revision: int = 0
    embedder: str = ""
    embedder_sha256: str = ""

    def lacks(self, part: str) -> bool:
        """Whether this reply had to do without the named part."""
        return Notice(Kind.DEGRADED, part) in self.warnings


@dataclass(frozen=True)
class Prompt:
    """A finished prompt, the sources it holds in the order of their numbers, and what had to be left out."""

    text: str
    sources: tuple[Passage, ...]
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Prompted:
    """Evidence with its prompt; None where no generator is worth asking, then `message` says why."""

    evidence: Evidence
    prompt: Prompt | None
    message: str = ""


@dataclass
class Usage:
    """Tokens by the generator's own count; first-token times in seconds since the call began."""

    input_tokens: int = 0
    output_tokens: int = 0
    first_token_model: float | None = None
    first_token_caller: float | None = None


@dataclass(frozen=True)
class Sources:
    """First event, once: [1] in the text is the first passage."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Text:
    """A piece of the answer; concatenated in order the pieces are the answer."""

    text: str


@dataclass(frozen=True)
class Finish:
    """Last event, exactly once. `error` is set when the answer failed after its first event."""

    evidence: Evidence
    outcome: Outcome
    reason: str
    prompt: str = ""
    truncated: bool = False
    error: RadragError | None = None
    citations: tuple[Citation, ...] = ()
    warnings: tuple[Notice, ...] = ()
    usage: Usage = field(default_factory=Usage)


Event = Sources | Text | Finish
