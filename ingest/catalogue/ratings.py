"""Ratings of answers, as users gave them; they stand beside the documents they judge."""

import csv
import io
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sql

from ingest.catalogue.database import Database
from ingest.catalogue.history import now
from ingest.catalogue.tables import feedback

CRITERIA = ("relevance", "accuracy", "safety", "comprehensiveness", "conciseness", "language")


@dataclass(frozen=True)
class Rating:
    """A rating of one answer, each 1 to 5; 0 where it was not rated. `source_usefulness` is by rank."""

    request_id: str
    ratings: dict[str, int]
    context_completeness: int
    source_usefulness: tuple[int, ...]
    comment: str


@dataclass(frozen=True)
class StoredRating:
    """A rating with its id, who gave it, and when: microseconds since 1970."""

    feedback_id: str
    at: int
    subject: str
    rating: Rating


async def store(data: Database, rating: Rating, subject: str) -> str:
    """Keeps a rating; returns its id."""
    feedback_id = uuid.uuid4().hex
    values = {
        "feedback_id": feedback_id,
        "at": now(),
        "subject": subject,
        "request_id": rating.request_id,
        "ratings": rating.ratings,
        "context_completeness": rating.context_completeness,
        "source_usefulness": list(rating.source_usefulness),
        "comment": rating.comment,
    }
    await data.write(lambda c: c.execute(feedback.insert().values(values)))
    return feedback_id


async def stored(data: Database) -> list[StoredRating]:
    """All ratings, oldest first."""
    chosen = sql.select(feedback).order_by(feedback.c.at, feedback.c.feedback_id)
    rows = await data.read(lambda c: c.execute(chosen).all())
    return [
        StoredRating(
            row.feedback_id,
            row.at,
            row.subject,
            Rating(
                row.request_id,
                row.ratings,
                row.context_completeness,
                tuple(row.source_usefulness),
                row.comment,
            ),
        )
        for row in rows
    ]


def as_csv(ratings: Sequence[StoredRating]) -> str:
    """The ratings as CSV, a criterion a column; empty where it was not rated."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "feedback_id",
            "at",
            "subject",
            "request_id",
            *CRITERIA,
            "context_completeness",
            "source_usefulness",
            "comment",
        ]
    )
    for one in ratings:
        given = one.rating
        writer.writerow(
            [
                one.feedback_id,
                datetime.fromtimestamp(one.at / 1e6, UTC).isoformat(timespec="seconds"),
                one.subject,
                given.request_id,
                *(given.ratings.get(name, "") for name in CRITERIA),
                given.context_completeness or "",
                " ".join(map(str, given.source_usefulness)),
                harmless(given.comment),
            ]
        )
    return out.getvalue()


def harmless(comment: str) -> str:
    """A comment that no spreadsheet takes for a formula."""
    return f"'{comment}" if comment[:1] in tuple("=+-@\t\r") else comment
