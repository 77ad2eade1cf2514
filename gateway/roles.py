"""The models behind the roles: which they are, for a manifest, and whether they are there, for health."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from gateway.models import Model, Weights
from radrag import telemetry
from radrag.errors import RadragError
from radrag.triton import ModelServer


class Behind(Protocol):
    """A model behind a role, wherever it is served."""

    @property
    def name(self) -> str:
        """As its server knows it."""

    def weights_sha256(self) -> str:
        """The hash of its weights, hex; empty while it is not known."""

    async def is_there(self) -> bool:
        """Whether it would take a request."""


@dataclass(frozen=True)
class Served:
    """A model by name on its server, and its weights' hash as known by now."""

    server: ModelServer
    name: str
    weights: Weights

    def weights_sha256(self) -> str:
        """The hash of its weights as known by now."""
        return self.weights.known(self.name)

    async def is_there(self) -> bool:
        """Whether it would take a request; one that was away is asked for its weights again."""
        if not await self.server.ready(self.name):
            self.weights.forget()
            return False
        return await check(partial(self.weights.of, self.name))()


@dataclass(frozen=True)
class Models:
    """The models by role: embedder, reranker, generator."""

    roles: Mapping[str, Behind]

    def named(self) -> list[Model]:
        """The models for a manifest."""
        return [Model(role, one.name, one.weights_sha256()) for role, one in self.roles.items()]

    def tell(self) -> None:
        """Sets the gauge that names the models; what stood there before is gone."""
        telemetry.MODEL_INFO.clear()
        for one in self.named():
            telemetry.MODEL_INFO.labels(one.role, one.name, one.weights_sha256).set(1)

    def checks(self) -> dict[str, Callable[[], Awaitable[bool]]]:
        """A readiness check per role."""
        return {role: one.is_there for role, one in self.roles.items()}


def check(ask: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[bool]]:
    """A readiness check: whether the question gets an answer."""

    async def there() -> bool:
        try:
            await ask()
        except RadragError:
            return False
        return True

    return there
