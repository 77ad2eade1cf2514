"""What works on a stranger's text takes time in proportion to it: no pattern and no loop takes the square."""

from collections.abc import Callable

import pytest

from ingest.canonical import canonical
from ingest.chunk import ChunkLimits, chunk
from ingest.clean import cleaned
from ingest.cleaning.contents import named, places_in, with_title
from ingest.cleaning.people import is_names
from ingest.document import Document, Metadata, Parsed, Removal
from ingest.encoding import foreign_words
from ingest.html.blocks import on_a_line
from ingest.html.judge import bounded
from ingest.noise import noise_class
from ingest.ocr.grounding import markdown_in
from ingest.review_changes import changes
from ingest.secret_uri import secret_in
from ingest.textlayer import TextLayer
from tests.growth import grows
from tests.ingest.counting import counter

SIZE = 600  # characters of a run, and four times as many
PIECES = (
    *(" ", "\t", "\n", "\u00a0", " \n", "#", "-", "*", "_", "`", "|", ">", "<", "[", "(", "!", "&", "@", '"'),
    *(
        ".",
        ". ",
        "…",
        "1",
        "1.",
        "1, ",
        "a",
        "я",
        "a ",
        "aя",
        "- ",
        "> ",
        "| a ",
        "](",
        "A-",
        "Aa ",
        "Aa A, ",
    ),
    *("GLYPH<", "<td ", "<td span ", "<table ", "<p a=", "<|", "eyJ", "a\u0301\u0316", "\u0301", "доктор"),
    *("<|ref|>text<|/ref|><|det|>[[", "федеральн"),
)
HEADS = ("", "# ", "a....", '<td colspan="', "<p a=")
Function = Callable[[str], object]


def layer(text: str) -> object:
    found = TextLayer(text)
    return found.reasons, found.quality


def of_words(text: str) -> object:
    return noise_class(f"one two three four five {text}")


def chunked(text: str) -> object:
    return chunk(Document("d", text, "", "en", Metadata(), "test"), counter(), ChunkLimits())


def clean(text: str) -> object:
    return cleaned(Parsed(text, "", "test"))


LINE_FUNCTIONS: tuple[Function, ...] = (
    *(canonical, named, places_in, foreign_words, bounded, of_words, markdown_in, layer),
    lambda text: is_names(text[:400]),  # longer ones are not looked at; in these were billions of partings
    lambda text: secret_in(f"https://a/?b={text}"),
    lambda text: on_a_line([text]),
    lambda text: clean(canonical(text)),
)


@pytest.mark.parametrize("function", LINE_FUNCTIONS)
def test_a_long_run_of_one_thing_takes_no_square_of_it(function: Function) -> None:
    for head in HEADS:
        for piece in PIECES:

            def made(size: int, head: str = head, piece: str = piece) -> str:
                return f"{head}{piece * (size // len(piece))} word!"

            assert not grows(function, made, SIZE), (head, piece)


@pytest.mark.parametrize(
    ("function", "piece", "before", "end"),
    [
        (clean, "doi\n\nReferences\n\n", "x\n\n" * 3, "doi\n"),
        (clean, "- References\n", "", "doi\n"),
        (chunked, "# a\n\n", "", "b\n"),
        (chunked, "# a\n\nb\n\n", "", "b\n"),
        (chunked, "\n", "```\n", "a\n```\n"),
        (chunked, "a ", "", "\n"),
    ],
)
def test_many_blocks_take_no_square_of_them(function: Function, piece: str, before: str, end: str) -> None:
    def made(size: int) -> str:
        return before + piece * (size // len(piece)) + end

    assert not grows(function, made, 2_500)


def test_many_removals_take_no_copy_of_the_text_each() -> None:
    def titled(text: str) -> object:
        return [with_title(Removal("running_head", at, at + 1), text) for at in range(len(text) // 100)]

    assert not grows(titled, lambda size: "a" * size, 500_000)


def test_lines_that_stand_many_times_are_compared_in_time() -> None:
    def compared(text: str) -> object:
        return changes(text + "b\n", text + "c\n")

    assert not grows(compared, lambda size: "a\n" * size, 1_000)
    [change] = changes("a\n" * 1_000 + "b\n", "a\n" * 1_001 + "c\n")
    assert (change.removed, change.added) == (("b",), ("a", "c"))
