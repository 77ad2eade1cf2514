"""The model servers of the three roles, as the gateway holds them."""

import asyncio
from dataclasses import dataclass

from gateway.openai_generator import OpenAIGenerator
from radrag.triton import ModelServer


@dataclass(frozen=True)
class Servers:
    """The model servers by role; roles with one address still have a connection each.

    Where there is an OpenAI-compatible one it is the generator's.
    """

    embedder: ModelServer
    reranker: ModelServer
    generator: ModelServer
    openai: OpenAIGenerator | None = None

    async def close(self) -> None:
        """Closes them all."""
        await asyncio.gather(self.embedder.close(), self.reranker.close(), self.generator.close())
        if self.openai:
            await self.openai.close()
