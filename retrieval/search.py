"""Hybrid search: two legs over every topic at once, in one view of the live versions, fused, then parents.

What is in force is decided here and not by the store: a leg asks for more until it is full of children that
the view knows. The dense leg is one leg per language of the index: a small encoder puts passages of the
question's own language first, and the only answer may stand in the other. It does not know gRPC, or which
store it asks.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeVar

from radrag.errors import InvalidArgument
from retrieval import parents
from retrieval.bm25 import Bm25, SparseVector
from retrieval.fingerprint import check, check_bm25
from retrieval.fusion import Fuse, Rrf, Scored, shared
from retrieval.question import Found, FoundChild, FoundParent, Question
from retrieval.snapshot import Generation, View
from retrieval.store import Above, Among, AtMost, Collection, Hit, Store, Where

F = TypeVar("F", bound=Callable[..., object])
Vector: TypeAlias = Sequence[float] | SparseVector
Reading: TypeAlias = Callable[[str], AbstractAsyncContextManager[View]]
"""Holds a view of the named generation, or of the current one for an empty name."""

DENSE, BM25 = "dense", "bm25"
SPARE = 5  # asked for beyond what a leg needs, so that equal scores at its end are settled by id
MOST = 20_000  # no leg asks for more
_PASSAGE, _SCORE = attrgetter("passage_id"), attrgetter("score")
_SCORED = attrgetter("passage_id", "score")


class Wrap(Protocol):
    """Wraps an async function as a stage of that name; see radrag.telemetry.traced."""

    def __call__(self, stage: str, function: F, /) -> F:
        """The function to call in its place."""


def unwrapped(stage: str, function: F, /) -> F:
    """Leaves a stage as it is."""
    return function


class Searcher:
    """Searches `topics` of a store, in views of its index."""

    def __init__(
        self,
        store: Store,
        reading: Reading,
        bm25: Bm25,
        topics: Sequence[str],
        *,
        fuse: Fuse,
        rrf: Rrf,
        language_share: int = 0,
        wrap: Wrap = unwrapped,
    ) -> None:
        self._store, self._reading, self._bm25, self._topics = store, reading, bm25, topics
        self._fuse, self._rrf, self._share = fuse, rrf, language_share
        self._stage = cache(lambda name: wrap(name, self._full))

    async def search(self, question: Question) -> Found:
        """The parents that answer best. Raises FailedPrecondition for a generation made otherwise."""
        async with self._reading(question.generation) as view:
            if view.generation is None:
                return Found([], [] if question.vector else [DENSE], "", view.revision)
            vectors = self._vectors(question, view.generation)
            legs = await self._legs(question, vectors, view.generation)
            found = {kind: _by_id(_of_kind(kind, legs)) for kind in (DENSE, BM25)}
            spoken = _languages(found, view.generation)
            children = _children(self._best(question, legs, spoken), found)
            best = await parents.of_children(self._store, view.generation, children)
            missing = _missing(vectors, found, view.generation)
            return Found(best, missing, view.generation.name, view.revision)

    async def parents(
        self, parent_ids: Sequence[str], labels: frozenset[str], may: parents.May = parents.anything
    ) -> list[FoundParent]:
        """The parents of these ids that a caller with these labels may see, superseded ones too.

        `may` says whether the caller may see a topic.
        """
        async with self._reading("") as view:
            if view.generation is None:
                return []
            return await parents.by_ids(self._store, view.generation, parent_ids, labels, may)

    async def _legs(
        self, question: Question, vectors: Mapping[str, Vector], generation: Generation
    ) -> list[dict[str, list[Hit]]]:
        """What each leg found in each topic that has something."""
        wanted = sorted(set(question.topics or self._topics) & generation.topics)
        parts = [(BM25, question.languages)] if BM25 in vectors else []
        if DENSE in vectors:
            spoken = sorted(generation.languages & set(question.languages or generation.languages))
            parts += [(f"{DENSE}:{language}", (language,)) for language in spoken]

        async def leg(topic: str, name: str, languages: tuple[str, ...]) -> list[Hit]:
            kind, where = _kind(name), _where(question, languages, generation)
            full = self._stage(f"{topic}.{name}")
            return await full(Collection(generation.name, topic), vectors[kind], where, question, generation)

        found = iter(await asyncio.gather(*(leg(topic, *part) for topic in wanted for part in parts)))
        return [{name: next(found) for name, _ in parts} for _ in wanted]

    def _vectors(self, question: Question, generation: Generation) -> dict[str, Vector]:
        """The vector of each leg that is on."""
        check_bm25(self._bm25.sha256, generation.bm25_sha256)
        vectors: dict[str, Vector] = {}
        if question.vector:
            _check_vector(question, generation)
            vectors[DENSE] = question.vector
        words = generation.frequencies.idf(self._bm25.question(question.text))
        if words.indices:
            vectors[BM25] = words
        return vectors

    async def _full(
        self,
        collection: Collection,
        vector: Vector,
        where: Where,
        question: Question,
        generation: Generation,
    ) -> list[Hit]:
        """A full leg: the best children in force, as many as asked for if there are so many."""
        wanted, in_force = question.children_per_topic, generation.in_force(collection.topic, question.day)
        limit = wanted + SPARE
        while True:
            hits = await self._store.nearest(collection, vector, where, limit)
            alive = {hit.passage_id: hit for hit in hits if hit.edition in in_force}
            if len(alive) >= wanted or len(hits) < limit or limit >= MOST:
                by_id = sorted(alive.values(), key=_PASSAGE)
                return sorted(by_id, key=_SCORE, reverse=True)[:wanted]
            limit *= 2

    def _best(
        self,
        question: Question,
        legs: Iterable[Mapping[str, Iterable[Hit]]],
        languages: Mapping[str, str],
    ) -> list[Scored]:
        scored = [{leg: list(map(_SCORED, hits)) for leg, hits in one.items()} for one in legs]
        fused = self._fuse(scored, self._rrf, question.children_per_topic)
        kept = shared(fused, languages.__getitem__, question.children, self._share)
        return shared(kept, languages.__getitem__, question.parents, self._share)


def _languages(found: Mapping[str, Mapping[str, Hit]], generation: Generation) -> dict[str, str]:
    return {
        passage_id: generation.versions[hit.edition].document.language
        for hits in found.values()
        for passage_id, hit in hits.items()
    }


def _missing(
    vectors: Mapping[str, Vector], found: Mapping[str, Mapping[str, Hit]], generation: Generation
) -> list[str]:
    """The legs that were off, or gave nothing where what the other one found shows that they had to.

    To find nothing is an answer. But every child has a vector, and a document counted with a word has a child
    that holds it: a leg that gives neither has lost its index.
    """
    lost = {
        DENSE: DENSE not in vectors or bool(found[BM25] and not found[DENSE]),
        BM25: not found[BM25] and _holds(vectors.get(BM25), found[DENSE].values(), generation),
    }
    return [leg for leg, is_lost in lost.items() if is_lost]


def _holds(words: Vector | None, hits: Iterable[Hit], generation: Generation) -> bool:
    """Whether a document of these hits has one of the words."""
    if not isinstance(words, SparseVector):
        return False
    counted = (generation.versions[edition].frequencies for edition in {hit.edition for hit in hits})
    return any(one.idf(words.indices).indices for one in counted)


def _check_vector(question: Question, generation: Generation) -> None:
    expected = generation.fingerprint.embedder
    if question.embedder is None:
        raise InvalidArgument("embedder", "required with a vector")
    check(question.embedder, expected)
    if len(question.vector) != expected.dimension:
        raise InvalidArgument("vector", f"must have {expected.dimension} numbers")


def _kind(name: str) -> str:
    return name.partition(":")[0]


def _of_kind(kind: str, legs: Iterable[Mapping[str, Iterable[Hit]]]) -> Iterator[Hit]:
    return (hit for one in legs for name, hits in one.items() if _kind(name) == kind for hit in hits)


def _where(question: Question, languages: Sequence[str], generation: Generation) -> Where:
    """What the store has to look at; conditions that every point meets cost a tenth of a scan each."""
    among = {
        "access_labels": tuple(sorted(question.labels)),
        "language": tuple(languages),
        "category": question.categories,
        "document_id": question.document_ids,
    }
    chosen = [Among(field, values) for field, values in among.items() if values or field == "access_labels"]
    if generation.all_in_force(question.day):
        return tuple(chosen)
    return (*chosen, AtMost("valid_from", question.day), Above("valid_to", question.day))


def _by_id(hits: Iterable[Hit]) -> dict[str, Hit]:
    return {hit.passage_id: hit for hit in hits}


def _children(best: list[Scored], found: Mapping[str, Mapping[str, Hit]]) -> list[FoundChild]:
    return [
        FoundChild(
            hit=found[DENSE].get(one.id) or found[BM25][one.id],
            dense=_score(found[DENSE].get(one.id)),
            bm25=_score(found[BM25].get(one.id)),
            fused=one.score,
        )
        for one in best
    ]


def _score(hit: Hit | None) -> float | None:
    return None if hit is None else hit.score
