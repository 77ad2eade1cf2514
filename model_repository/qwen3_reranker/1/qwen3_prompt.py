"""Qwen3-Reranker's input, token by token: the one template it was trained with, and what may be cut of it.

Without this text its scores are noise, and another number of line breaks gives other scores: nothing here is
a setting but the instruction. A document that is too long loses its end; the suffix, from which the model
answers, and the question never lose anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tokenizers import Tokenizer
from weights_manifest import Refused

PREFIX = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the"
    ' Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
QUESTION = "<Instruct>: {instruction}\n<Query>: {query}\n<Document>:"
DOCUMENT = " {document}"
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"

# Tokens of one row, template included: what the authors' example allows.
CONTEXT = 8192
# Tokens of the document that must fit beside the question, else the pair is refused.
LEAST_DOCUMENT = 64
MAXIMUM_CHARACTERS = 262_144


class WrongTokenizer(Refused):
    """The tokenizer is absent, or not Qwen's."""


class InvalidPair(ValueError):
    """A pair that cannot be scored. The message names the tensor and the limit, never the text."""


@dataclass(frozen=True)
class Row:
    """shared: how many of the first ids depend on the question alone. truncated: the document was cut."""

    ids: list[int]
    shared: int
    truncated: bool


class Prompts:
    """Makes rows. Raises WrongTokenizer where `yes` and `no` are not one token each."""

    def __init__(self, tokenizer: Tokenizer, instruction: str = INSTRUCTION, context: int = CONTEXT) -> None:
        # The file may carry the settings of somebody's last batch.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self.instruction = instruction
        self.prefix, self.suffix = template(tokenizer, PREFIX), template(tokenizer, SUFFIX)
        self.yes, self.no = single(tokenizer, "yes"), single(tokenizer, "no")
        self.pad = single(tokenizer, "<|endoftext|>")
        self.room = context - len(self.prefix) - len(self.suffix)
        # From here on a text that quotes <|im_end|> is a text, not the end of the user's turn.
        tokenizer.encode_special_tokens = True

    @classmethod
    def load(cls, file: Path, instruction: str = INSTRUCTION, context: int = CONTEXT) -> Self:
        """From tokenizer.json; raises WrongTokenizer."""
        try:
            return cls(Tokenizer.from_str(file.read_text(encoding="utf-8")), instruction, context)
        except FileNotFoundError:
            raise WrongTokenizer(f"{file} is absent") from None
        except WrongTokenizer:
            raise
        # The library raises a bare Exception for a file that it cannot read.
        except Exception as error:
            raise WrongTokenizer(f"{file} cannot be read: {type(error).__name__}") from error

    def row(self, query: str, document: str) -> Row:
        """Raises InvalidPair."""
        for name, text in (("QUERY", query), ("PASSAGE", document)):
            if not text.strip():
                raise InvalidPair(f"{name} is empty")
            if len(text) > MAXIMUM_CHARACTERS:
                raise InvalidPair(f"{name} is longer than {MAXIMUM_CHARACTERS} characters")
        question = QUESTION.format(instruction=self.instruction, query=query)
        encoding = self.tokenizer.encode(
            question + DOCUMENT.format(document=document), add_special_tokens=False
        )
        shared = sum(end <= len(question) for _, end in encoding.offsets)
        if shared + LEAST_DOCUMENT > self.room:
            raise InvalidPair("QUERY leaves no room for a document")
        ids = [*self.prefix, *encoding.ids[: self.room], *self.suffix]
        return Row(ids, len(self.prefix) + shared, len(encoding.ids) > self.room)


def template(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def single(tokenizer: Tokenizer, text: str) -> int:
    """The one token that spells `text`."""
    ids: Sequence[int] = tokenizer.encode(text, add_special_tokens=False).ids
    if len(ids) != 1:
        raise WrongTokenizer(f"{text!r} is {len(ids)} tokens in this vocabulary, not one")
    return ids[0]
