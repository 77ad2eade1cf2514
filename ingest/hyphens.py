"""Decides on hyphens at the ends of lines: one word parted by the line, or a compound that has its hyphen."""

from collections.abc import Mapping

PARTICLES_BEFORE = {"по", "кое", "из"}
PARTICLES_AFTER = {"то", "либо", "нибудь", "таки", "ка"}


def joins(head: str, tail: str, words: Mapping[str, int]) -> bool:
    """Whether two halves are one word: by the document's own words, then by their form.

    `words` has how often each word occurs inside lines, in lower case, compounds with their hyphens.
    """
    if not (head.isalpha() and tail.isalpha()) or (tail[0].isupper() and not head.isupper()):
        return False
    a, b = head.lower(), tail.lower()
    whole, compound = words.get(a + b, 0), words.get(f"{a}-{b}", 0)
    if whole or compound:
        return whole >= compound
    if a in PARTICLES_BEFORE or b in PARTICLES_AFTER:
        return False
    return not (min(len(a), len(b)) > 2 and words.get(a, 0) > 1 and words.get(b, 0) > 1)
