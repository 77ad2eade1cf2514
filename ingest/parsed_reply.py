"""A child process's reply as a parsed file: blocks joined into one text, with the range each page has."""

from typing import Any

from ingest.canonical import canonical
from ingest.document import PageRange, PageRecord, Parsed
from ingest.markdown import title_of
from ingest.refusal import refused


def parsed_from(name: str, reply: dict[str, Any]) -> Parsed:
    """The parsed file. Raises InvalidArgument when the reply says why there is none."""
    if "reason" in reply:
        raise refused(name, str(reply["field"]), str(reply["reason"]))
    text, pages = "", []
    for piece in reply["pieces"]:
        text += piece["joint"] if text else ""
        start = len(text)
        text += piece["text"]
        pages.append(PageRange(start, len(text), int(piece["page"])))
    markdown = canonical(text)
    return Parsed(
        markdown,
        title_of(markdown),
        str(reply["engine"]),
        merged(pages, len(markdown)),
        pictures=float(reply["pictures"]),
        flags=tuple(reply["flags"]),
        records=tuple(PageRecord(**{**one, "reasons": tuple(one["reasons"])}) for one in reply["records"]),
    )


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
