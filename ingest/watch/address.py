"""Where a request may go: hosts that are named, at public addresses, unless a host is named as private."""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

import httpx

USUAL = {"http": 80, "https": 443}
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: a private IPv4 address may stand in one of these


class NotFetched(Exception):
    """A page could not be had; the message says why. `refused`: by us or its owner, not by a fault."""

    def __init__(self, reason: str, refused: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.refused = reason, refused


@dataclass(frozen=True)
class Allowed:
    """Hosts that may be asked, and those among them that may be private. Each is a host, or host:port."""

    hosts: frozenset[str]
    private: frozenset[str]

    async def address(self, url: httpx.URL) -> str:
        """The address to connect to, checked: a name that is looked up again could lead elsewhere.

        Raises NotFetched.
        """
        if url.scheme not in USUAL or url.userinfo:
            raise NotFetched(f"{url.scheme}:// is not fetched", refused=True)
        if not _named(url, self.hosts):
            raise NotFetched(f"{place_of(url)} is not among the hosts that may be asked", refused=True)
        found = await _resolved(url)
        if not _named(url, self.private) and not all(map(is_public, found)):
            raise NotFetched(
                f"{url.host} stands at a private address; name it in allow_private", refused=True
            )
        return found[0]


def is_public(address: str) -> bool:
    """Whether an address is one of the open internet, whatever form it is written in."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is not None:
            return is_public(str(inner))
        if found.teredo is not None or found in TRANSLATED:
            return False
    return found.is_global and not found.is_multicast


def place_of(url: httpx.URL) -> str:
    """Host and port."""
    return f"{url.host}:{port_of(url)}"


def port_of(url: httpx.URL) -> int:
    """The port a URL means."""
    return url.port or USUAL[url.scheme]


def _named(url: httpx.URL, names: frozenset[str]) -> bool:
    """A bare name means the usual ports alone: another one is another service."""
    usual = port_of(url) in USUAL.values()
    return place_of(url) in names or (usual and url.host in names)


async def _resolved(url: httpx.URL) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        rows = await loop.getaddrinfo(url.host, port_of(url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # a name with a part too long to look up is the latter
        raise NotFetched(f"{url.host} is not found") from error
    return [str(row[4][0]).partition("%")[0] for row in rows]
