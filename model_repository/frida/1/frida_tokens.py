"""FRIDA's text side: its prefixes, its tokenizer, and the special tokens that frame every row.

The vector is read at position 0, so a special token must stand there, and the same one for every text. Which
one it is stands in the tokenizer's post-processor; a tokenizer that puts none there is refused.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from token_windows import Ints, visible
from tokenizers import Tokenizer
from weights_manifest import Refused

# The blank at the end belongs to them: without it the first word has another token.
PREFIXES = {"query": "search_query: ", "document": "search_document: "}
PROBES = ("a", "Доза 5 мЗв", "🩻 (1)")


class WrongTokenizer(Refused):
    """The tokenizer is absent or does not frame rows as CLS pooling needs."""


class Frame(NamedTuple):
    """The special tokens before and after a row's own."""

    head: list[int]
    tail: list[int]


class Tokens(NamedTuple):
    """prefix: ids of the prefix. ids: the text's own. offsets: [tokens, 2] half-open code-point ranges of the
    text, blanks trimmed; an empty range is a token of blanks only."""

    prefix: list[int]
    ids: list[int]
    offsets: Ints


class FridaTokenizer:
    def __init__(self, tokenizer: Tokenizer, frame: Frame, pad: int) -> None:
        # The file may carry the settings of somebody's last batch.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # A text that quotes </s> is a text, not the end of a row.
        tokenizer.encode_special_tokens = True
        self.tokenizer = tokenizer
        self.frame = frame
        self.pad = pad

    @classmethod
    def load(cls, file: Path) -> Self:
        """From tokenizer.json; raises WrongTokenizer."""
        try:
            text = file.read_text(encoding="utf-8")
            content, tokenizer = json.loads(text), Tokenizer.from_str(text)
        except FileNotFoundError:
            raise WrongTokenizer(f"{file} is absent") from None
        # The library raises a bare Exception for a file that it cannot read.
        except Exception as error:
            raise WrongTokenizer(f"{file} cannot be read: {type(error).__name__}") from error
        framed = frame(content.get("post_processor"))
        require_frame(tokenizer, framed)
        return cls(tokenizer, framed, pad_id(tokenizer))

    def tokens(self, text: str, prefix: str) -> Tokens:
        """The tokens of `text` as they stand after `prefix`, however many.

        The blank at the prefix's end is part of the text's first token: a token is the text's when it ends
        inside the text.
        """
        encoding = self.tokenizer.encode(prefix + text, add_special_tokens=False)
        offsets = np.array(encoding.offsets, np.int64).reshape(-1, 2) - len(prefix)
        first = int(np.searchsorted(offsets[:, 1], 1))
        return Tokens(encoding.ids[:first], encoding.ids[first:], visible(text, offsets[first:]))

    def row(self, prefix: Sequence[int], ids: Sequence[int]) -> list[int]:
        return [*self.frame.head, *prefix, *ids, *self.frame.tail]

    def room(self, prefix: Sequence[int], window: int) -> int:
        """How many of a text's tokens fit into one window beside the prefix and the special tokens."""
        return window - len(self.row(prefix, ()))


def frame(processor: Mapping[str, object] | None) -> Frame:
    """From a tokenizer.json's post_processor. Raises WrongTokenizer when position 0 would not be special."""
    for one in flat(processor):
        if found := known_frame(one):
            if found.head:
                return found
            break
    raise WrongTokenizer("tokenizer.json puts no special token at position 0: there is nothing to pool")


def flat(processor: Mapping[str, object] | None) -> list[Mapping[str, object]]:
    if processor is None:
        return []
    inner = processor.get("processors")
    if processor.get("type") != "Sequence" or not isinstance(inner, list):
        return [processor]
    return [one for part in inner for one in flat(part)]


def known_frame(processor: Mapping[str, object]) -> Frame | None:
    kind = processor.get("type")
    if kind in ("RobertaProcessing", "BertProcessing"):
        return Frame([processor["cls"][1]], [processor["sep"][1]])  # type: ignore[index]
    return template_frame(processor) if kind == "TemplateProcessing" else None


def template_frame(processor: Mapping[str, object]) -> Frame:
    """`single` lists special tokens and, once, the sequence that they frame."""
    sides: tuple[list[int], list[int]] = ([], [])
    after = False
    for piece in processor["single"]:  # type: ignore[attr-defined]
        if "Sequence" in piece:
            after = True
        else:
            name = piece["SpecialToken"]["id"]
            sides[after].extend(processor["special_tokens"][name]["ids"])  # type: ignore[index]
    return Frame(*sides)


def require_frame(tokenizer: Tokenizer, framed: Frame) -> None:
    """What the file says against what the library does."""
    for text in PROBES:
        bare = tokenizer.encode(text, add_special_tokens=False).ids
        if tokenizer.encode(text).ids != [*framed.head, *bare, *framed.tail]:
            raise WrongTokenizer("the tokenizer does not frame rows as its post_processor says")


def pad_id(tokenizer: Tokenizer) -> int:
    found = tokenizer.token_to_id("<pad>")
    if found is None:
        raise WrongTokenizer("the vocabulary has no <pad>")
    return int(found)
