"""Who wrote a text and whom they thank: author lines, affiliations, acknowledgements."""

import re
from collections.abc import Iterator

from ingest.cleaning.draft import KEPT_KINDS, Draft
from ingest.document import Removal

ABSTRACT = re.compile(
    r"(abstract|summary|introduction|keywords?|аннотация|реферат|резюме|введение|ключевые слова)\b", re.I
)
AFFILIATION = re.compile(
    r"\S@\S|\borcid\b|e-?mail|\b(university|institute?|department|faculty|laborator\w+|school of|hospital|"
    r"college|университет\w*|институт\w*|кафедр\w*|факультет\w*|академи\w*|лаборатори\w*|ФГБ\w+|ФГА\w+|ГБУ\w*)\b",
    re.I,
)
INITIALS = re.compile(
    r"[А-ЯЁA-Z]\.\s?([А-ЯЁA-Z]\.)?\s?[А-ЯЁA-Z][\w-]+|[А-ЯЁA-Z][\w-]+\s[А-ЯЁA-Z]\.\s?([А-ЯЁA-Z]\.)?"
)
# Two words or more: where one name ends and the next begins, names without commas do not say. Nothing that
# was passed is given back, else a row of such words would be parted in every way there is.
NAME = r"[A-ZА-ЯЁ][\w.'’-]++(?:\s[A-ZА-ЯЁ][\w.'’-]*+)++[\d,*†‡§¶⁰¹²³⁴⁵⁶⁷⁸⁹ᵃ-ᶻ^\s]*+"
NAMES = re.compile(rf"{NAME}(?:(?:,|;|\band\b|&|\bи\b)?+\s*+{NAME})*+")
LEGAL = re.compile(
    r"приказ|постановлени|распоряжени|федеральн\w+ закон|утвержд|зарегистрирован|"
    r"\b(order|regulation|directive|decree|act)\b",
    re.I,
)
REGION = 15  # blocks after the title in which the abstract must begin
LONGEST = 400  # characters of a block of names or addresses, and of a title that is looked at
THANKS = re.compile(
    r"acknowledge?ments?|благодарност[ьи]|выражение (признательности|благодарности)|"
    r"authors?['’]? contributions?|вклад авторов|(информация|сведения) об авторах|about the authors?",
    re.I,
)
LONGEST_THANKS = 2500


def authors(draft: Draft) -> Iterator[Removal]:
    """Names and addresses between a paper's title and its abstract; nothing of a legal text's head."""
    region = head_of_paper(draft)
    texts = {at: draft.of(draft.blocks[at]) for at in region}
    if LEGAL.search(" ".join(texts.values())):
        return
    if any(map(is_names, texts.values())) and any(map(AFFILIATION.search, texts.values())):
        for at, text in texts.items():
            if is_names(text) or AFFILIATION.search(text):
                yield draft.removal("authors", at, at)


def head_of_paper(draft: Draft) -> list[int]:
    """The short blocks between title and abstract; none without both."""
    titles = [at for at, block in enumerate(draft.blocks[:4]) if block.kind == "heading"]
    if not titles or LEGAL.search(draft.blocks[titles[0]].title[:LONGEST]):
        return []
    found: list[int] = []
    for at in range(titles[0] + 1, min(titles[0] + 1 + REGION, len(draft.blocks))):
        block = draft.blocks[at]
        if ABSTRACT.match(draft.of(block).lstrip("#*_ ")):
            return found
        if block.kind in KEPT_KINDS or len(draft.of(block)) > LONGEST:
            return []
        found.append(at)
    return []


def is_names(text: str) -> bool:
    line = text.strip("#*_ \n")
    return len(INITIALS.findall(line)) >= 2 or NAMES.fullmatch(line.replace("\n", " ")) is not None


def acknowledgements(draft: Draft) -> Iterator[Removal]:
    """A section of thanks up to the next heading, or a paragraph that opens with the word."""
    blocks = draft.blocks
    for at, block in enumerate(blocks):
        if block.kind == "heading" and THANKS.fullmatch(draft.title(block)):
            end = next((n for n in range(at + 1, len(blocks)) if blocks[n].kind != "paragraph"), len(blocks))
            closed = end == len(blocks) or blocks[end].kind == "heading"
            if closed and end > at + 1 and blocks[end - 1].end - block.start <= LONGEST_THANKS:
                yield draft.removal("acknowledgements", at, end - 1)
        elif block.kind == "paragraph" and opens_with_thanks(draft.of(block)):
            yield draft.removal("acknowledgements", at, at)


def opens_with_thanks(text: str) -> bool:
    """ "Acknowledgements. We thank …" """
    first, stop, rest = text.lstrip("*_ ").partition(".")
    if ":" in first:
        first, stop, rest = text.lstrip("*_ ").partition(":")
    return bool(stop and rest.strip()) and THANKS.fullmatch(first.strip("*_ ")) is not None
