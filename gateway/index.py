"""Which index generation is current and which embedder made it: asked once, renewed in the background."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from radrag.errors import RadragError
from radrag.retrieval.v1 import retrieval_pb2 as wire


@dataclass(frozen=True)
class Index:
    """The current generation, its revision, and its embedder; empty while nothing was published."""

    generation: str = ""
    revision: int = 0
    embedder: str = ""
    dimension: int = 0


class CurrentIndex:
    """Remembers the answer of `describe`; `renew` asks again."""

    def __init__(self, describe: Callable[[], Awaitable[wire.DescribeResponse]]) -> None:
        self._describe = describe
        self._known: Index | None = None

    async def get(self) -> Index:
        """The index as last seen. Raises IndexUnavailable when it was never seen and does not answer."""
        return self._known or await self.renew()

    async def seen(self) -> Index:
        """The index now, else as last seen, else an empty one: for information, not for searching."""
        try:
            return await self.renew()
        except RadragError:
            return self._known or Index()

    async def renew(self) -> Index:
        """Asks the retrieval service. An index without a generation is asked again next time."""
        reply = await self._describe()
        made_by = reply.fingerprint.embedder
        index = Index(reply.generation, reply.revision, made_by.name, made_by.dimension)
        self._known = index if index.generation else None
        return index
