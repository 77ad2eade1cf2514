"""What a batch reports while it runs, and what it comes to in the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

Outcome = Literal["published", "unchanged", "in_review", "withheld", "failed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Result:
    """How one file ended. `reason` says why it failed or is withheld, for the person who gave it.

    In review it waits for an expert; withheld it was rejected or retired before.
    """

    file: str
    outcome: Outcome
    document_id: str = ""
    version: str = ""
    superseded: str = ""  # the version this one replaced
    engine: str = ""
    pages: int = 0  # 0 where the format has none
    parents: int = 0
    children: int = 0
    seconds: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Event:
    """A file entered a stage (load, parse, clean, chunk, review, embed, publish), or it ended."""

    file: str
    stage: str = ""
    result: Result | None = None


OnEvent = Callable[[Event], None]


@dataclass
class Summary:
    """All results, in the order in which the files ended; `seconds` is the wall clock's."""

    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, outcome: Outcome) -> int:
        """Files that ended so."""
        return sum(result.outcome == outcome for result in self.results)

    @property
    def parents(self) -> int:
        """Parents published by this run."""
        return sum(result.parents for result in self.results if result.outcome == "published")

    @property
    def children(self) -> int:
        """Children published by this run."""
        return sum(result.children for result in self.results if result.outcome == "published")
