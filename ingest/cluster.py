"""The one door to Ray: the parse stage on many machines, a worker for each processor.

Parsing takes nearly all the time of a document; what follows needs the one catalogue and the one index. The
machines need this package, the extra `ray`, and what the reading settings ask for; files travel to them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ingest.document import Parsed
from ingest.load import Source
from ingest.parse import parser
from ingest.reader import Care, Reader
from ingest.reading import Reading
from radrag.errors import FailedPrecondition, InvalidArgument, Unavailable


@dataclass(frozen=True)
class Refused:
    """Why a worker refused a file: errors with fields of their own do not travel."""

    field: str
    limit: str


Ask = Callable[[Source], Awaitable[Parsed | Refused]]


class Worker:
    """On another machine: the same parse stage, with a child process of its own."""

    def __init__(self, care: Care, reading: Reading) -> None:
        self._parse = parser(Reader(1, care, reading).parse)

    async def parse(self, source: Source) -> Parsed | Refused:
        """The file, or why it is refused."""
        try:
            return await self._parse(source)
        except InvalidArgument as error:
            return Refused(error.field, error.limit)


class Workers:
    """Gives each file to a worker that has none. `size` is how many there are."""

    def __init__(self, workers: Sequence[Ask]) -> None:
        self.size = len(workers)
        self._idle: asyncio.Queue[Ask] = asyncio.Queue()
        for one in workers:
            self._idle.put_nowait(one)

    async def parse(self, source: Source) -> Parsed:
        """Raises InvalidArgument for a file that cannot be read, Unavailable when its machine was lost."""
        ask = await self._idle.get()
        try:
            found = await ask(source)
        finally:
            self._idle.put_nowait(ask)
        if isinstance(found, Refused):
            raise InvalidArgument(found.field, found.limit)
        return found


@contextmanager
def cluster(address: str, care: Care, reading: Reading) -> Iterator[Workers]:
    """The workers of a Ray cluster; `local` starts one here, for as long as it is used.

    Raises FailedPrecondition when Ray is not installed, Unavailable when nothing answers at the address.
    """
    try:
        import ray  # noqa: PLC0415  # an optional extra
    except ModuleNotFoundError as error:
        message = "Ray is not installed: pip install 'radrag[ray]'"
        raise FailedPrecondition(message, "RAY_MISSING") from error
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        # A cluster that wants a token does not say so: its door is silent.
        message = (
            f"no Ray cluster answers at {address}, or it wants its token (RAY_AUTH_MODE, RAY_AUTH_TOKEN)"
        )
        raise Unavailable(message, "RAY_UNAVAILABLE") from error
    try:
        remote = ray.remote(num_cpus=1, max_restarts=-1)(Worker)
        size = max(1, int(ray.cluster_resources().get("CPU", 1)))
        actors = [remote.remote(care, reading) for _ in range(size)]
        yield Workers([asked(actor, ray.exceptions.RayActorError) for actor in actors])
    finally:
        ray.shutdown()


def asked(actor: object, lost: type[Exception]) -> Ask:
    """A worker as a function. `lost` is what Ray raises when its machine or process ended."""

    async def ask(source: Source) -> Parsed | Refused:
        try:
            found: Parsed | Refused = await actor.parse.remote(source)  # type: ignore[attr-defined]  # Ray makes it
        except lost as error:
            raise Unavailable(f"the worker that read {source.name} was lost", "WORKER_LOST") from error
        return found

    return ask
