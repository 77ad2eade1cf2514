"""multilingual-e5-small on onnxruntime: texts in, a vector per token or per text out.

Knows nothing of Triton, tasks or spans. A vector never depends on which other texts were in the call:
the 4-bit MatMulNBits weights quantise activations in blocks of 32 within one token, padded positions are
masked, and rows are grouped by length only to save time.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

# Tokens that two neighbouring windows share: no token that is kept lies nearer than half of it to a cut.
OVERLAP = 128
# Padded tokens in one forward pass, and how much longer than its shortest row a pass may be: batching does
# not make a token cheaper on a CPU, padding makes it dearer. Passes of 2,048 were a little dearer, perhaps
# for activations beyond the caches: 512 took 0.95 of their CPU (four pairs, 0.88 to 1.06).
PASS_TOKENS = 512
PASS_STRETCH = 1.1


class Tokens(NamedTuple):
    """The content tokens of one text, without prefix and special tokens.

    ids: one per token. offsets: [tokens, 2] half-open code-point ranges of the text, blanks trimmed;
    an empty range is a token of blanks only.
    """

    ids: list[int]
    offsets: Ints


class TokenStates(NamedTuple):
    """The encoder's last hidden state of each content token: [tokens, dimension], not normalised."""

    states: Floats
    offsets: Ints
    ids: list[int]


class Embedded(NamedTuple):
    """One unit vector per text [texts, dimension], its content tokens, and whether the window cut it."""

    vectors: Floats
    tokens: list[int]
    truncated: list[bool]


class Encoder:
    """An encoder for one thread at a time; `Encoder.load` reads it from a converted model's folder."""

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer, window: int) -> None:
        self.session = session
        self.tokenizer = tokenizer
        self.window = window
        self.bos, self.eos, self.pad = (piece_id(tokenizer, piece) for piece in ("<s>", "</s>", "<pad>"))

    @classmethod
    def load(cls, folder: Path, threads: int = 1) -> Self:
        """From model.onnx, tokenizer.json and limits.json in `folder`; FileNotFoundError names the absent."""
        limits = json.loads((folder / "limits.json").read_text(encoding="utf-8"))
        tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
        return cls(session(folder / "model.onnx", threads), tokenizer, int(limits["window"]))

    @property
    def dimension(self) -> int:
        return int(self.session.get_outputs()[0].shape[-1])

    def room(self, prefix: str) -> int:
        """How many content tokens fit into one window beside `prefix` and the two special tokens."""
        return self.window - 2 - len(self._prefix_ids(prefix))

    def tokens(self, text: str, prefix: str) -> Tokens:
        """The tokens of `text` as they stand after `prefix`, however many."""
        encoding = self.tokenizer.encode(prefix + text, add_special_tokens=False)
        first = len(self._prefix_ids(prefix))
        offsets = np.array(encoding.offsets[first:], np.int64).reshape(-1, 2) - len(prefix)
        return Tokens(encoding.ids[first:], trimmed(text, offsets))

    def token_states(self, texts: Sequence[str], prefix: str) -> list[TokenStates]:
        """The states of every token of every text.

        A text longer than the window goes through in windows of equal length that overlap; each holds the
        prefix, and each token's state is taken from the window in which it lies furthest from a cut.
        """
        tokens = [self.tokens(text, prefix) for text in texts]
        plans = [windows(len(ids), self.room(prefix)) for ids, _ in tokens]
        rows = [
            self._row(prefix, ids[a:b]) for (ids, _), plan in zip(tokens, plans, strict=True) for a, b in plan
        ]
        states = iter(self._run(rows))
        skip = 1 + len(self._prefix_ids(prefix))
        return [
            TokenStates(stitched(plan, [next(states)[skip:-1] for _ in plan]), offsets, ids)
            for (ids, offsets), plan in zip(tokens, plans, strict=True)
        ]

    def embed(self, texts: Sequence[str], prefix: str) -> Embedded:
        """Each text in one window: the normalised mean over all its tokens, prefix and specials included
        (the pooling the model was trained with). What does not fit is cut, and said so."""
        ids = [self.tokens(text, prefix).ids for text in texts]
        room = self.room(prefix)
        states = self._run([self._row(prefix, row[:room]) for row in ids])
        means = np.array([state.mean(axis=0) for state in states], np.float32).reshape(-1, self.dimension)
        return Embedded(normalised(means), [len(row) for row in ids], [len(row) > room for row in ids])

    def _prefix_ids(self, prefix: str) -> list[int]:
        # The blank at a prefix's end belongs to the first word after it, as its metaspace.
        return list(self.tokenizer.encode(prefix.rstrip(" "), add_special_tokens=False).ids)

    def _row(self, prefix: str, ids: Sequence[int]) -> list[int]:
        return [self.bos, *self._prefix_ids(prefix), *ids, self.eos]

    def _run(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        """The last hidden state of each row, in the rows' order, whatever their lengths."""
        states: dict[int, Floats] = {}
        for group in passes([len(row) for row in rows]):
            states.update(zip(group, self._forward([rows[index] for index in group]), strict=True))
        return [states[index] for index in range(len(rows))]

    def _forward(self, rows: Sequence[Sequence[int]]) -> Iterator[Floats]:
        ids = np.full((len(rows), max(map(len, rows))), self.pad, np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        (states,) = self.session.run(None, {"input_ids": ids, "attention_mask": mask})
        return (state[: len(row)] for state, row in zip(states, rows, strict=True))


def session(path: Path, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    # Waiting threads that spin would steal the cores of the other instances.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def piece_id(tokenizer: Tokenizer, piece: str) -> int:
    found = tokenizer.token_to_id(piece)
    if found is None:
        raise ValueError(f"the vocabulary has no {piece}")
    return int(found)


def trimmed(text: str, offsets: Ints) -> Ints:
    """A word's token begins with the blank before it: give each token the range of its visible part."""
    ranges = np.clip(offsets, 0, len(text))
    for index, (start, end) in enumerate(ranges):
        piece = text[start:end]
        ranges[index] = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    return np.maximum(ranges, ranges[:, :1])


def windows(count: int, room: int, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Half-open windows over `count` tokens: as few as the overlap allows, all of one length, so unpadded."""
    if count <= room:
        return [(0, count)]
    number = -(-(count - overlap) // (room - overlap))
    length = -(-(count + (number - 1) * overlap) // number)
    starts = np.linspace(0, count - length, number).round().astype(int)
    return [(int(start), int(start) + length) for start in starts]


def stitched(plan: Sequence[tuple[int, int]], parts: Sequence[Floats]) -> Floats:
    """One state per token from overlapping windows, cut in the middle of each overlap."""
    middles = [(left[1] + right[0]) // 2 for left, right in itertools.pairwise(plan)]
    bounds = [0, *middles, plan[-1][1]]
    kept = [
        part[low - start : high - start]
        for part, (start, _), low, high in zip(parts, plan, bounds, bounds[1:], strict=False)
    ]
    return np.concatenate(kept)


def passes(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Groups row indices, sorted by length, so that no group pads or holds more than the limits above."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        longest = lengths[index]
        if group and (longest > lengths[group[0]] * PASS_STRETCH or longest * (len(group) + 1) > PASS_TOKENS):
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def normalised(vectors: Floats) -> Floats:
    """Unit length along the last axis."""
    unit: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit
