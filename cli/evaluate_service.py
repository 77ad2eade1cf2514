"""A running service as an evaluation asks it: its public answers, and the candidates behind them.

Candidates are found by the gateway's own clients of the embedder and the index, so that they are the ones
the reranker sees.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cli import connection
from gateway import retrieval
from gateway.index import CurrentIndex
from gateway.models import Embedder, Weights
from gateway.passage import Passage
from gateway.questions import Limits, Rules
from gateway.retrieval import Retrieval
from radrag.access import channels
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.settings import Settings
from radrag.triton import ModelServer

SECONDS = 600.0  # an evaluation would rather wait than lose a question


@dataclass(frozen=True)
class Running:
    """Connections to one running service."""

    client: AsyncClient
    index: Retrieval
    embedder: Embedder
    rules: Rules

    async def generate(self, question: str) -> pb.GenerateResponse:
        """The service's answer."""
        return await self.client.generate(question)

    async def candidates(self, question: str) -> tuple[Passage, ...]:
        """The parents that are reranked for a question, in the search's own order."""
        asked = self.rules.read(pb.SearchRequest(question=question))
        found = await self.index.search(asked, await self.embedder.embed(question))
        return found.passages

    async def candidate_documents(self, question: str) -> list[str]:
        """The documents of the candidates."""
        return [passage.document.document_id for passage in await self.candidates(question)]


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Connected to the service that the settings name."""
    server, channel = (
        ModelServer(settings.embedder_url, "embedder"),
        retrieval.channel(settings.retrieval_address, channels.channel_files(settings)),
    )
    index = Retrieval(channel, settings.children, SECONDS)
    current = CurrentIndex(index.describe)
    embedder = Embedder(server, Weights(server), current.get, settings.embedder_model, settings.query_cache)
    limits = Limits(settings.children_per_topic, settings.candidates, settings.sources, settings.max_tokens)
    rules = Rules(settings.topics, limits, settings.max_question_characters)
    try:
        async with connection.gateway(settings, SECONDS) as client:
            yield Running(client, index, embedder, rules)
    finally:
        await channel.close(None)
        await server.close()
