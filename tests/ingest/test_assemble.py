"""Words parted at a line's end: joined when they are one word, kept when the hyphen is theirs."""

from collections import Counter

import pytest

from ingest.docling.assemble import keeps_hyphen
from ingest.docling.headings import Heading, letters, levels_of
from ingest.hyphens import joins


@pytest.mark.parametrize(
    ("head", "tail", "one_word"),
    [
        ("737", "9", False),
        ("SARS", "CoV", True),
        ("BI", "RADS", False),
        ("исследо", "вание", True),
        ("кое", "что", False),
        ("кто", "либо", False),
        ("non", "Hodgkin", False),
        ("well", "known", False),
    ],
)
def test_a_hyphen_is_kept_in_numbers_names_and_compounds(head: str, tail: str, one_word: bool) -> None:
    words = Counter({"well": 3, "known": 2, "bi-rads": 2})
    assert joins(head, tail, words) is one_word


def test_the_documents_own_words_decide() -> None:
    assert keeps_hyphen("the follow-", "up study", Counter({"follow-up": 2}))
    assert not keeps_hyphen("the follow-", "up study", Counter({"followup": 2}))
    assert not keeps_hyphen("no hyphen", "here", Counter())


def test_levels_follow_size_weight_and_numbers() -> None:
    looks = [
        Heading(1, "Title", 18, True),
        Heading(1, "1. One", 12, True),
        Heading(2, "1.1 Two", 12.2, True),
        Heading(2, "Plain", 12, False),
        Heading(3, "2. Three", 11.9, True),
    ]
    levels = levels_of(looks)
    assert [levels[look.page, letters(look.text)] for look in looks] == [1, 2, 3, 4, 2]


def test_a_stray_among_many_headings_opens_no_level() -> None:
    title, chapter = Heading(1, "Title", 24, True), Heading(1, "Chapter 1", 18, True)
    chapters = [Heading(n, f"Chapter {n}", 18, True) for n in range(2, 9)]
    sections = [Heading(n, f"1.{n} Section", 12, True) for n in range(1, 60)]
    taller = Heading(70, "1.70 The ̀ stable' release", 14, True)  # its accent makes it so
    levels = levels_of([title, chapter, *chapters, taller, *sections])
    shown = [title, chapter, taller, *sections]
    assert [levels[one.page, letters(one.text)] for one in shown] == [1, 2, 3, *[3] * len(sections)]
