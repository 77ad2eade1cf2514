"""The functional check before a switch: what the generation in use finds, the new one must find too."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import grpc
from grpc import aio

from ingest.generations import Generation
from ingest.indexed import Indexed, terms, translated
from radrag.errors import RadragError
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from radrag.triton import Embedding

FIRST = 13  # parents: what a reranker is given
MOST_TITLES = 200
SEARCH_SECONDS = 60.0
Embed = Callable[[str, str], Awaitable[Embedding]]
"""A question's vector by the model of this name."""


@dataclass(frozen=True)
class Probe:
    """A question and the documents of which at least one must be found. `name` is what a report calls it."""

    name: str
    text: str
    documents: frozenset[str]


@dataclass(frozen=True)
class Outcome:
    """Probes asked, found by the generation in use, and found by it but lost by the new one."""

    asked: int
    found: int
    lost: tuple[str, ...]


def from_titles(versions: Sequence[Indexed]) -> list[Probe]:
    """Where nobody gave questions: at most 200 live documents, evenly spread, each asked for by its title."""
    live = sorted((one.document for one in versions if one.live), key=lambda one: one.document_id)
    step = max(1, -(-len(live) // MOST_TITLES))
    return [
        Probe(f"title of {one.document_id}", one.title, frozenset({one.document_id})) for one in live[::step]
    ]


class Check:
    """Asks two generations the same questions, each by its own embedder."""

    def __init__(self, channel: aio.Channel, embed: Embed) -> None:
        self._stub, self._embed = RetrievalServiceStub(channel), embed

    async def run(self, probes: Sequence[Probe], used: Generation, new: Generation) -> Outcome:
        """Compares them. Raises ModelUnavailable when the new one's embedder does not answer."""
        lost, found = [], 0
        for probe in probes:
            if await self._finds(probe, used, words_alone=True):
                found += 1
                if not await self._finds(probe, new):
                    lost.append(probe.name)
        return Outcome(len(probes), found, tuple(lost))

    async def _finds(self, probe: Probe, generation: Generation, words_alone: bool = False) -> bool:
        """`words_alone`: where the embedder is no longer served, the words must do."""
        request = wire.SearchRequest(question=probe.text, generation=generation.name, parents=FIRST)
        try:
            embedding = await self._embed(generation.fingerprint.embedder.name, probe.text)
            request.vector.extend(embedding.vectors[0].tolist())
            request.embedder.CopyFrom(generation.fingerprint.embedder)
        except RadragError:
            if not words_alone:
                raise
        try:
            reply: wire.SearchResponse = await self._stub.Search(request, **terms(SEARCH_SECONDS))
        except grpc.RpcError as error:
            raise translated(error) from error
        return any(one.document.document_id in probe.documents for one in reply.parents)
