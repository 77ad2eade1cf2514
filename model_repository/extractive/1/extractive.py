"""A generator without a language model: it quotes what answers, or says that nothing does. Knows nothing of
Triton."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

import prompt
from answer import answer, insufficient
from evidence import BUDGET, Candidate, Evidence, candidates, evidence
from judge import Judge
from prompt import Prompt
from quantities import wanted
from question import Question
from reader import Reader
from words import is_cyrillic

LONGEST_QUESTION = 2_000
# The statements that are judged: those whose tokens come nearest to the question's.
MOST_JUDGED = 24
# How often it is looked whether anybody still waits: a statement takes about a millisecond.
STATEMENTS_A_LOOK = 8


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class Extractive:
    """For one thread at a time."""

    def __init__(self, reader: Reader, judge: Judge) -> None:
        self._reader = reader
        self._judge = judge

    @classmethod
    def load(
        cls, folder: Path, reranker_folder: Path, encoder_folder: Path, threads: int = 1, megabytes: int = 0
    ) -> Self:
        """From alignment.npz and judge.json in `folder`, the reranker's centres.json and a converted
        encoder's folder.

        megabytes: of the token states of recent passages that are kept.
        """
        return cls(Reader.load(reranker_folder, encoder_folder, threads, megabytes), Judge.load(folder))

    def answer(self, text: str, cancelled: Callable[[], bool] = lambda: False) -> str:
        """The whole answer to a prompt. Raises Cancelled, looked at before each source and every few
        statements."""
        asked = prompt.read(text)
        russian = asked.language == "ru" or (not asked.language and is_cyrillic(asked.question))
        (question,) = self._reader.questions([asked.question[:LONGEST_QUESTION]])
        if question is None:
            return insufficient(russian)
        chosen = self._judge.chosen(question, self.evidence(asked, question, cancelled))
        return answer(chosen, russian) if chosen else insufficient(russian)

    def evidence(self, asked: Prompt, question: Question, cancelled: Callable[[], bool]) -> list[Evidence]:
        """The statements of all sources that come nearest to the question, with what each offers."""
        near = sorted(self.candidates(asked, question, cancelled), key=lambda one: -one.nearness)
        kind, cyrillic = wanted(asked.question), is_cyrillic(asked.question)
        found: list[Evidence] = []
        for one in evidence(question, kind, near[:MOST_JUDGED], cyrillic=cyrillic):
            found.append(one)
            if len(found) % STATEMENTS_A_LOOK == 0 and cancelled():
                raise Cancelled
        return found

    def candidates(self, asked: Prompt, question: Question, cancelled: Callable[[], bool]) -> list[Candidate]:
        """All statements that were read of all sources."""
        sources = [source for source in asked.sources if source.text.strip()]
        found: list[Candidate] = []
        for source in sources:
            if cancelled():
                raise Cancelled
            found += candidates(question, source, self._reader, BUDGET // len(sources))
        return found

    def count(self, text: str) -> int:
        """Tokens of a text by the encoder's tokenizer."""
        return len(self._reader.tokens(text).ids)
