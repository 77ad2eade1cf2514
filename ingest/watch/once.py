"""One look at all sources: what is new or changed is read and put up for review. Nothing is published."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from ingest.catalogue.catalogue import Catalogue
from ingest.document import Document
from ingest.manifest import Item
from ingest.pipeline import Pipeline, reason_of
from ingest.review_changes import Change, changes
from ingest.watch.address import NotFetched
from ingest.watch.fetch import GONE, UNCHANGED, Condition, Fetcher
from ingest.watch.seen import Seen, SeenTable
from ingest.watch.sources import Folder, Page, Sources
from radrag.errors import Unavailable

What = Literal["new", "changed", "unchanged", "gone", "refused", "failed"]
STAYS = "what is published stays in force"
WHATS: tuple[What, ...] = get_args(What)
SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


@dataclass(frozen=True)
class Look:
    """What came of one source. `state` is the version's in the catalogue; `changes` are by section."""

    uri: str
    what: What
    document_id: str = ""
    version: str = ""
    state: str = ""
    reason: str = ""
    changes: Sequence[Change] = ()


class Watch:
    """Looks at sources, one after another: hosts are spared, and reading is the slow part anyway."""

    def __init__(self, pipeline: Pipeline, catalogue: Catalogue, fetcher: Fetcher) -> None:
        self._pipeline, self._catalogue, self._fetcher = pipeline, catalogue, fetcher
        self._seen = SeenTable(catalogue.data)

    async def once(self, sources: Sources) -> list[Look]:
        """Looks at everything. A source's fault is its result; raised is only what ends all: Unavailable."""
        found: list[Look] = []
        for folder in sources.folders:
            found += await self._folder(folder)
        for page in sources.pages:
            found.append(await self._page(page))
        return found

    async def _folder(self, folder: Folder) -> list[Look]:
        try:
            files = await asyncio.to_thread(files_of, folder)
        except OSError as error:
            return [
                Look(folder.path.absolute().as_uri(), "failed", reason=f"it cannot be read: {error.strerror}")
            ]
        looks = [await self._file(folder, path) for path in files]
        known = await self._seen.below(f"{folder.path.resolve().as_uri()}/")
        gone = sorted(known - {path.as_uri() for path in files})
        return looks + [Look(uri, "gone", reason=f"no such file; {STAYS}") for uri in gone]

    async def _file(self, folder: Folder, path: Path) -> Look:
        uri, name = path.as_uri(), path.relative_to(folder.path.resolve()).as_posix()
        known = replace(folder.metadata, source_uri=folder.metadata.source_uri or uri)
        try:
            name.encode()
            digest = await asyncio.to_thread(sha256_of, path)
        except UnicodeEncodeError:
            return Look(uri, "failed", reason="name: must be UTF-8 text; rename the file")
        except OSError as error:
            return Look(uri, "failed", reason=f"it cannot be read: {error.strerror}")
        return await self._read(Item(path, name, known), uri, Seen(digest))

    async def _page(self, page: Page) -> Look:
        before = await self._seen.get(page.url)
        try:
            reply = await self._fetcher.get(page.url, before.condition if before else Condition())
        except NotFetched as error:
            return Look(page.url, "refused" if error.refused else "failed", reason=error.reason)
        if reply.status in GONE:
            return Look(page.url, "gone", reason=f"status {reply.status}; {STAYS}")
        if reply.status == UNCHANGED:
            return Look(page.url, "unchanged")
        seen = Seen(hashlib.sha256(reply.data).hexdigest(), reply.condition)
        known = replace(page.metadata, source_uri=page.metadata.source_uri or page.url)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "page"
            await asyncio.to_thread(path.write_bytes, reply.data)
            name = name_of(reply.url.path, reply.headers.get("Content-Type", ""))
            return await self._read(Item(path, name, known), page.url, seen)

    async def _read(self, item: Item, uri: str, seen: Seen) -> Look:
        before = await self._seen.get(uri)
        if before is not None and before.sha256 == seen.sha256:
            await self._seen.put(uri, seen)
            return Look(uri, "unchanged")
        try:
            look = await self._taken(item, uri, new=before is None)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001  whatever a file does to a parser, the others go on
            return Look(uri, "failed", reason=reason_of(error))
        await self._seen.put(uri, seen)
        return look

    async def _taken(self, item: Item, uri: str, new: bool) -> Look:
        document = await self._pipeline.document(item, lambda stage: None)
        parents = await self._pipeline.chunk(document)
        verdict = await self._pipeline.review(document, parents)
        before = await self._catalogue.before(verdict.entry)
        what: What = "new" if new and before is None else "changed"
        return Look(
            uri,
            what,
            document.document_id,
            document.version,
            verdict.entry.state.value,
            verdict.withheld,
            changed(before, document),
        )


def changed(before: Document | None, now: Document) -> Sequence[Change]:
    """What differs from the version in force, section by section."""
    return changes(before.text, now.text) if before is not None else ()


def files_of(folder: Folder) -> list[Path]:
    """The folder's files, sorted. A link that leads out of it is left alone. Raises OSError."""
    root = folder.path.resolve(strict=True)
    found = {path.resolve() for pattern in folder.include for path in root.glob(pattern)}
    return sorted(path for path in found if path.is_file() and path.is_relative_to(root))


def sha256_of(path: Path) -> str:
    """A file's hash, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def name_of(path: str, content_type: str) -> str:
    """What a page is called in messages; its suffix says what its host says it is."""
    name = PurePosixPath(path).name or "page"
    suffix = SUFFIXES.get(content_type.partition(";")[0].strip().lower(), "")
    return name if not suffix or name.lower().endswith(suffix) else name + suffix
