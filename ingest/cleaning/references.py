"""Lists of references: citations below their title, near the end of a text."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ingest.cleaning.draft import KEPT_KINDS, Draft
from ingest.document import Removal
from ingest.tree import Block

# "Нормативные ссылки" is not among them: that section of a Russian standard is law, not literature.
TITLE = re.compile(
    r"references( and notes)?|bibliography|works cited|literature( cited)?|"
    r"(список |перечень )?((использованн\w+|цитируем\w+|рекомендуем\w+) )?(литератур[аыу]|источник(и|ов))"
    r"( и литературы| и источников)?|"
    r"библиографи(я|ческий список|ческий указатель|ческие ссылки)",
    re.I,
)
SUBTITLE = re.compile(r"(основн|дополнительн)\w+( литератур\w+)?|(further|suggested) reading", re.I)
CITATION = re.compile(
    r"\b(doi|arxiv|isbn|issn|pmid|et al|и др\.|изд-во|[Vv]ol\.|[Pp]p\.)|"
    r"\s//\s|\b[СсPp]\.\s?\d+|https?://|\((19|20)\d\d[a-z]?\)|\b(19|20)\d\d\s?[;:]\s?\d|"
    r"\b(19|20)\d\d[a-z]?[.,]\s*($|[–—-]|\d+\s?\()"
)
AUTHOR = re.compile(r"\b[A-ZА-ЯЁ][\w’'-]{1,60}+,?\s[A-ZА-ЯЁ]\.?\s?[A-ZА-ЯЁ]?\.?,")
YEAR = re.compile(r"\b(19|20)\d\d\b")
EARLIEST = 0.3  # share of the text before such a list
LONGEST_GAP = 200  # characters of a line that a citation was torn off from
FEWEST = 2


def references(draft: Draft) -> Iterator[Removal]:
    """Each list with its title. Tables end it, and so does what does not look like a citation."""
    end = 0
    for at, block in enumerate(draft.blocks):
        if at < end:  # inside the list before: from here it would be the same one, less its beginning
            continue
        late = block.start >= EARLIEST * len(draft.text)
        if late and block.kind not in KEPT_KINDS and TITLE.fullmatch(draft.title(block)):
            end = end_of_list(draft, at + 1)
            if sum(citations(draft, one) for one in draft.blocks[at + 1 : end]) >= FEWEST:
                yield draft.removal("references", at, end - 1)


def end_of_list(draft: Draft, start: int) -> int:
    """Behind the last block of citations; a short torn line between two of them does not end the list."""
    end = start
    for at in range(start, len(draft.blocks)):
        block = draft.blocks[at]
        if is_cited(draft, block):
            end = at + 1
        elif at > end or not may_stand_between(draft, block):
            break
    return end


def may_stand_between(draft: Draft, block: Block) -> bool:
    if block.kind == "heading":
        return SUBTITLE.fullmatch(draft.title(block)) is not None
    return block.kind == "paragraph" and len(draft.of(block)) <= LONGEST_GAP


def is_cited(draft: Draft, block: Block) -> bool:
    """Whether half of a block's entries look like citations."""
    if block.kind in KEPT_KINDS or block.kind == "heading":
        return False
    return citations(draft, block) >= 0.5 * max(1, len(entries(draft, block)))


def citations(draft: Draft, block: Block) -> int:
    return sum(map(is_citation, entries(draft, block)))


def entries(draft: Draft, block: Block) -> list[str]:
    """The items of a list; a paragraph is one, or one for each line that begins with a number."""
    text = draft.of(block)
    if block.kind == "list":
        starts = [block.start, *(at for at, depth in block.inner if depth == 0), block.end]
        return [draft.text[a:b] for a, b in pairwise(starts)]
    return re.split(r"\n(?=[^\S\n]*\[?\d{1,3}[\].)])", text)


def is_citation(text: str) -> bool:
    """Whether it has a sign of one, or a line in which a year follows an author."""
    return CITATION.search(text) is not None or has_dated_author(text)


def has_dated_author(text: str) -> bool:
    """Each line is looked through once, behind its first author: that holds for the others on it too."""
    searched = 0
    for author in AUTHOR.finditer(text):
        if author.end() > searched:
            searched = end if (end := text.find("\n", author.end())) >= 0 else len(text)
            if YEAR.search(text, author.end(), searched):
                return True
    return False
