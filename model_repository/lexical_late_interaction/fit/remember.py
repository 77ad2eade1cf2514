"""An encoder that never reads the same text twice, also in the next run: what it made is kept in a file."""

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from e5_encoder import Encoder, Floats, Tokens, TokenStates, normalised

_CHUNK = 256


class Remembering(Encoder):
    """Token states by prefix and text, kept in half precision; `open` first, `close` to write them."""

    def open(self, file: Path) -> None:
        self._file = file
        # Written by this program alone, in the folder that it was told to use.
        self._kept: dict[tuple[str, str], TokenStates] = {}
        self._pooled: dict[tuple[str, str], Floats] = {}
        self._new = False
        if file.exists():
            self._kept, self._pooled = pickle.loads(file.read_bytes())  # noqa: S301
        self._cut: dict[tuple[str, str], Tokens] = {}

    def close(self) -> None:
        if not self._new:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(pickle.dumps((self._kept, self._pooled), protocol=5))

    def tokens(self, text: str, prefix: str) -> Tokens:
        """As the encoder's own."""
        if (prefix, text) not in self._cut:
            self._cut[prefix, text] = super().tokens(text, prefix)
        return self._cut[prefix, text]

    def token_states(self, texts: Sequence[str], prefix: str) -> list[TokenStates]:
        """As the encoder's own, to half precision."""
        new = sorted({text for text in texts if (prefix, text) not in self._kept}, key=len)
        for first in range(0, len(new), _CHUNK):
            chunk, self._new = new[first : first + _CHUNK], True
            for text, made in zip(chunk, super().token_states(chunk, prefix), strict=True):
                self._kept[prefix, text] = made._replace(states=made.states.astype(np.float16))
        return [self._kept[prefix, text] for text in texts]

    def vectors(self, texts: Sequence[str], prefix: str) -> Floats:
        """One unit vector per text, [texts, dimension], pooled as the encoder does."""
        new = sorted({text for text in texts if (prefix, text) not in self._pooled}, key=len)
        for first in range(0, len(new), _CHUNK):
            chunk = new[first : first + _CHUNK]
            self._pooled.update(
                zip(((prefix, text) for text in chunk), self._pool(chunk, prefix), strict=True)
            )
        return np.stack([self._pooled[prefix, text] for text in texts])

    def _pool(self, texts: Sequence[str], prefix: str) -> Floats:
        # Where the token states are at hand their mean is within 0.002 of the encoder's own pooling, and
        # free.
        if all((prefix, text) in self._kept for text in texts):
            states = [self._kept[prefix, text].states.astype(np.float32) for text in texts]
            return normalised(np.stack([state.mean(axis=0) for state in states]))
        self._new = True
        return super().embed(texts, prefix).vectors
