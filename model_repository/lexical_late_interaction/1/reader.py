"""Reads questions and passages with the encoder: token states centred by language, words weighted by
rarity."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from e5_encoder import Encoder, Floats, Tokens, TokenStates
from question import Question, centred, question
from rarity import Rarity
from recent import Recent
from words import is_cyrillic

QUESTION_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "


class Centres(NamedTuple):
    """The mean token state of questions and of passages, by whether the text is Cyrillic."""

    questions: dict[bool, Floats]
    passages: dict[bool, Floats]

    @classmethod
    def parsed(cls, stored: Mapping[str, Mapping[str, Sequence[float]]]) -> Self:
        """From {"questions": {"latin": [dimension], "cyrillic": [dimension]}, "passages": {…}}."""
        questions, passages = (
            {script == "cyrillic": np.array(mean, np.float32) for script, mean in stored[side].items()}
            for side in cls._fields
        )
        return cls(questions, passages)


class Reader:
    """For one thread at a time. megabytes: of recent passages' token states that are kept."""

    def __init__(self, encoder: Encoder, rarity: Rarity, centres: Centres, megabytes: int = 0) -> None:
        self._encoder = encoder
        self._rarity = rarity
        self._centres = centres
        self._recent = Recent[TokenStates](lambda read: read.states.nbytes + read.offsets.nbytes, megabytes)

    @classmethod
    def load(cls, folder: Path, encoder_folder: Path, threads: int = 1, megabytes: int = 0) -> Self:
        """From `folder`/centres.json and a converted encoder's folder; FileNotFoundError names what is
        absent."""
        rarity = Rarity.load(encoder_folder / "tokenizer.json")
        centres = Centres.parsed(json.loads((folder / "centres.json").read_text(encoding="utf-8")))
        return cls(Encoder.load(encoder_folder, threads), rarity, centres, megabytes)

    def tokens(self, passage: str) -> Tokens:
        """A passage's tokens, uncut."""
        return self._encoder.tokens(passage, PASSAGE_PREFIX)

    def questions(self, texts: Sequence[str]) -> list[Question | None]:
        """Each question read; None for one in which there is nothing to read."""
        encoded = self._encoder.token_states(texts, QUESTION_PREFIX)
        return [
            question(text, states, self._centres.questions[is_cyrillic(text)], self._rarity)
            for text, states in zip(texts, encoded, strict=True)
        ]

    def passages(self, texts: Sequence[str]) -> list[TokenStates]:
        """The tokens of each text with their centred unit states, not to be changed. Each text is read once,
        those read lately not again."""
        read = self._recent.of(texts, self._read)
        return [read[text] for text in texts]

    def _read(self, texts: Sequence[str]) -> list[TokenStates]:
        """In one call: texts of one length are grouped."""
        encoded = self._encoder.token_states(texts, PASSAGE_PREFIX)
        return [
            read._replace(states=centred(read.states, self._centres.passages[is_cyrillic(text)]))
            for text, read in zip(texts, encoded, strict=True)
        ]
