"""Whether a question's own vector stands near a gate's examples: no call is made for a question.

The examples are embedded beside the traffic, at the start and whenever the embedder changes. Until that is
done, and for an embedder without thresholds, nobody can tell.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gateway.passage import QueryVector
from gateway.scope import Scope

_AT_ONCE = 4


@dataclass(frozen=True)
class Embedded:
    """The examples as unit vectors [n, dimension] of one embedder, and the gate of each; empty: ours."""

    model: tuple[str, str]
    vectors: NDArray[np.float32]
    gates: tuple[str, ...]


class Nearness:
    """Compares questions with the examples. `model`: the embedder in use, its name and its weights' hash."""

    def __init__(
        self,
        scope: Scope,
        model: Callable[[], Awaitable[tuple[str, str]]],
        embed: Callable[[str], Awaitable[QueryVector]],
    ) -> None:
        self._scope, self._model, self._embed = scope, model, embed
        self._known: Embedded | None = None

    async def renew(self) -> None:
        """Embeds the examples when the embedder in use is another one. Raises what embedding raises."""
        model = await self._model()
        if not self._knows(model) and self._scope.judges(model[0]):
            self._known = await self._embedded(model)

    def gate(self, question: QueryVector) -> str | None:
        """The gate whose examples are near enough; empty: none; None: nobody can tell."""
        if self._known is None or not self._knows((question.embedder, question.weights_sha256)):
            return None
        return nearest(self._scope, self._known, question)

    def _knows(self, model: tuple[str, str]) -> bool:
        return self._known is not None and self._known.model == model

    async def _embedded(self, model: tuple[str, str]) -> Embedded:
        named = examples(self._scope)
        vectors = [one.values for one in await self._vectors([text for _, text in named])]
        return Embedded(model, np.asarray(vectors, dtype=np.float32), tuple(gate for gate, _ in named))

    async def _vectors(self, texts: Sequence[str]) -> list[QueryVector]:
        found: list[QueryVector] = []
        for at in range(0, len(texts), _AT_ONCE):
            found += await asyncio.gather(*(self._embed(text) for text in texts[at : at + _AT_ONCE]))
        return found


def examples(scope: Scope) -> list[tuple[str, str]]:
    """All examples as (gate, text); the gate is empty where the question is ours."""
    named = [(gate.name, text) for gate in scope.gates for text in gate.examples]
    return named + [("", text) for text in scope.ours]


def nearest(scope: Scope, known: Embedded, question: QueryVector) -> str:
    """The nearest of the gates that are near enough, and nearer than our own examples; else empty."""
    cosines = known.vectors @ np.asarray(question.values, dtype=np.float32)
    best = {name: float(max(cosines[np.array(known.gates) == name])) for name in dict.fromkeys(known.gates)}
    far = best.pop("") + scope.lead[question.embedder]
    least = {gate.name: gate.thresholds.get(question.embedder, 2.0) for gate in scope.gates}
    near = {name: cosine for name, cosine in best.items() if cosine >= max(least[name], far)}
    return max(near, key=lambda name: near[name], default="")
