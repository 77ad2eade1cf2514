"""Text is released by checked sentence, and never depends on how it was cut into pieces."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answer import Kind, Outcome, Prompt
from gateway.verify import Verification
from tests.gateway.fakes import LENS, PUBLIC, WORKERS, passage

SOURCES = (
    passage("workers", WORKERS),
    passage("public", PUBLIC, start=0),
    passage("lens", LENS, language="ru"),
    passage("two", "Dose is low. It is 3 mSv in an adult."),
)
ANSWERS = [
    "According to the sources:\n- “The annual dose limit for workers is 20 mSv.” [1]\n"
    "- “The annual dose limit for the public is 1 mSv.” [2]\n",
    "По данным источников:\n"
    "- «Предел эквивалентной дозы для хрусталика глаза составляет 20 мЗв в год.» [3]\n",
    "- “Dose is low. It is 3 mSv in an adult.” [4]\nThe end.",
    "The annual dose limit for workers is 20 mSv [1, 2]. It is 50 mSv [9]. "
    "Dr. Smith agrees, e.g. in 2.5 ways.",
    "Insufficient evidence. Ask for a country.",
    "The sources do not cover pilots. The annual dose limit for workers is 20 mSv [1].",
    "<think>hm [1]</think>\nThe annual dose limit for workers is 20 mSv 【1】. Nobody knows more.",
    "«Предел “внутренний” дозы [1] не закрыт [3]. Ещё предложение.\n\n"
    "The annual limit for workers is 20 mSv [1][2].",
    "", " \n ", "[1]", "«", "“.", "<think>", "<thinking about it is a sentence [1].",
    "A. B. C. The annual dose limit for the public is 1 mSv [2-3]; workers 20 mSv [1]!\n"
    "1. One [1]\n2. Two [2]\n",
]  # fmt: skip


def run(pieces: Sequence[str], policy: str = "flag", cut: bool = False) -> Verification:
    answer = Verification(Prompt("", SOURCES), "en", policy)
    released = ""
    for piece in pieces:
        released += answer.feed(piece)
        assert answer.text == released
        if answer.refused:
            return answer
    released += answer.end(cut)
    assert answer.text == released
    return answer


def facts(answer: Verification) -> tuple[object, ...]:
    return answer.text, answer.citations, answer.warnings, answer.refused, answer.outcome


def kinds(answer: Verification) -> set[Kind]:
    return {warning.kind for warning in answer.warnings}


@settings(max_examples=200)
@given(st.data(), st.sampled_from(["flag", "drop", "refuse"]), st.booleans())
def test_cutting_the_stream_differently_changes_nothing(data: st.DataObject, policy: str, cut: bool) -> None:
    text = data.draw(
        st.sampled_from(ANSWERS)
        | st.text("aД.! \n«»“”[]123-|#", max_size=60)
        | st.lists(st.sampled_from(ANSWERS), min_size=2, max_size=3).map(" ".join)
    )
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    assert facts(run(pieces, policy, cut)) == facts(run([text], policy, cut))


@settings(max_examples=100)
@given(st.text("aД.! \n«»“”[]1239-|#【】", max_size=80))
def test_markers_that_point_nowhere_never_leave(text: str) -> None:
    released = run([text, " The annual dose limit for workers is 20 mSv [1]."]).text
    assert set(re.findall(r"[\[【]\s*(\d+)\s*[\]】]", released)) <= {"1", "2", "3", "4"}


def test_text_is_released_when_its_sentence_is_complete() -> None:
    answer = Verification(Prompt("", SOURCES), "en")
    assert answer.feed("The annual dose limit for workers is 20 mSv [1].") == ""
    assert answer.feed(" The annual") == "The annual dose limit for workers is 20 mSv [1]."
    assert answer.feed(" dose limit for the public is 1 mSv [2]. It") == (
        " The annual dose limit for the public is 1 mSv [2]."
    )


def test_a_quote_that_spans_sentences_is_one_unit() -> None:
    answer = run(["- “Dose is low. It is 3 mSv in an adult.” [4]\n"])
    assert [one.verified for one in answer.citations] == [True]
    assert answer.text == "- “Dose is low. It is 3 mSv in an adult.” [4]"
    assert not answer.warnings


def test_the_cited_range_is_in_the_documents_markdown() -> None:
    (citation,) = run([ANSWERS[0].splitlines()[1]]).citations
    assert citation.start == 100
    assert citation.quote == WORKERS[: citation.end - 100]


def test_an_unsupported_sentence_is_flagged_with_its_range() -> None:
    text = "The annual dose limit for workers is 20 mSv [1]. Coffee is good for everybody [2]."
    answer = run([text])
    assert answer.text == text
    (warning,) = answer.warnings
    assert warning.kind is Kind.UNSUPPORTED_SENTENCE
    assert warning.span is not None
    assert text[slice(*warning.span)] == "Coffee is good for everybody [2]."
    assert [one.verified for one in answer.citations] == [True, False]


def test_or_dropped() -> None:
    text = (
        "The annual dose limit for workers is 20 mSv [1]. Coffee is good [2]. "
        "It is averaged over five years [1]."
    )
    answer = run([text], "drop")
    assert answer.text == (
        "The annual dose limit for workers is 20 mSv [1]. It is averaged over five years [1]."
    )
    assert kinds(answer) == {Kind.UNSUPPORTED_SENTENCE}
    assert all(one.verified for one in answer.citations)


def test_or_refuses_the_whole_answer_before_anything_is_sent() -> None:
    text = "The annual dose limit for workers is 20 mSv [1]. Coffee is good [2]."
    answer = run([text], "refuse")
    assert (answer.text, answer.refused) == ("", "unsupported")
    assert answer.outcome is Outcome.INSUFFICIENT_EVIDENCE


def test_refusing_lets_a_supported_answer_through_whole() -> None:
    assert run(list(ANSWERS[0]), "refuse").text == ANSWERS[0].strip()


def test_an_answer_from_memory_is_never_sent() -> None:
    answer = run(["The limit is 20 mSv. Everybody knows that. It is in all the books."])
    assert (answer.text, answer.refused) == ("", "unsupported")


@pytest.mark.parametrize(
    "text",
    [
        "Insufficient evidence.",
        "Insufficient evidence. The limit for pilots would be 6 mSv. So it is.",
        "Unfortunately, the sources do not say this. It is generally 5 mSv [1].",
        "Here is what I found. The provided documents do not contain the answer [1][2].",
        "К сожалению, в источниках нет данных о пилотах. Обычно это 6 мЗв.",
    ],
)
def test_a_refusal_releases_nothing(text: str) -> None:
    answer = run(list(text))
    assert (answer.text, answer.refused) == ("", "generator_refused")


def test_a_partial_answer_is_an_answer_with_a_warning() -> None:
    answer = run(["The annual dose limit for workers is 20 mSv [1]. The sources do not cover pilots."])
    assert answer.outcome is Outcome.ANSWERED
    assert kinds(answer) == {Kind.PARTIAL_ANSWER}


def test_a_source_that_speaks_of_insufficient_evidence_may_be_quoted() -> None:
    sources = (passage("x", "There is insufficient evidence to recommend screening."),)
    answer = Verification(Prompt("", sources), "en")
    answer.feed("- “There is insufficient evidence to recommend screening.” [1]\n")
    answer.end(cut=False)
    assert answer.outcome is Outcome.ANSWERED
    assert not answer.warnings


def test_removed_markers_are_counted() -> None:
    answer = run(
        ["The annual dose limit for workers is 20 mSv [1][8]. It is averaged over five years [1, 9]."]
    )
    (warning,) = answer.warnings
    assert (warning.kind, warning.detail) == (Kind.MARKER_REMOVED, "2")


def test_sources_in_another_language_are_told() -> None:
    (warning,) = run([ANSWERS[1]]).warnings
    assert (warning.kind, warning.detail) == (Kind.OTHER_LANGUAGE, "ru")
