"""An issuer's public keys (JWKS, RFC 7517): fetched when needed, kept for a while, replaced when it rotates.

A token with an unknown key id has the set fetched again, but not more often than every few seconds: made-up
ids must not turn this service against the issuer.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from jwt import PyJWK, PyJWKSet
from jwt.exceptions import PyJWKError, PyJWKSetError

from radrag import telemetry
from radrag.call import LOOPBACK
from radrag.errors import Unauthenticated, Unavailable

log = telemetry.logs.get(__name__)

SECONDS, MOST_BYTES = 5.0, 1_000_000


@dataclass
class Keyring:
    """Keys by id. `fetch` returns the set as JSON; times are in seconds.

    A set is used for `fresh` before it is fetched again, and for `most` when that fails.
    """

    fetch: Callable[[], bytes]
    fresh: float = 300.0
    most: float = 3600.0
    pause: float = 10.0
    clock: Callable[[], float] = time.monotonic
    _keys: dict[str, PyJWK] = field(default_factory=dict)
    _fetched: float = float("-inf")
    _tried: float = float("-inf")
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def key(self, key_id: str) -> PyJWK:
        """The key of this id. Raises Unauthenticated when there is none, Unavailable without any set."""
        if self._wanting(key_id):
            async with self._one:
                if self._wanting(key_id):  # nobody else fetched it meanwhile
                    await self._renew()
        if self.clock() - self._fetched > self.most:
            raise Unavailable("the keys of the token issuer cannot be read", "ISSUER_UNAVAILABLE")
        if key_id not in self._keys:
            raise Unauthenticated("the token's key is unknown", "TOKEN_KEY_UNKNOWN")
        return self._keys[key_id]

    def _wanting(self, key_id: str) -> bool:
        now = self.clock()
        stale = key_id not in self._keys or now - self._fetched > self.fresh
        return stale and now - self._tried > self.pause

    async def _renew(self) -> None:
        self._tried = self.clock()
        try:
            self._keys = keys_of(await asyncio.to_thread(self.fetch))
            self._fetched = self.clock()
        except (OSError, ValueError, PyJWKSetError, PyJWKError) as error:
            log.warning("the issuer's keys could not be read", error=type(error).__name__)


def keys_of(data: bytes) -> dict[str, PyJWK]:
    """The signing keys of a JWKS by id; symmetric ones are left out: whoever reads the set could sign."""
    found = PyJWKSet.from_dict(json.loads(data)).keys
    return {
        one.key_id: one
        for one in found
        if one.key_id and one.key_type != "oct" and one.public_key_use in {None, "sig"}
    }


def reading(source: str) -> Callable[[], bytes]:
    """Reads the set from a file or an https URL; http only on this machine. Raises ValueError."""
    if "://" not in source:
        return Path(source).read_bytes
    parts = urlsplit(source)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError("must be a file or an https URL")
    return lambda: _downloaded(source)


def discovering(issuer: str) -> Callable[[], bytes]:
    """Reads the set that the issuer's OpenID configuration names."""
    configuration = reading(issuer.rstrip("/") + "/.well-known/openid-configuration")

    def named() -> bytes:
        return reading(json.loads(configuration())["jwks_uri"])()

    return named


def _downloaded(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=SECONDS) as reply:  # noqa: S310  https, see reading
        data: bytes = reply.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError("the key set is too large")
    return data
