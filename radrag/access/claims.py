"""What is said of a caller, by a token or in the file of callers, as a Caller: nothing said means nothing
allowed, but for `public` documents and, where no topics are named, every topic."""

import re
from collections.abc import Mapping

from radrag.call import ANY, PUBLIC, Caller
from radrag.errors import Unauthenticated

READER, CURATOR, ADMIN, SERVICE = "reader", "curator", "admin", "service"
ROLES = frozenset({READER, CURATOR, ADMIN, SERVICE})
# They travel as gRPC metadata, in comma-separated lists: visible ASCII.
A_WORD = re.compile(r"[!-+\--~]{1,100}")
A_SUBJECT = re.compile(r"[!-~]{1,200}")
MOST = 64


def caller(said: Mapping[str, object]) -> Caller:
    """The caller of claims `sub`, `roles`, `labels`, `topics`. Raises Unauthenticated for others' forms."""
    subject = said.get("sub")
    if not isinstance(subject, str) or not A_SUBJECT.fullmatch(subject):
        raise Unauthenticated("sub: 1 to 200 visible ASCII characters", "SUBJECT_INVALID")
    return Caller(
        subject=subject,
        roles=_listed("roles", said.get("roles", [])) & ROLES,
        labels=_listed("labels", said.get("labels", [])) | {PUBLIC},
        topics=_listed("topics", said.get("topics", [ANY])),
    )


def _listed(name: str, value: object) -> frozenset[str]:
    """A list of words, or one string of words with spaces between, as `scope` has them."""
    given = value.split() if isinstance(value, str) else value
    wanted = f"{name}: at most {MOST} words of visible ASCII without commas"
    if not isinstance(given, list) or len(given) > MOST:
        raise Unauthenticated(wanted, "CLAIM_INVALID")
    if not all(isinstance(one, str) and A_WORD.fullmatch(one) for one in given):
        raise Unauthenticated(wanted, "CLAIM_INVALID")
    return frozenset(given)
