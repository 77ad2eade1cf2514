"""The file of callers: API keys, kept as hashes, and the names of client certificates; read anew on change.

    {"keys": [{"id": "pacs", "sha256": "9f86…", "sub": "pacs-1", "roles": ["reader"], "labels": ["icu"],
               "topics": ["safety"], "expires": "2027-06-30"}],
     "certificates": [{"name": "gateway.radrag", "sub": "gateway", "roles": ["service"]}]}

A key is `radrag_ID_SECRET` with 32 random bytes as secret: too many to guess, so one SHA-256 keeps it.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from radrag import telemetry
from radrag.access import claims
from radrag.call import Caller
from radrag.errors import RadragError, Unauthenticated
from radrag.settings import SettingError

log = telemetry.logs.get(__name__)

A_KEY = re.compile(r"radrag_([a-z0-9-]{1,40})_([A-Za-z0-9_-]{43})")
NOBODY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Key:
    """A key's hash, whose it is, and the first day on which it opens nothing."""

    sha256: str
    caller: Caller
    expires: date | None


@dataclass
class Callers:
    """The callers of a file. A changed file that cannot be read leaves the last good one in force."""

    path: Path
    _keys: dict[str, Key] = field(default_factory=dict)
    _certificates: dict[str, Caller] = field(default_factory=dict)
    _read: tuple[int, int, int] = (0, 0, 0)

    def __post_init__(self) -> None:
        try:
            self._renew()
        except (OSError, ValueError, KeyError, TypeError, RadragError) as error:
            raise SettingError(f"RADRAG_CALLERS_FILE {self.path}: {type(error).__name__}: {error}") from None

    def by_key(self, key: str) -> Caller:
        """Whose key this is. Raises Unauthenticated."""
        self._look()
        form = A_KEY.fullmatch(key)
        known = self._keys.get(form[1]) if form else None
        expected = known.sha256 if known else NOBODY
        if not hmac.compare_digest(digest(key), expected) or known is None:
            raise Unauthenticated("the key is unknown", "KEY_UNKNOWN")
        if known.expires and datetime.now(UTC).date() >= known.expires:
            raise Unauthenticated("the key has expired", "KEY_EXPIRED")
        return known.caller

    def by_certificate(self, names: Iterable[str]) -> Caller | None:
        """Whose certificate has one of these names; None when nobody's."""
        self._look()
        return next((self._certificates[name] for name in names if name in self._certificates), None)

    def _look(self) -> None:
        try:
            if (stamp := _stamp(self.path)) != self._read:
                self._read = stamp  # one attempt a change
                self._renew()
        except (OSError, ValueError, KeyError, TypeError, RadragError) as error:
            log.error("the file of callers cannot be read", error=type(error).__name__)

    def _renew(self) -> None:
        self._read = _stamp(self.path)
        said = json.loads(self.path.read_text(encoding="utf-8"))
        keys = {one["id"]: _key(one) for one in said.get("keys", [])}
        self._certificates = {one["name"]: claims.caller(one) for one in said.get("certificates", [])}
        self._keys = keys


def digest(key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def made(name: str) -> str:
    """A new key. `name` is its id: 1 to 40 of a-z, 0-9 and -."""
    return f"radrag_{name}_{secrets.token_urlsafe(32)}"


def _key(said: Mapping[str, Any]) -> Key:
    if not re.fullmatch(r"[0-9a-f]{64}", str(said["sha256"])):
        raise ValueError(f"keys: {said['id']}: sha256 must be 64 hex digits")
    expires = date.fromisoformat(said["expires"]) if said.get("expires") else None
    return Key(said["sha256"], claims.caller(said), expires)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
