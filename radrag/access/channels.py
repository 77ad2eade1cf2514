"""Channels to other services of ours: TLS from PEM files, and the key or token shown with every call.

Needs the base install only: the command line asks questions without a server's libraries. A channel reads its
files when it is made.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import grpc
from grpc import aio

from radrag import call
from radrag.call import on_loopback
from radrag.settings import SettingError

# A name may stand for many replicas: calls take turns, and a new replica is found within a minute.
BALANCED: list[tuple[str, int | str]] = [
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.dns_min_time_between_resolutions_ms", 5000),
]


class Wanted(Protocol):
    """The settings this reads; see radrag.settings for what they mean."""

    @property
    def tls_cert_file(self) -> str:
        """Own certificate."""

    @property
    def tls_key_file(self) -> str:
        """Its key."""

    @property
    def tls_ca_file(self) -> str:
        """The CA of servers."""

    @property
    def tls_terminated(self) -> bool:
        """Whether a proxy or mesh ends TLS."""

    @property
    def credential_file(self) -> str:
        """Own key or token."""


@dataclass(frozen=True)
class Files:
    """A certificate chain, its key, and the CA whose certificates the other side must show."""

    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None

    def read(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Certificate, key, CA. Raises OSError."""
        chain, key, authority = (_read(one) for one in (self.certificate, self.key, self.authority))
        return chain, key, authority

    def stamps(self) -> tuple[int, ...]:
        """Changes whenever a file does. Raises OSError."""
        wanted = (self.certificate, self.key, self.authority)
        return tuple(one.stat().st_mtime_ns for one in wanted if one)


def channel_credentials(files: Files) -> grpc.ChannelCredentials:
    """Credentials that trust `authority` (the system's CAs without one) and show the certificate, if any.

    Raises SettingError.
    """
    try:
        chain, key, authority = files.read()
    except (OSError, ValueError) as error:
        raise SettingError(f"the TLS files cannot be used: {error}") from None
    return grpc.ssl_channel_credentials(authority, key, chain)


def channel(
    address: str,
    tls: Files | None,
    options: Iterable[tuple[str, int | str]] = (),
) -> aio.Channel:
    """A channel with TLS when there is some, to all replicas behind the address."""
    if tls is None:
        return aio.insecure_channel(address, options=[*BALANCED, *options])
    return aio.secure_channel(address, channel_credentials(tls), options=[*BALANCED, *options])


def channel_files(settings: Wanted) -> Files | None:
    """The TLS of channels to other services of ours; None for plaintext."""
    if not settings.tls_ca_file:
        return None
    return Files(*map(path, (settings.tls_cert_file, settings.tls_key_file, settings.tls_ca_file)))


def show_credential(settings: Wanted, *peers: str) -> None:
    """Sends this process's key or token to our other services, never in plaintext beyond this machine.

    The file is read for every call: whoever renews a token needs no restart. Raises SettingError.
    """
    if not settings.credential_file:
        return
    beyond = [one for one in peers if one and not on_loopback(one)]
    if beyond and not (settings.tls_ca_file or settings.tls_terminated):
        raise SettingError(
            f"RADRAG_CREDENTIAL_FILE would go to {beyond[0]} in plaintext: set RADRAG_TLS_CA_FILE"
        )
    path = Path(settings.credential_file)
    try:
        path.read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise SettingError(f"RADRAG_CREDENTIAL_FILE: {type(error).__name__}: {path}") from None
    call.show(lambda: path.read_text(encoding="ascii").strip())


def _read(path: Path | None) -> bytes | None:
    return path.read_bytes() if path else None


def path(text: str) -> Path | None:
    """A path of the settings; None for an empty one."""
    return Path(text) if text else None
