"""Fetches a page politely and safely: robots.txt, pauses, conditions, limits; each hop's address checked."""

import asyncio
from dataclasses import dataclass
from time import monotonic
from types import TracebackType

import httpx
from protego import Protego

from ingest.watch.address import Allowed, NotFetched, place_of

MOST_HOPS = 5
ROBOTS_BYTES = 500_000  # RFC 9309 asks for at least 500 KiB
LONGEST_PAUSE = 60.0
GONE, UNCHANGED = {404, 410}, 304
REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True)
class Manners:
    """Who we say we are, the pause between two requests to one host, and the limits of one page."""

    agent: str = "radrag"
    seconds_between: float = 1.0
    seconds: float = 120.0
    most_bytes: int = 100_000_000


@dataclass(frozen=True)
class Condition:
    """What a page said of itself last time."""

    etag: str = ""
    last_modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """As a request says it."""
        said = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in said.items() if value}


@dataclass(frozen=True)
class Reply:
    """A page's answer. `data` is empty unless the status is 200."""

    status: int
    headers: httpx.Headers
    data: bytes
    url: httpx.URL

    @property
    def condition(self) -> Condition:
        """What to ask with next time."""
        return Condition(self.headers.get("ETag", ""), self.headers.get("Last-Modified", ""))


class Fetcher:
    """Asks hosts that are allowed. Use as `async with`."""

    def __init__(self, allowed: Allowed, manners: Manners = Manners()) -> None:
        self._allowed, self._manners = allowed, manners
        # A proxy from the environment would do the looking up that is checked here.
        self._client = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=30.0)
        self._robots: dict[str, Protego] = {}
        self._last: dict[str, float] = {}

    async def __aenter__(self) -> "Fetcher":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def get(self, address: str, condition: Condition) -> Reply:
        """A page: status 200 with its bytes, 304, 404 or 410. Raises NotFetched for anything else."""
        try:
            async with asyncio.timeout(self._manners.seconds):
                reply = await self._followed(httpx.URL(address), condition.headers, robots=True)
        except TimeoutError as error:
            raise NotFetched(f"it took longer than {self._manners.seconds:g} s") from error
        if reply.status not in {200, UNCHANGED} | GONE:
            raise NotFetched(f"status {reply.status}")
        return reply

    async def _followed(self, url: httpx.URL, headers: dict[str, str], robots: bool) -> Reply:
        for _ in range(MOST_HOPS + 1):
            if robots:
                await self._heed_robots(url)
            reply = await self._one(url, headers, self._manners.most_bytes if robots else ROBOTS_BYTES)
            if reply.status not in REDIRECTS:
                return reply
            following = url.join(reply.headers.get("Location", ""))
            if (url.scheme, following.scheme) == ("https", "http"):
                raise NotFetched("it leads from https to http", refused=True)
            url = following
        raise NotFetched(f"more than {MOST_HOPS} redirects")

    async def _heed_robots(self, url: httpx.URL) -> None:
        robots = await self._robots_of(url)
        if not robots.can_fetch(str(url), self._manners.agent):
            raise NotFetched("robots.txt forbids it", refused=True)

    async def _robots_of(self, url: httpx.URL) -> Protego:
        origin = f"{url.scheme}://{url.netloc.decode()}"
        if origin not in self._robots:
            self._robots[origin] = await self._read_robots(httpx.URL(f"{origin}/robots.txt"))
        return self._robots[origin]

    async def _read_robots(self, url: httpx.URL) -> Protego:
        """RFC 9309: none (4xx) forbids nothing; one that cannot be read (5xx, no answer) forbids all."""
        try:
            reply = await self._followed(url, {}, robots=False)
        except NotFetched as error:
            if error.refused:
                raise
            raise NotFetched(f"robots.txt cannot be read: {error.reason}") from error
        if reply.status == 200:
            return Protego.parse(reply.data.decode("utf-8", "replace"))
        if 400 <= reply.status < 500:
            return Protego.parse("")
        raise NotFetched(f"robots.txt cannot be read: status {reply.status}")

    async def _one(self, url: httpx.URL, headers: dict[str, str], most: int) -> Reply:
        address = await self._allowed.address(url)
        await self._pause(url)
        said = {
            **headers,
            "Host": url.netloc.decode(),
            "User-Agent": self._manners.agent,
            "Accept-Encoding": "identity",  # what is packed could unpack to anything
        }
        request = self._client.build_request("GET", url.copy_with(host=address), headers=said)
        request.extensions["sni_hostname"] = url.host
        try:
            response = await self._client.send(request, stream=True)
            try:
                return Reply(response.status_code, response.headers, await _body(response, most), url)
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise NotFetched(f"{url.host} does not answer ({type(error).__name__})") from error
        finally:
            # From the end: a slow host would else have no pause, and sees requests later than they are sent.
            self._last[place_of(url)] = monotonic()

    async def _pause(self, url: httpx.URL) -> None:
        place, wished = place_of(url), self._manners.seconds_between
        robots = self._robots.get(f"{url.scheme}://{url.netloc.decode()}")
        if robots is not None:
            wished = max(wished, min(robots.crawl_delay(self._manners.agent) or 0.0, LONGEST_PAUSE))
        due = self._last.get(place, 0.0) + wished
        await asyncio.sleep(max(0.0, due - monotonic()))
        self._last[place] = monotonic()


async def _body(response: httpx.Response, most: int) -> bytes:
    if response.status_code != 200:
        return b""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise NotFetched("it comes packed, though nobody asked for that")
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > most:
            raise NotFetched(f"it has more than {most:,} bytes, which is the limit")
    return bytes(data)
