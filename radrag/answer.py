"""An answer as people read it: printed as text, in a notebook as HTML; beneath it is the contract's reply."""

from dataclasses import dataclass
from html import escape

from radrag.assistant.v1 import assistant_pb2 as pb

MARK = "✓"


@dataclass(frozen=True)
class Source:
    """A passage the answer may rest on. `quotes` are what the answer cites of it."""

    rank: int
    title: str
    uri: str
    text: str
    heading_path: tuple[str, ...]
    document: str
    quotes: tuple[str, ...]
    verified: bool

    def __str__(self) -> str:
        checked = f" {MARK}" if self.verified else ""
        return f"[{self.rank}] {self.title} ({self.document}){checked}\n    {self.uri}"

    def _repr_html_(self) -> str:
        quotes = "".join(f"<blockquote>{escape(one)}</blockquote>" for one in self.quotes)
        checked = f" {MARK}" if self.verified else ""
        title = escape(self.title)
        if self.uri.startswith(("http://", "https://")):
            title = f'<a href="{escape(self.uri)}" rel="noreferrer">{title}</a>'
        return f"<li value='{self.rank}'>{title} <small>{escape(self.document)}{checked}</small>{quotes}</li>"


@dataclass(frozen=True, repr=False)
class Answer:
    """A checked answer or a typed refusal; `message` is the whole reply of the contract."""

    message: pb.GenerateResponse

    @property
    def outcome(self) -> str:
        """ANSWERED, INSUFFICIENT_EVIDENCE or OUT_OF_SCOPE."""
        return str(pb.Outcome.Name(self.message.outcome)).removeprefix("OUTCOME_")

    @property
    def answered(self) -> bool:
        """Whether the sources answer the question; else `text` is a fixed message."""
        return bool(self.message.outcome == pb.OUTCOME_ANSWERED)

    @property
    def text(self) -> str:
        """The answer with its markers [1]."""
        return self.message.text

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources in the markers' order."""
        return tuple(self._source(one) for one in self.message.ranked_parents)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know, as words to branch on: KIND or KIND: detail."""
        # The stubs take the message for Python's own Warning.
        return tuple(_words(one) for one in self.message.warnings)  # type: ignore[arg-type]

    @property
    def request_id(self) -> str:
        """The call's id, for feedback and logs."""
        return self.message.request_id

    def __str__(self) -> str:
        cited = [str(one) for one in self.sources if one.quotes]
        warned = [f"note: {one}" for one in self.warnings]
        return "\n\n".join(filter(None, [self.text.rstrip(), "\n".join(cited), "\n".join(warned)]))

    def __repr__(self) -> str:
        return f"<Answer {self.outcome} {self.request_id}: {len(self.sources)} sources>"

    def _repr_html_(self) -> str:
        cited = "".join(one._repr_html_() for one in self.sources if one.quotes)
        warned = "".join(f"<li>{escape(one)}</li>" for one in self.warnings)
        return (
            f"<div><p><strong>{self.outcome}</strong></p>"
            f"<p style='white-space: pre-wrap'>{escape(self.text)}</p>"
            f"<ol>{cited}</ol>{f'<ul>{warned}</ul>' if warned else ''}</div>"
        )

    def _source(self, parent: pb.RankedParent) -> Source:
        cited = [one for one in self.message.citations if one.parent_id == parent.parent_id]
        return Source(
            parent.rank,
            parent.document.title,
            parent.document.source_uri,
            parent.text,
            tuple(parent.heading_path),
            f"{parent.document.document_id}@{parent.document.version[:8]}",
            tuple(one.quote for one in cited),
            bool(cited) and all(one.verified for one in cited),
        )


def _words(one: pb.Warning) -> str:
    kind = str(pb.Warning.Kind.Name(one.kind)).removeprefix("KIND_")
    return f"{kind}: {one.detail}" if one.detail else kind
