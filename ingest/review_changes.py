"""What changed between two versions of a document, section by section. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ingest.tree import Section, blocks_of, sections_of

MOST_PAIRS = 100_000  # of equal lines: with more their order is not compared, which would take for ever
Path = tuple[str, ...]
Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class SectionText:
    """A section's own lines, without its subsections'. `path` is its headings, outermost first."""

    path: Path
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A section that is not as it was, and the lines that went and came, blank ones left out."""

    path: Path
    kind: Kind
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def changes(before: str, after: str) -> list[Change]:
    """What is not as it was, in the order of the new text; what was taken out comes where it stood.

    Sections are the same when their headings are; several of the same headings are taken in order.
    """
    old, new = sections(before), sections(after)
    found: list[Change] = []
    for tag, a, b, c, d in SequenceMatcher(
        None, [keyed for keyed, _ in old], [keyed for keyed, _ in new], autojunk=False
    ).get_opcodes():
        if tag == "equal":
            pairs = zip(old[a:b], new[c:d], strict=True)
            found += [one for (_, was), (_, now) in pairs for one in _changed(was, now)]
            continue
        found += [Change(was.path, "removed", removed=_said(was.lines)) for _, was in old[a:b]]
        found += [Change(now.path, "added", added=_said(now.lines)) for _, now in new[c:d]]
    return found


def sections(text: str) -> list[tuple[tuple[Path, int], SectionText]]:
    """The sections of a canonical text, each with a key: its path and how many had the same one before."""
    seen: dict[Path, int] = {}
    keyed = []
    for one in _walk(sections_of(blocks_of(text), len(text)), (), text):
        seen[one.path] = seen.get(one.path, -1) + 1
        keyed.append(((one.path, seen[one.path]), one))
    return keyed


def _walk(section: Section, path: Path, text: str) -> Iterator[SectionText]:
    own = "".join(text[block.start : block.end] for block in section.blocks if block.kind != "heading")
    if section.level or own.strip():
        yield SectionText(path, tuple(own.splitlines()))
    for part in section.parts:
        yield from _walk(part, (*path, part.title), text)


def _changed(was: SectionText, now: SectionText) -> list[Change]:
    old, new = _said(was.lines), _said(now.lines)
    if old == new:
        return []
    removed: list[str] = []
    added: list[str] = []
    if pairs(old, new) > MOST_PAIRS:
        return [Change(now.path, "changed", beyond(old, new), beyond(new, old))]
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[a:b]
            added += new[c:d]
    return [Change(now.path, "changed", tuple(removed), tuple(added))]


def pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines of both are equal, each with each: so many steps one look for the longest run takes."""
    was, now = Counter(old), Counter(new)
    return sum(count * now[line] for line, count in was.items())


def beyond(lines: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """The lines that the others do not have, or not as often, wherever they stand."""
    left, found = Counter(others), list[str]()
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            found.append(line)
    return tuple(found)


def _said(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.strip() for line in lines if line.strip())
