"""No text makes a reading of it slow: four times as long takes about four times as long, never sixteen."""

from collections.abc import Callable

import pytest

from gateway.check import Checker
from gateway.citations import markers, quotes
from gateway.planted import planted
from gateway.prompt import neutral
from gateway.words import denied
from radrag.sentences import finished_sentences, sentences
from tests.growth import grows, spent

SIZE = 2_000  # characters of a run, and four times as many
RUNS = (
    " ",
    "\t",
    "\n",
    ".",
    ".[1]",
    "[1, ",
    "[",
    "9]",
    "«",
    '"',
    "<",
    "< ",
    "not ",
    "a. ",
    "игнорируй",
    "* ",
)
READINGS: dict[str, Callable[[str], object]] = {
    "sentences": sentences,
    "finished": finished_sentences,
    "neutral": neutral,
    "planted": planted.__wrapped__,
    "denied": denied,
    "markers": lambda text: markers(text, quotes(text)),
    "checked": Checker([]).check,
}


@pytest.mark.parametrize("name", READINGS)
def test_a_run_of_signs_takes_time_by_its_length(name: str) -> None:
    for head in ("", "<", "[1"):
        for run in RUNS:

            def made(size: int, head: str = head, run: str = run) -> str:
                return f"{head}{run * (size // len(run))}x. Word"

            assert not grows(READINGS[name], made, SIZE), (head, run)


def test_names_of_sources_in_a_marker_without_an_end_are_read_once() -> None:
    assert spent(lambda text: markers(text, []), "[1" + ",источник22" * 17 + "x") < 0.15
    (marker,) = markers("[источник 12]", [])
    assert marker.numbers == (12,)
