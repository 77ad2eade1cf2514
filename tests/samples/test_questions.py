"""The question files are complete, balanced, and their evidence stands in the built documents."""

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
import yaml

from evaluation.questions import Question, load
from samples.build import HERE, MANIFEST, Entry
from tests.samples.texts import headings_of, words_of

DOCUMENTS = {
    entry["id"]: entry for entry in yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["documents"]
}
FUNCTIONAL = load(HERE / "questions.jsonl")
CALIBRATION = load(HERE / "calibration.jsonl")
FITTING = load(HERE / "fitting.jsonl")
BOTH = pytest.mark.parametrize("questions", [FUNCTIONAL, CALIBRATION], ids=["functional", "calibration"])


def documents_of(question: Question) -> set[str]:
    return {quote.document for alternative in question.evidence for quote in alternative}


def words(question: Question) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", question.text.casefold()))


def test_there_are_77_functional_questions_eleven_a_topic() -> None:
    topics = {entry["topic"] for entry in DOCUMENTS.values()}
    assert Counter(question.topic for question in FUNCTIONAL) == dict.fromkeys(topics, 11)


def test_calibration_has_50_of_each_kind() -> None:
    assert Counter(question.answerable for question in CALIBRATION) == {True: 50, False: 50}


def test_at_least_16_functional_questions_are_unanswerable_in_every_topic_and_both_languages() -> None:
    unanswerable = [question for question in FUNCTIONAL if not question.answerable]
    assert len(unanswerable) >= 16
    assert min(Counter(question.topic for question in unanswerable).values()) >= 2
    assert min(Counter(question.language for question in unanswerable).values()) >= 8


def test_the_fitting_questions_are_many_and_of_every_kind() -> None:
    assert len(FITTING) > 2_800
    assert len({question.id for question in FITTING}) == len({question.text for question in FITTING})
    kinds = Counter((question.language, question.answerable) for question in FITTING)
    assert len(kinds) == 4
    assert max(kinds.values()) < 1.1 * min(kinds.values())
    assert sum(question.cross_language for question in FITTING) > 500
    assert {name for question in FITTING for name in documents_of(question)} == set(DOCUMENTS)


def test_each_quote_of_a_fitting_question_stands_in_its_built_document(built: Path) -> None:
    """Not once alone: the judge is shown every statement that holds it."""
    texts = {name: words_of(built / entry["file"]) for name, entry in DOCUMENTS.items()}
    quotes = {quote for question in FITTING for alternative in question.evidence for quote in alternative}
    assert [quote for quote in quotes if quote.text not in texts[quote.document]] == []


@pytest.mark.parametrize("judging", [FUNCTIONAL, CALIBRATION], ids=["functional", "calibration"])
def test_no_fitting_question_repeats_one_that_judges(judging: list[Question]) -> None:
    """Neither the same words in another order nor nearly the same ones."""
    seen = [(words(one), one.id) for one in judging]
    for other in FITTING:
        read = words(other)
        for wanted, name in seen:
            assert len(wanted & read) < 0.6 * len(wanted | read), (other.id, name)


@BOTH
def test_both_languages_have_their_half(questions: list[Question]) -> None:
    counts = Counter(question.language for question in questions)
    assert set(counts) == {"en", "ru"}
    assert max(counts.values()) - min(counts.values()) <= 3


@BOTH
def test_at_least_12_are_answered_only_in_the_other_language(questions: list[Question]) -> None:
    other = {
        question.id
        for question in questions
        if question.answerable
        and question.language not in {DOCUMENTS[name]["language"] for name in documents_of(question)}
    }
    assert {question.id for question in questions if question.cross_language} == other
    assert len(other) >= 12


def test_every_document_answers_a_question_of_its_topic() -> None:
    used: set[str] = set()
    for question in FUNCTIONAL + CALIBRATION:
        used |= documents_of(question)
        assert {DOCUMENTS[name]["topic"] for name in documents_of(question)} <= {question.topic}, question.id
    assert used == set(DOCUMENTS)


@BOTH
def test_each_quote_stands_once_in_its_built_document(questions: list[Question], built: Path) -> None:
    texts = {name: words_of(built / entry["file"]) for name, entry in DOCUMENTS.items()}
    quotes = {quote for question in questions for alternative in question.evidence for quote in alternative}
    assert {quote: n for quote in quotes if (n := texts[quote.document].count(quote.text)) != 1} == {}


@BOTH
def test_each_quote_names_a_heading_of_its_document(questions: list[Question]) -> None:
    headings = {
        name: headings_of(Entry(entry["file"], entry["language"]).source) for name, entry in DOCUMENTS.items()
    }
    for quote in {quote for question in questions for part in question.evidence for quote in part}:
        assert quote.section in headings[quote.document], quote


@BOTH
def test_a_quote_from_a_pdf_has_no_dash(questions: list[Question]) -> None:
    """PDF readers write the dashes of a text as hyphens."""
    for quote in {quote for question in questions for part in question.evidence for quote in part}:
        if DOCUMENTS[quote.document]["file"].endswith(".pdf"):
            assert not re.search("[–—]", quote.text), quote


@BOTH
def test_an_answer_is_given_exactly_where_there_is_one(questions: list[Question]) -> None:
    assert [
        question.id for question in questions if bool(question.reference_answer) != question.answerable
    ] == []


@BOTH
def test_no_question_copies_its_evidence(questions: list[Question]) -> None:
    for question in questions:
        for alternative in question.evidence:
            assert all(quote.text not in question.text for quote in alternative if len(quote.text) > 20), (
                question.id
            )


def test_no_calibration_question_repeats_a_functional_one() -> None:
    """Neither the same words in another order nor nearly the same ones."""
    for one, other in product(FUNCTIONAL, CALIBRATION):
        common = len(words(one) & words(other)) / len(words(one) | words(other))
        assert common < 0.6, (one.id, other.id)


@pytest.mark.parametrize("name", ["questions", "calibration"])
def test_the_list_of_documents_is_that_of_the_evidence(name: str) -> None:
    for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        quoted = {quote["document"] for alternative in row["evidence"] for quote in alternative}
        assert row["documents"] == sorted(quoted), row["id"]
