"""No text makes a reading of it slow: four times as long takes about four times as long, never sixteen."""

import time
from collections.abc import Callable

import pytest

from gateway.check import Checker
from gateway.citations import markers, quotes
from gateway.planted import planted
from gateway.prompt import neutral
from gateway.words import denied
from radrag.sentences import finished_sentences, sentences

# A square would be sixteen times; the room between is for a machine that is busy with more.
N, SLOW, MOST_GROWTH = 2_000, 0.15, 11.0
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


def seconds(read: Callable[[str], object], text: str) -> float:
    """Of two readings the faster: another program on the machine is no growth."""
    took = []
    for _ in range(2):
        began = time.process_time()
        read(text)
        took.append(time.process_time() - began)
    return min(took)


@pytest.mark.parametrize("name", READINGS)
def test_a_run_of_signs_takes_time_by_its_length(name: str) -> None:
    for head in ("", "<", "[1"):
        for run in RUNS:
            short, long = (f"{head}{run * (n // len(run))}x. Word" for n in (N, 4 * N))
            took = seconds(READINGS[name], long)
            assert took < SLOW or took < MOST_GROWTH * seconds(READINGS[name], short), (head, run)


def test_names_of_sources_in_a_marker_without_an_end_are_read_once() -> None:
    assert seconds(lambda text: markers(text, []), "[1" + ",источник22" * 17 + "x") < SLOW
    (marker,) = markers("[источник 12]", [])
    assert marker.numbers == (12,)
