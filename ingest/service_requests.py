"""Requests of the curators' contract, every field checked on the way; each rule names its field and limit."""

import base64
import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from ingest.catalogue.intents import Intent
from ingest.catalogue.ratings import CRITERIA, Rating
from ingest.catalogue.states import Act, State
from ingest.document import TIERS, Metadata
from ingest.secret_uri import check_open
from radrag.errors import InvalidArgument
from radrag.knowledge.v1 import knowledge_pb2 as wire

VERSION, TOPIC = re.compile(r"[0-9a-f]{16}"), re.compile(r"[a-z_]{1,40}")
LANGUAGE, LABEL = re.compile(r"[a-z]{2}"), re.compile(r"[^\s,]{1,100}")
STATES = {number: State(name.removeprefix("STATE_").lower()) for name, number in wire.State.items() if number}
MOST_PAGE, PAGE, DATA_BYTES = 1000, 100, 1_048_576
MOST_CHOSEN = 100
# Controls, what nobody sees and what reorders what is shown: by them two names look like one.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@dataclass(frozen=True)
class Page:
    """Which part of a list: at most `size` rows with a number below `before`.

    `filter_hash` goes into the token of the next page, so that it is not used for another list.
    """

    states: tuple[State, ...]
    topics: tuple[str, ...]
    size: int
    before: int | None
    filter_hash: str


def text(field: str, value: str, most: int, least: int = 1) -> str:
    """A text of `least` to `most` characters that can be read."""
    if not least <= len(value) <= most or (least and not value.strip()) or "\0" in value:
        raise InvalidArgument(field, f"must have {least} to {most:,} characters, not blank, no NUL")
    return value


def seen(field: str, value: str, most: int, least: int = 0) -> str:
    """A text that is kept as a name: each of its characters can be seen."""
    if UNSEEN.search(value) or (value and not value.strip()):
        raise InvalidArgument(field, "must not be blank or have characters that nobody sees")
    return text(field, value, most, least)


def matching(field: str, value: str, pattern: re.Pattern[str], empty: bool = False) -> str:
    """A text of a fixed form; `empty` allows it to be missing."""
    if not (pattern.fullmatch(value) or (empty and not value)):
        raise InvalidArgument(field, f"must match ^{pattern.pattern}$")
    return value


def document_id(value: str) -> str:
    return text("document_id", value, 200)


def version(value: str, required: bool = True) -> str:
    return matching("version", value, VERSION, empty=not required)


def reason(value: str) -> str:
    return text("reason", value, 2000, least=0)


def approves(decision: "wire.ReviewDocumentRequest.Decision") -> bool:
    """Whether a decision is an approval; else it is a rejection."""
    if decision not in {
        wire.ReviewDocumentRequest.DECISION_APPROVE,
        wire.ReviewDocumentRequest.DECISION_REJECT,
    }:
        raise InvalidArgument("decision", "must be DECISION_APPROVE or DECISION_REJECT")
    return bool(decision == wire.ReviewDocumentRequest.DECISION_APPROVE)


def day(field: str, value: str) -> date | None:
    """A day, None for an empty text."""
    try:
        return date.fromisoformat(value) if value else None
    except ValueError as error:
        raise InvalidArgument(field, "must be a day, YYYY-MM-DD") from error


def header(message: wire.SubmitDocumentRequest.Header, topics: Collection[str]) -> tuple[str, Metadata]:
    """The file's name and what is known about it."""
    if message.uri:
        raise InvalidArgument("header.uri", "no host is allowed here; send the file's bytes")
    name = seen("header.filename", message.filename, 255, least=1)
    if "/" in name or "\\" in name:
        raise InvalidArgument("header.filename", "must be a name, not a path")
    return name, metadata(message.metadata, topics)


def metadata(message: wire.Metadata, topics: Collection[str]) -> Metadata:
    """What is known about a document before it is read."""
    at = "header.metadata."
    first, last = day(at + "valid_from", message.valid_from), day(at + "valid_to", message.valid_to)
    if first and last and last <= first:
        raise InvalidArgument(at + "valid_to", "must be later than valid_from")
    return Metadata(
        document_id=uri(at + "document_id", message.document_id, 200),
        title=seen(at + "title", message.title, 500),
        topic=one_of(at + "topic", message.topic, topics),
        category=one_of(at + "category", message.category or "web", TIERS),
        language=matching(at + "language", message.language, LANGUAGE, empty=True),
        source_uri=uri(at + "source_uri", message.source_uri, 2000),
        licence=seen(at + "licence", message.licence, 500),
        valid_from=first,
        valid_to=last,
        access_labels=labels(at + "access_labels", list(message.access_labels)),
    )


