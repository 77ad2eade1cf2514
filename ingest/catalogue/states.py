"""The life of a document version, as one table: which act leads from which state to which. Pure."""

from collections.abc import Mapping
from enum import StrEnum

from radrag.errors import FailedPrecondition


class State(StrEnum):
    """Where a version stands. DELETED stands only in histories: of a deleted version nothing else is left."""

    DISCOVERED = "discovered"
    PARSED = "parsed"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    PUBLISHED = "published"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    RETIRED = "retired"
    REJECTED = "rejected"
    FAILED = "failed"
    DELETED = "deleted"


class Act(StrEnum):
    """What is done to a version."""

    PARSE = "parse"
    SUBMIT = "submit"
    FAIL = "fail"
    VOTE = "vote"  # an approval that is not enough by itself
    APPROVE = "approve"
    REJECT = "reject"
    PUBLISH = "publish"
    SUPERSEDE = "supersede"
    END = "end"  # its last day is set
    EXPIRE = "expire"  # its last day has passed
    RETIRE = "retire"
    RETRY = "retry"
    DELETE = "delete"


S, A = State, Act

NEXT: Mapping[tuple[State, Act], State] = {
    (S.DISCOVERED, A.PARSE): S.PARSED,
    (S.DISCOVERED, A.FAIL): S.FAILED,
    (S.PARSED, A.SUBMIT): S.IN_REVIEW,
    (S.PARSED, A.FAIL): S.FAILED,
    (S.IN_REVIEW, A.VOTE): S.IN_REVIEW,
    (S.IN_REVIEW, A.APPROVE): S.APPROVED,
    (S.IN_REVIEW, A.REJECT): S.REJECTED,
    (S.APPROVED, A.REJECT): S.REJECTED,
    (S.APPROVED, A.PUBLISH): S.PUBLISHED,
    (S.PUBLISHED, A.PUBLISH): S.PUBLISHED,
    (S.PUBLISHED, A.SUPERSEDE): S.SUPERSEDED,
    (S.EXPIRED, A.SUPERSEDE): S.SUPERSEDED,
    (S.PUBLISHED, A.END): S.PUBLISHED,
    (S.SUPERSEDED, A.END): S.SUPERSEDED,
    (S.EXPIRED, A.END): S.EXPIRED,
    (S.PUBLISHED, A.EXPIRE): S.EXPIRED,
    (S.PUBLISHED, A.RETIRE): S.RETIRED,
    (S.SUPERSEDED, A.RETIRE): S.RETIRED,
    (S.EXPIRED, A.RETIRE): S.RETIRED,
    # Again: what was not read is read again, what was decided is decided again, what is due stays due.
    (S.DISCOVERED, A.RETRY): S.DISCOVERED,
    (S.PARSED, A.RETRY): S.DISCOVERED,
    (S.FAILED, A.RETRY): S.DISCOVERED,
    (S.IN_REVIEW, A.RETRY): S.IN_REVIEW,
    (S.APPROVED, A.RETRY): S.APPROVED,
    (S.PUBLISHED, A.RETRY): S.PUBLISHED,
    (S.SUPERSEDED, A.RETRY): S.IN_REVIEW,
    (S.EXPIRED, A.RETRY): S.IN_REVIEW,
    (S.RETIRED, A.RETRY): S.IN_REVIEW,
    (S.REJECTED, A.RETRY): S.IN_REVIEW,
    **{(state, A.DELETE): S.DELETED for state in State if state is not S.DELETED},
}

SEARCHABLE = frozenset({S.PUBLISHED, S.SUPERSEDED, S.EXPIRED})
"""The states whose versions the index holds: found on the days on which they were in force, on no other."""


def after(state: State, act: Act) -> State:
    """The state that follows. Raises FailedPrecondition where the act is not allowed."""
    following = NEXT.get((state, act))
    if following is None:
        allowed = ", ".join(one.value for one in Act if (state, one) in NEXT)
        raise FailedPrecondition(
            f"cannot {act.value} a version that is {state.value}; possible are: {allowed}", "WRONG_STATE"
        )
    return following
