"""Counts tokens as the serving embedder does: one pass over a document, then any range by looking up."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from radrag.errors import FailedPrecondition


@dataclass(frozen=True)
class Ruler:
    """A text's tokens by where they end, in code points, ascending."""

    ends: NDArray[np.int64]

    def upto(self, position: int) -> int:
        """Tokens that end at or before `position`."""
        return int(np.searchsorted(self.ends, position, side="right"))

    def count(self, start: int, end: int) -> int:
        """Tokens of [start, end). Exact where both lie beside white space: there no token reaches across."""
        return self.upto(end) - self.upto(start)


@dataclass(frozen=True)
class TokenCounter:
    """The embedder's tokenizer. `room` is how many tokens a document's text may have in one window."""

    tokenizer: Tokenizer
    sha256: str
    room: int

    def ruler(self, text: str) -> Ruler:
        """Measures a text. Takes time in proportion to its length."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        ends = np.fromiter((end for _, end in encoding.offsets), dtype=np.int64, count=len(encoding.offsets))
        return Ruler(np.maximum.accumulate(ends) if len(ends) else ends)

    def count(self, text: str) -> int:
        """The tokens of a text on its own, without prefix and specials."""
        # Of a batch the tokenizer can leave out where the tokens stand, which is four tenths of its work.
        (encoding,) = self.tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return len(encoding.ids)


def token_counter(path: Path) -> TokenCounter:
    """Reads tokenizer.json and limits.json beside it. Raises FailedPrecondition when it cannot."""
    try:
        data = path.read_bytes()
        room = int(json.loads((path.parent / "limits.json").read_text())["content_tokens"]["document"])
        tokenizer = Tokenizer.from_str(data.decode())
    except (OSError, KeyError, ValueError) as error:
        message = f"the embedder's tokenizer {path} and limits.json beside it cannot be read"
        raise FailedPrecondition(message, "TOKENIZER_MISSING") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return TokenCounter(tokenizer, hashlib.sha256(data).hexdigest(), room)
