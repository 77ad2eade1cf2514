"""Which topics and documents of the index the running call's caller may see."""

from collections.abc import Collection

from radrag import call
from radrag.errors import PermissionDenied
from retrieval.document import Document


def topics(asked: Collection[str], served: Collection[str]) -> tuple[str, ...]:
    """The topics to search: those asked for, else all of the caller's. Raises PermissionDenied.

    Never empty when the caller is limited: an empty filter would mean every topic.
    """
    caller = call.current().caller
    for one in asked:
        if not caller.has_topic(one):
            raise PermissionDenied(f"the topic {one} is not the caller's", "TOPIC_FORBIDDEN")
    mine = tuple(one for one in (asked or served) if caller.has_topic(one))
    if not mine:
        raise PermissionDenied("none of the topics is the caller's", "TOPIC_FORBIDDEN")
    return mine


def sees(document: Document) -> bool:
    """Whether this document is."""
    return call.current().caller.sees(document.topic, document.access_labels)