def uri(field: str, value: str, most: int) -> str:
    """A text that may be a source's address, and then carries no secret: answers show it."""
    check_open(value, field)
    return seen(field, value, most)


def one_of(field: str, value: str, allowed: Collection[str]) -> str:
    """One of the known values."""
    if value not in allowed:
        raise InvalidArgument(field, "must be one of " + ", ".join(allowed))
    return value


def labels(field: str, values: list[str]) -> tuple[str, ...]:
    if len(values) > 100:
        raise InvalidArgument(field, "must have at most 100 entries")
    given = tuple(matching(f"{field}[{at}]", value, LABEL) for at, value in enumerate(values))
    return given or ("public",)


def page(request: wire.ListDocumentsRequest, topics: Collection[str]) -> Page:
    """Which part of the list to show."""
    if request.page_size > MOST_PAGE:
        raise InvalidArgument("page_size", f"must be 0 to {MOST_PAGE:,}")
    for field, chosen_ones in (("states", request.states), ("topics", request.topics)):
        if len(chosen_ones) > MOST_CHOSEN:
            raise InvalidArgument(field, f"must have at most {MOST_CHOSEN} entries")
    states = tuple(state(f"states[{at}]", one) for at, one in enumerate(request.states))
    chosen = tuple(one_of(f"topics[{at}]", one, topics) for at, one in enumerate(request.topics))
    asked = json.dumps([sorted(states), sorted(chosen)])
    filter_hash = hashlib.sha256(asked.encode()).hexdigest()[:12]
    before = before_of(request.page_token, filter_hash) if request.page_token else None
    return Page(states, chosen, request.page_size or PAGE, before, filter_hash)


def state(field: str, number: int) -> State:
    """A state a version can be in."""
    if number not in STATES or STATES[number] is State.DELETED:
        raise InvalidArgument(field, "must be a state a version can be in")
    return STATES[number]


def token(number: int, filter_hash: str) -> str:
    """The token of the page below a row."""
    return base64.urlsafe_b64encode(f"{number}.{filter_hash}".encode()).decode()


def before_of(page_token: str, filter_hash: str) -> int:
    try:
        number, made_for = base64.urlsafe_b64decode(page_token.encode()).decode().split(".")
        before = int(number)
    except ValueError as error:
        raise InvalidArgument("page_token", "must be one from the last reply") from error
    if made_for != filter_hash:
        raise InvalidArgument("page_token", "belongs to a list with another filter")
    return before


def withdrawal(request: wire.RetireDocumentRequest, subject: str) -> Intent:
    """What to retire, or to end on a day."""
    last = day("valid_to", request.valid_to)
    act = Act.END if last else Act.RETIRE
    named = document_id(request.document_id), version(request.version, required=False)
    return Intent(act, *named, subject, reason(request.reason), last)


def rating(request: wire.RecordFeedbackRequest) -> Rating:
    """A rating of one answer."""
    for name, stars in request.ratings.items():
        one_of("ratings", name, CRITERIA)
        limited(f"ratings[{name}]", stars, 1)
    limited("context_completeness", request.context_completeness, 0)
    if len(request.source_usefulness) > 100:
        raise InvalidArgument("source_usefulness", "must have at most 100 entries")
    for at, stars in enumerate(request.source_usefulness):
        limited(f"source_usefulness[{at}]", stars, 0)
    return Rating(
        request_id=text("request_id", request.request_id, 200),
        ratings=dict(request.ratings),
        context_completeness=request.context_completeness,
        source_usefulness=tuple(request.source_usefulness),
        comment=text("comment", request.comment, 4000, least=0),
    )


def limited(field: str, value: int, least: int) -> None:
    if not least <= value <= 5:
        raise InvalidArgument(field, f"must be {least} to 5")
