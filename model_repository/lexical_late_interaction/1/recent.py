"""What was read of the texts read last, so that passages asked about again are not encoded again.

A text is known by its hash: none is kept.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """For one thread at a time. megabytes: kept, 0 keeps nothing; the longest unused go first. size: of one
    reading, in bytes."""

    def __init__(self, size: Callable[[T], int], megabytes: int = 0) -> None:
        if megabytes < 0:
            raise ValueError(f"recent_megabytes is {megabytes}: it must be 0 or more")
        self._size, self._limit, self._held = size, megabytes * 1_000_000, 0
        self._kept: OrderedDict[bytes, T] = OrderedDict()

    def of(self, texts: Sequence[str], read: Callable[[Sequence[str]], list[T]]) -> dict[str, T]:
        """The reading of each text, kept or new. All that are not kept are read in one call."""
        keys = {text: blake2b(text.encode(), digest_size=16).digest() for text in texts}
        missing = [text for text, key in keys.items() if key not in self._kept]
        new = dict(zip(missing, read(missing), strict=True))
        found = {text: new[text] if text in new else self._used(key) for text, key in keys.items()}
        for text, reading in new.items():
            self._keep(keys[text], reading)
        return found

    def _used(self, key: bytes) -> T:
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: bytes, reading: T) -> None:
        self._kept[key] = reading
        self._held += self._size(reading)
        while self._held > self._limit:
            self._held -= self._size(self._kept.popitem(last=False)[1])
