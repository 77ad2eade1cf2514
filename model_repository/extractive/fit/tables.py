"""Questions and the statements offered to them as flat arrays, which any numpy and PyTorch can read."""

from pathlib import Path

import numpy as np
from e5_encoder import Floats, Ints
from evidence import Page
from prompt import Source
from question import Question


class Tables:
    """Filled question by question: `ask`, then `offer` once per statement.

    The file holds, flat and in order: of each question its id, whether anything answers it, its token states
    and weights; of each statement its question, page, row, whether it answers, and its tokens as places among
    the page's states; of each page its token states. `*_ends` say where each one's part ends.
    """

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._answerable: list[bool] = []
        self._questions: list[Floats] = []
        self._weights: list[Floats] = []
        self._pages: dict[Source, int] = {}
        self._states: list[Floats] = []
        self._statements: list[tuple[int, int, bool]] = []
        self._rows: list[Floats] = []
        self._tokens: list[Ints] = []
        self._places: list[Ints] = []

    def ask(self, name: str, answerable: bool, asked: Question) -> None:
        self._ids.append(name)
        self._answerable.append(answerable)
        self._questions.append(asked.states.astype(np.float16))
        self._weights.append(asked.token_weights)

    def offer(self, page: Page, row: Floats, tokens: Ints, places: Ints, *, answers: bool) -> None:
        source = page.source._replace(number=0)
        if source not in self._pages:
            self._pages[source] = len(self._states)
            self._states.append(page.states.astype(np.float16))
        self._statements.append((len(self._ids) - 1, self._pages[source], answers))
        self._rows.append(row)
        self._tokens.append(tokens)
        self._places.append(places)

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        questions, pages, answers = (np.array(part) for part in zip(*self._statements, strict=True))
        np.savez(
            file,
            ids=np.array(self._ids),
            answerable=np.array(self._answerable),
            question_states=np.concatenate(self._questions),
            question_weights=np.concatenate(self._weights).astype(np.float32),
            question_ends=ends(self._questions),
            page_states=np.concatenate(self._states),
            page_ends=ends(self._states),
            statement_question=questions,
            statement_page=pages,
            statement_answers=answers.astype(bool),
            rows=np.stack(self._rows),
            tokens=np.concatenate(self._tokens).astype(np.int32),
            places=np.concatenate(self._places).astype(np.int8),
            token_ends=ends(self._tokens),
        )


def ends(parts: list[Floats] | list[Ints]) -> Ints:
    return np.cumsum([len(part) for part in parts])
