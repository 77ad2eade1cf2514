"""What `tables.py` wrote, as tensors: questions, and the statements offered to each."""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn


class Asked(NamedTuple):
    """A question and its statements, nearest first. answers: which of them answer it. states, places: of each
    statement's tokens, [tokens, dimension] and [tokens]; rows: [statements, features]."""

    id: str
    answerable: bool
    answers: list[bool]
    question: Tensor
    weights: Tensor
    pages: list[Tensor]
    tokens: list[Tensor]
    places: list[Tensor]
    rows: Tensor

    @property
    def lost(self) -> bool:
        """Whether there is an answer that none of the statements holds: nothing to learn from."""
        return self.answerable and not any(self.answers)

    def batch(self, shown: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """What the network reads of these statements, padded; places are -1 beyond a statement's end."""
        states = [self.pages[one][self.tokens[one]].float() for one in shown]
        places = [self.places[one] for one in shown]
        return (
            self.question,
            self.weights,
            nn.utils.rnn.pad_sequence(states, batch_first=True),
            nn.utils.rnn.pad_sequence(places, batch_first=True, padding_value=-1),
            self.rows[shown],
        )


class Tables:
    """All questions of a file."""

    def __init__(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
        self.rows = found["rows"].astype(np.float32)
        pages = [torch.from_numpy(part) for part in parts(found["page_states"], found["page_ends"])]
        asked = [
            torch.from_numpy(part).float() for part in parts(found["question_states"], found["question_ends"])
        ]
        weights = [
            torch.from_numpy(part) for part in parts(found["question_weights"], found["question_ends"])
        ]
        tokens = [torch.from_numpy(part).long() for part in parts(found["tokens"], found["token_ends"])]
        places = [torch.from_numpy(part).long() for part in parts(found["places"], found["token_ends"])]
        bounds = np.searchsorted(found["statement_question"], np.arange(len(found["ids"]) + 1))
        self.questions = [
            Asked(
                str(found["ids"][number]),
                bool(found["answerable"][number]),
                found["statement_answers"][first:last].tolist(),
                asked[number],
                weights[number],
                [pages[page] for page in found["statement_page"][first:last]],
                tokens[first:last],
                places[first:last],
                torch.from_numpy(self.rows[first:last]),
            )
            for number, (first, last) in enumerate(pairwise(bounds))
            if last > first
        ]
        self.dimension = int(found["page_states"].shape[1])


def parts(whole: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
    return np.split(whole, ends[:-1])
