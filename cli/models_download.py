"""Downloads one file, the expected one or none: resumed where it broke off, checked at the end."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from cli.models_store import CannotFetch, megabytes

TRIES = 5
PART = ".part"
BLOCK = 1 << 20
HTTP = httpx.Timeout(30.0)
REFUSED = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}


@dataclass(frozen=True)
class Wanted:
    """A file by its path in the bundle. sha256 where the source says it, else git's hash of its content."""

    name: str
    url: str
    bytes: int
    sha256: str = ""
    git_sha1: str = ""


def client(token: str = "") -> httpx.AsyncClient:
    """For a hub or a mirror; the token goes to that host only, not where it redirects to."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(follow_redirects=True, timeout=HTTP, headers=headers)


async def fetched(
    http: httpx.AsyncClient, wanted: Wanted, folder: Path, progress: Callable[[str], None]
) -> str:
    """Puts the file into the folder, returns its sha256. Raises CannotFetch, and OSError on a full disk."""
    place = folder / wanted.name
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(place.name + PART)
        part.touch()
        await _completed(http, wanted, part, progress)
        _require(wanted, part)
        part.rename(place)
    return _digest(place, hashlib.sha256())


async def _completed(
    http: httpx.AsyncClient, wanted: Wanted, part: Path, progress: Callable[[str], None]
) -> None:
    left = TRIES
    while _size(part) < wanted.bytes:
        before = _size(part)
        try:
            await _append(http, wanted, part, progress)
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            reason = type(error).__name__
        else:
            reason = "the source ended early"
        left = TRIES if _size(part) > before else left - 1
        if _size(part) < wanted.bytes and not left:
            raise CannotFetch(
                f"{wanted.name} broke off at {megabytes(_size(part))} of {megabytes(wanted.bytes)}"
                f" ({reason}): run this again to go on from there"
            )
        await asyncio.sleep(0.0 if left == TRIES else 0.2)


async def _append(
    http: httpx.AsyncClient, wanted: Wanted, part: Path, progress: Callable[[str], None]
) -> None:
    start = _size(part)
    headers = {"Range": f"bytes={start}-"} if start else {}
    async with http.stream("GET", wanted.url, headers=headers | {"Accept-Encoding": "identity"}) as reply:
        if reply.status_code not in {httpx.codes.OK, httpx.codes.PARTIAL_CONTENT}:
            advice = ": is a token needed? (--token-file)" if reply.status_code in REFUSED else ""
            raise CannotFetch(f"{wanted.name}: the source answers {reply.status_code}{advice}")
        # A source that knows no ranges begins anew.
        whole = reply.status_code == httpx.codes.OK
        with part.open("wb" if whole else "ab") as file:
            async for block in reply.aiter_raw():
                file.write(block)
                if file.tell() > wanted.bytes:  # not what was promised, and perhaps without an end
                    return
                progress(f"{wanted.name}: {megabytes(file.tell())} of {megabytes(wanted.bytes)}")


def _require(wanted: Wanted, part: Path) -> None:
    """Raises CannotFetch, and forgets the download, when it is not the file that was wanted."""
    size = _size(part)
    git = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    found, expected = (
        (_digest(part, hashlib.sha256()), wanted.sha256)
        if wanted.sha256
        else (_digest(part, git), wanted.git_sha1)
    )
    if size != wanted.bytes or found != expected:
        part.unlink()
        raise CannotFetch(
            f"{wanted.name} is not what the source promised: {size} bytes with hash {found},"
            f" promised were {wanted.bytes} with {expected}"
        )


def _digest(path: Path, digest: "hashlib._Hash") -> str:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
