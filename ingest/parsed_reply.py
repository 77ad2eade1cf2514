"""A child process's reply as a parsed file: blocks joined into one text, with the range each page has."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ingest.canonical import canonical
from ingest.document import PageRange, PageRecord, Parsed, Removal
from ingest.markdown import title_of
from ingest.refusal import refused


def parsed_from(name: str, reply: dict[str, Any]) -> Parsed:
    """The parsed file. Raises InvalidArgument when the reply says why there is none."""
    if "reason" in reply:
        raise refused(name, str(reply["field"]), str(reply["reason"]))
    text, pages, removals = joined(reply["pieces"])
    markdown = canonical(text)
    return Parsed(
        markdown,
        title_of(markdown),
        str(reply["engine"]),
        merged(pages, len(markdown)),
        removals=tuple(replace(one, end=min(one.end, len(markdown))) for one in removals),
        pictures=float(reply["pictures"]),
        flags=tuple(reply["flags"]),
        records=tuple(PageRecord(**{**one, "reasons": tuple(one["reasons"])}) for one in reply["records"]),
    )


def joined(pieces: Sequence[dict[str, Any]]) -> tuple[str, list[PageRange], list[Removal]]:
    """The text with all blocks, the range of each that stays, and the removals that take out the others."""
    text, pages = "", list[PageRange]()
    removals: list[Removal] = []
    for piece in pieces:
        opens, joint = not pages, piece["joint"]
        for front in piece["front"]:
            start = len(text)
            text += f"{front['text']}\n\n" if opens else f"\n\n{front['text']}"
            removals.append(Removal(front["rule"], start, len(text)))
        if not piece["text"]:
            break
        if piece["front"] and not opens and joint != "\n\n":  # what goes takes the blank line along
            text += "\n\n"
            removals[-1] = replace(removals[-1], end=len(text), text=joint)
        elif not opens:
            text += joint
        start = len(text)
        text += piece["text"]
        pages.append(PageRange(start, len(text), int(piece["page"])))
    return text, pages, removals


def merged(pieces: list[PageRange], end: int) -> tuple[PageRange, ...]:
    """One range for each run of blocks on one page; together they leave no gap. None without pages."""
    ranges: list[PageRange] = []
    for piece in pieces:
        if ranges and ranges[-1].page == piece.page:
            ranges[-1] = PageRange(ranges[-1].start, piece.end, piece.page)
        elif piece.page:
            ranges.append(piece)
    ends = [*(part.start for part in ranges[1:]), end][: len(ranges)]
    return tuple(PageRange(part.start, stop, part.page) for part, stop in zip(ranges, ends, strict=True))
