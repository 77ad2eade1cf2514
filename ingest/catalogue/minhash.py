"""Near-duplicates by MinHash: a text's signature, how alike two are, bands that find candidates. Pure.

Shingles are runs of five words, folded for case. Two texts are as alike as their sets of shingles,
|A∩B| / |A∪B| (Broder 1997); the share of equal values estimates that, with a standard error of at most 0.045.
"""

import re
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

VALUES, BANDS = 128, 32
WORDS = 5
AT_ONCE = 4096  # shingles; their values take 4 MB
NEAR = 0.8
"""From here on two texts count as near-duplicates. Of such pairs the bands miss fewer than 1 in a million."""

WORD = re.compile(r"\w+")
Values = NDArray[np.uint32]

# Multiply-shift hashing (Dietzfelbinger 1997): odd multipliers. Stored signatures depend on the seed.
_random = np.random.default_rng(20261201)
MULTIPLIERS = _random.integers(0, 2**64, VALUES, dtype=np.uint64) | np.uint64(1)
ADDENDS = _random.integers(0, 2**64, VALUES, dtype=np.uint64)


def signature(text: str) -> bytes:
    """128 values of 32 bits; empty for a text without words."""
    hashes = np.array(sorted(_shingles(text)), dtype=np.uint64)
    if not len(hashes):
        return b""
    smallest = np.full(VALUES, 2**32 - 1, dtype=np.uint64)
    for at in range(0, len(hashes), AT_ONCE):
        mixed = (hashes[at : at + AT_ONCE, None] * MULTIPLIERS + ADDENDS) >> np.uint64(32)
        smallest = np.minimum(smallest, mixed.min(axis=0))
    return smallest.astype("<u4").tobytes()


def likeness(one: bytes, other: bytes) -> float:
    """How alike two signatures' texts are, 0 to 1; 0 when one has no words."""
    if not (one and other):
        return 0.0
    return float(np.mean(_values(one) == _values(other)))


def bands(signed: bytes) -> list[int]:
    """32 keys of 64 bits, signed; texts that are 0.8 alike share at least one of them, all but surely."""
    if not signed:
        return []
    width = len(signed) // BANDS
    keys = (
        blake2b(bytes([n]) + signed[n * width : (n + 1) * width], digest_size=8).digest()
        for n in range(BANDS)
    )
    return sorted({int.from_bytes(key, "big", signed=True) for key in keys})


def _shingles(text: str) -> set[int]:
    words = [word.casefold() for word in WORD.findall(text)]
    runs = (" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1)))
    return {int.from_bytes(blake2b(run.encode(), digest_size=8).digest(), "big") for run in runs if run}


def _values(signed: bytes) -> Values:
    return np.frombuffer(signed, dtype="<u4")
