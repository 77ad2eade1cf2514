"""A generator without a language model: it quotes what answers, or says that nothing does. Knows nothing of
Triton."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

import prompt
from answer import answer, insufficient
from evidence import BUDGET, Evidence, evidence
from judge import Judge
from prompt import Prompt
from quantities import wanted
from reader import Reader
from words import is_cyrillic

LONGEST_QUESTION = 2_000
# How often it is looked whether anybody still waits: a statement takes about a millisecond.
STATEMENTS_A_LOOK = 16


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class Extractive:
    """For one thread at a time."""

    def __init__(self, reader: Reader, judge: Judge) -> None:
        self._reader = reader
        self._judge = judge

    @classmethod
    def load(cls, folder: Path, reranker_folder: Path, encoder_folder: Path, threads: int = 1) -> Self:
        """From weights.json in `folder`, the reranker's centres.json and a converted encoder's folder."""
        return cls(Reader.load(reranker_folder, encoder_folder, threads), Judge.load(folder / "weights.json"))

    def answer(self, text: str, cancelled: Callable[[], bool] = lambda: False) -> str:
        """The whole answer to a prompt. Raises Cancelled, looked at before each source and every few
        statements."""
        asked = prompt.read(text)
        russian = asked.language == "ru" or (not asked.language and is_cyrillic(asked.question))
        chosen = self._judge.chosen(self.evidence(asked, cancelled))
        return answer(chosen, russian) if chosen else insufficient(russian)

    def evidence(self, asked: Prompt, cancelled: Callable[[], bool]) -> list[Evidence]:
        """All statements of all sources with what each offers."""
        question = asked.question[:LONGEST_QUESTION]
        (read,) = self._reader.questions([question])
        sources = [source for source in asked.sources if source.text.strip()]
        if read is None or not sources:
            return []
        kind, cyrillic, budget = wanted(question), is_cyrillic(question), BUDGET // len(sources)
        found: list[Evidence] = []
        for source in sources:
            if cancelled():
                raise Cancelled
            for one in evidence(read, kind, source, self._reader, budget, cyrillic=cyrillic):
                found.append(one)
                if len(found) % STATEMENTS_A_LOOK == 0 and cancelled():
                    raise Cancelled
        return found

    def count(self, text: str) -> int:
        """Tokens of a text by the encoder's tokenizer."""
        return len(self._reader.tokens(text).ids)
