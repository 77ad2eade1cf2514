"""What a script learns from the exit status: one number per way a command can end."""

from enum import IntEnum

from radrag import errors
from radrag.assistant.v1 import assistant_pb2 as pb


class Exit(IntEnum):
    """Exit statuses of every command. 1 is also what a check that found something wrong returns."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    INSUFFICIENT_EVIDENCE = 3
    OUT_OF_SCOPE = 4
    UNAVAILABLE = 5
    DEADLINE_EXCEEDED = 6
    OVERLOADED = 7
    REFUSED = 8  # not signed in, or not allowed
    NOT_FOUND = 9
    FAILED_PRECONDITION = 10
    INTERRUPTED = 130


BY_ERROR: dict[type[errors.RadragError], Exit] = {
    errors.InvalidArgument: Exit.USAGE,
    errors.Unavailable: Exit.UNAVAILABLE,
    errors.DeadlineExceeded: Exit.DEADLINE_EXCEEDED,
    errors.Overloaded: Exit.OVERLOADED,
    errors.Unauthenticated: Exit.REFUSED,
    errors.PermissionDenied: Exit.REFUSED,
    errors.NotFound: Exit.NOT_FOUND,
    errors.FailedPrecondition: Exit.FAILED_PRECONDITION,
}
BY_OUTCOME = {
    pb.OUTCOME_ANSWERED: Exit.OK,
    pb.OUTCOME_INSUFFICIENT_EVIDENCE: Exit.INSUFFICIENT_EVIDENCE,
    pb.OUTCOME_OUT_OF_SCOPE: Exit.OUT_OF_SCOPE,
}
# A stream's finish carries its failure as the number of the gRPC status it would have had.
BY_STATUS: dict[int, Exit] = {int(kind.code.value[0]): status for kind, status in BY_ERROR.items()}


def of_error(error: errors.RadragError) -> Exit:
    """The status for a failed call."""
    return next((status for kind, status in BY_ERROR.items() if isinstance(error, kind)), Exit.FAILURE)


def of_outcome(outcome: pb.Outcome) -> Exit:
    """The status for a reply."""
    return BY_OUTCOME.get(outcome, Exit.FAILURE)
