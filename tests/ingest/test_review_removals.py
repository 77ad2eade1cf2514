"""A reviewer sees what cleaning took out, rule by rule, the largest first and no more than can be read."""

from ingest.document import Document, Metadata, Removal
from ingest.review_removals import LONGEST, SAMPLES, Removed, removals


def cleaned(raw: str, *found: Removal) -> Document:
    return Document(
        "lens", "text", "Lens", "en", Metadata(topic="safety"), "markdown", raw=raw, removals=found
    )


def test_what_each_rule_took_is_counted_and_quoted_the_largest_first() -> None:
    raw = "7\nLens\n12\n# References\n[1] Smith\n"
    document = cleaned(
        raw, Removal("page_number", 0, 1), Removal("references", 10, 32), Removal("page_number", 7, 9)
    )
    assert removals(document) == [
        Removed("page_number", 2, 3, ("12", "7")),
        Removed("references", 1, 22, ("# References\n[1] Smith",)),
    ]


def test_a_long_document_gives_no_longer_a_list() -> None:
    raw = "x" * 10_000 + "\n7" * 50
    numbers = [Removal("page_number", at, at + 1) for at in range(10_001, 10_101, 2)]
    long, many = removals(cleaned(raw, Removal("references", 0, 10_000), *numbers))
    assert [len(one) for one in long.samples] == [LONGEST]
    assert (many.count, len(many.samples)) == (50, SAMPLES)


def test_a_document_from_which_nothing_went_has_none() -> None:
    assert removals(cleaned("text")) == []
