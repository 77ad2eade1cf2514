"""Builds the whole index anew beside the one that is searched, and switches to it: blue and green.

What is to be built follows from comparing the two generations: a build that was cut off goes on where it
was, and what is published meanwhile is taken up. The text comes from the catalogue, which must have it
approved.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from ingest.catalogue.states import SEARCHABLE
from ingest.curation import Curation
from ingest.generations import Generation, Generations
from ingest.indexed import Indexed
from ingest.pipeline import UNDER_WAY, reason_of
from ingest.reconcile import Key, by_version
from ingest.wiring import Parts
from radrag.errors import FailedPrecondition, NotFound

ATTEMPTS = 5  # to switch while others publish
NUMBERED = re.compile(r"g(\d+)")
Check = Callable[[str], Awaitable[Sequence[str]]]
"""Asks a generation what it must answer; returns what it does not, in words."""


@dataclass(frozen=True)
class Behind:
    """What a generation lacks of the current one, as of a revision: whole documents, oldest version first."""

    revision: int
    write: Sequence[Sequence[Indexed]] = ()
    remove: Sequence[Key] = ()

    @property
    def nothing(self) -> bool:
        """Whether both hold the same."""
        return not self.write and not self.remove


@dataclass
class Built:
    """How far a build came; `failed` says for each document that could not be written why."""

    generation: str
    written: int = 0
    removed: int = 0
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reindex:
    """Builds with the models and limits of `parts`. `told` hears of each document that is done."""

    parts: Parts
    generations: Generations
    told: Callable[[str], None] = lambda document_id: None

    @property
    def _curation(self) -> Curation:
        return self.parts.curation

    async def start(self) -> str:
        """The generation to build: one of our fingerprint that is not the current one, else a new one.

        Raises FailedPrecondition while there is no index.
        """
        held, _ = await self.generations.all()
        if not any(one.current for one in held):
            raise FailedPrecondition("there is no index yet: publish a document first", "NO_INDEX")
        ours = [
            one.name for one in held if not one.current and one.fingerprint == self.parts.index.fingerprint
        ]
        if ours:
            return ours[-1]
        name = next_name([one.name for one in held])
        await self.generations.create(name, self.parts.index.fingerprint)
        return name

    async def build(self, name: str) -> Built:
        """Brings a generation to what the current one holds. Cut off, it may be done again."""
        behind, built, slots = await self.behind(name), Built(name), asyncio.Semaphore(UNDER_WAY)
        async with asyncio.TaskGroup() as group:
            for versions in behind.write:
                await slots.acquire()
                task = group.create_task(self._document(versions, built))
                task.add_done_callback(lambda _: slots.release())
        for document_id, version in behind.remove:
            await self._curation.indexed.remove(document_id, version, name)
            built.removed += 1
        return built

    async def behind(self, name: str) -> Behind:
        """What a generation lacks."""
        _, revision = await self.generations.all()
        wanted, held = await self._curation.indexed.all(), await self._curation.indexed.all(name)
        return compared(wanted, held, revision)

    async def _document(self, versions: Sequence[Indexed], built: Built) -> None:
        document_id = versions[0].document.document_id
        try:
            for one in versions:
                await self._copy(one, built.generation)
                built.written += 1
        except Exception as error:  # noqa: BLE001  whatever one document does, the others go on
            built.failed[document_id] = reason_of(error)
        self.told(document_id)

    async def _copy(self, one: Indexed, generation: str) -> None:
        key, catalogue = (one.document.document_id, one.document.version), self._curation.catalogue
        entry = by_version(await catalogue.of(key[0])).get(key)
        if entry is None or entry.state not in SEARCHABLE:
            raise FailedPrecondition("the catalogue does not have it published: run radrag kb reconcile")
        document = await catalogue.document(entry.number)
        parents = await self.parts.pipeline.chunk(document)
        vectors = await self.parts.pipeline.embed(document, parents)
        await self.parts.index.copy(one.document, document, parents, vectors, generation)

    async def switch(self, name: str, check: Check) -> str:
        """Makes a whole generation that passes `check` the current one; returns the one before.

        Raises FailedPrecondition, and switches nothing, when it fails, when a document cannot be written, or
        when others publish without a pause.
        """
        await self._refuse_other(name)
        for _ in range(ATTEMPTS):
            built = await self.build(name)
            if built.failed:
                raise FailedPrecondition(
                    f"documents not written: {', '.join(sorted(built.failed))}", "NOT_WHOLE"
                )
            if not (behind := await self.behind(name)).nothing:
                continue
            if lost := await check(name):
                raise FailedPrecondition(f"not switched, the check failed: {'; '.join(lost)}", "CHECK_FAILED")
            try:
                return await self.generations.switch(name, behind.revision)
            except FailedPrecondition as error:
                if error.reason != "REVISION_MOVED":
                    raise
        raise FailedPrecondition("others publish without a pause: try again", "REVISION_MOVED")

    async def _refuse_other(self, name: str) -> None:
        wanted = named(await self.generations.all(), name)
        if wanted.fingerprint != self.parts.index.fingerprint:
            model = wanted.fingerprint.embedder.name
            raise FailedPrecondition(
                f"{name} is made by other settings (embedder {model}); switch with those it was built with",
                "FINGERPRINT_MISMATCH",
            )


async def rollback(generations: Generations, name: str = "") -> tuple[str, str]:
    """Switches back to a generation, without a name to the only other one. Returns the one before and it.

    Raises FailedPrecondition when there is none, or several.
    """
    held = await generations.all()
    others = [one.name for one in held[0] if not one.current and one.documents]
    if not name and len(others) != 1:
        raise FailedPrecondition(f"name the generation: there are {', '.join(others) or 'no others'}")
    chosen = named(held, name or others[0]).name
    return await generations.switch(chosen), chosen


def named(held: tuple[list[Generation], int], name: str) -> Generation:
    """The generation of this name. Raises NotFound."""
    for one in held[0]:
        if one.name == name:
            return one
    raise NotFound(f"generation {name!r} is unknown; there are {', '.join(one.name for one in held[0])}")


def next_name(names: Sequence[str]) -> str:
    """g and a number that was not used yet."""
    numbers = [int(found[1]) for name in names if (found := NUMBERED.fullmatch(name))]
    return f"g{max(numbers, default=0) + 1}"


def compared(wanted: Sequence[Indexed], held: Sequence[Indexed], revision: int) -> Behind:
    """What `held` lacks of `wanted`. Versions that were in force on no day are left out of both."""
    want, have = by_document(wanted), by_document(held)
    write = [
        versions for key, versions in want.items() if any(one not in have.get(key, ()) for one in versions)
    ]
    known = {(one.document.document_id, one.document.version) for one in wanted}
    remove = [(one.document.document_id, one.document.version) for one in held]
    return Behind(revision, write, [key for key in remove if key not in known])


def by_document(versions: Sequence[Indexed]) -> dict[str, list[Indexed]]:
    """Each document's versions in the order of publication, the live one last."""
    found: dict[str, list[Indexed]] = {}
    for one in sorted(versions, key=lambda one: (one.live, one.document.valid_from)):
        if not one.document.HasField("valid_to") or one.document.valid_to > one.document.valid_from:
            found.setdefault(one.document.document_id, []).append(one)
    return found
