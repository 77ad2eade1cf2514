"""`radrag kb feedback`: the ratings of answers, for people or as CSV."""

import argparse
from collections.abc import Mapping

from cli import kb
from cli.exits import Exit
from cli.terminal import Terminal
from ingest.catalogue.ratings import CRITERIA, StoredRating, as_csv, stored


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints them, oldest first."""
    async with kb.opened(environ) as curation:
        ratings = await stored(curation.catalogue.data)
    if given.csv:
        screen.piece(as_csv(ratings))
    elif given.json:
        screen.json([_as_data(one) for one in ratings])
    else:
        screen.table(("when", "who", "request", *CRITERIA), [_row(one) for one in ratings])
    return Exit.OK


def _row(one: StoredRating) -> tuple[str, ...]:
    stars = (str(one.rating.ratings.get(name, "-")) for name in CRITERIA)
    return kb.instant(one.at), one.subject, one.rating.request_id, *stars


def _as_data(one: StoredRating) -> dict[str, object]:
    given = one.rating
    return {
        "feedback_id": one.feedback_id,
        "at": kb.instant(one.at),
        "subject": one.subject,
        "request_id": given.request_id,
        "ratings": given.ratings,
        "context_completeness": given.context_completeness,
        "source_usefulness": list(given.source_usefulness),
        "comment": given.comment,
    }
