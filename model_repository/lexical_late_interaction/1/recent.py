"""Token states of the windows read last, so that passages asked about again are not encoded again.

A window is known by the hash of its text: no text is kept.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b

from e5_encoder import Floats


class Recent:
    """For one thread at a time. megabytes: of states kept, 0 keeps none; the longest unused go first."""

    def __init__(self, megabytes: int = 0) -> None:
        if megabytes < 0:
            raise ValueError(f"recent_megabytes is {megabytes}: it must be 0 or more")
        self._limit, self._held = megabytes * 1_000_000, 0
        self._states: OrderedDict[bytes, Floats] = OrderedDict()

    def states(
        self, texts: Sequence[str], read: Callable[[Sequence[str]], list[Floats]]
    ) -> dict[str, Floats]:
        """The states of each text, kept or read. All that are not kept are read in one call."""
        keys = {text: blake2b(text.encode(), digest_size=16).digest() for text in texts}
        missing = [text for text, key in keys.items() if key not in self._states]
        new = dict(zip(missing, read(missing), strict=True))
        found = {text: new[text] if text in new else self._used(key) for text, key in keys.items()}
        for text, states in new.items():
            self._keep(keys[text], states)
        return found

    def _used(self, key: bytes) -> Floats:
        self._states.move_to_end(key)
        return self._states[key]

    def _keep(self, key: bytes, states: Floats) -> None:
        self._states[key] = states
        self._held += states.nbytes
        while self._held > self._limit:
            self._held -= self._states.popitem(last=False)[1].nbytes
