"""Channels to other services of ours: TLS from PEM files, and the key or token shown with every call.

Needs the base install only: the command line asks questions without a server's libraries. All files are read
again when they have changed: certificates, CA, key or token.
"""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import grpc
from grpc import aio

from radrag import call, errors
from radrag.access.following import FollowingChannel, check_pair
from radrag.call import LOOPBACK, on_loopback
from radrag.errors import RadragError, Unauthenticated, Unavailable
from radrag.settings import SettingError

log = logging.getLogger(__name__)

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

    def stamped(self) -> tuple[int, ...]:
        """The stamps, none while a file is missing."""
        try:
            return self.stamps()
        except OSError:
            return ()

    def stamps(self) -> tuple[int, ...]:
        """Changes whenever a file does. Raises OSError."""
        wanted = (self.certificate, self.key, self.authority)
        return tuple(one.stat().st_mtime_ns for one in wanted if one)


def channel_credentials(files: Files) -> grpc.ChannelCredentials:
    """Credentials that trust `authority` (the system's CAs without one) and show the certificate, if any.

    Raises SettingError.
    """
    try:
        if files.certificate and files.key:
            check_pair(str(files.certificate), str(files.key))
        chain, key, authority = files.read()
    except (OSError, ValueError) as error:
        raise SettingError(f"the TLS files cannot be used: {error}") from None
    return grpc.ssl_channel_credentials(authority, key, chain)


def channel(
    address: str,
    tls: Files | None,
    options: Iterable[tuple[str, int | str]] = (),
) -> aio.Channel:
    """A channel with TLS when there is some, to all replicas behind the address. Raises SettingError."""
    wanted = [*BALANCED, *options]
    if tls is None:
        return aio.insecure_channel(address, options=wanted)
    return FollowingChannel(
        lambda: aio.secure_channel(address, channel_credentials(tls), options=wanted), tls.stamped
    )


def channel_files(settings: Wanted) -> Files | None:
    """The TLS of channels to other services of ours; None for plaintext."""
    return trusting(settings, settings.tls_ca_file)


def trusting(settings: Wanted, authority: str) -> Files | None:
    """The TLS of channels to servers of this CA, with this process's certificate; None for plaintext."""
    if not authority:
        return None
    return Files(*map(path, (settings.tls_cert_file, settings.tls_key_file, authority)))


def refuse_plaintext(settings: Wanted, name: str, key_file: str, url: str) -> None:
    """Raises SettingError when the key of the setting `name` would go over http beyond this machine."""
    parts = urlsplit(url)
    if (
        key_file
        and parts.scheme != "https"
        and not settings.tls_terminated
        and parts.hostname not in LOOPBACK
    ):
        raise SettingError(f"{name} would go to {parts.hostname} in plaintext: make its address https")


def failure(error: grpc.RpcError) -> RadragError:
    """The error behind a failed call to another service of ours.

    That it does not know this process, or not as a service, is no fault of the caller's.
    """
    found = errors.from_rpc(error)
    if isinstance(found, Unauthenticated) or found.reason == "ROLE_MISSING":
        log.error("another service of ours refuses this process: %s", found.reason)
        return Unavailable("another service refuses this one", "PEER_REFUSED")
    return found


def show_credential(settings: Wanted, *peers: str) -> None:
    """Sends this process's key or token to our other services, never in plaintext beyond this machine.

    Whoever renews a token needs no restart. Raises SettingError.
    """
    if not settings.credential_file:
        return
    beyond = [one for one in peers if one and not on_loopback(one)]
    if beyond and not (settings.tls_ca_file or settings.tls_terminated):
        raise SettingError(
            f"RADRAG_CREDENTIAL_FILE would go to {beyond[0]} in plaintext: set RADRAG_TLS_CA_FILE"
        )
    try:
        credential = Credential(Path(settings.credential_file))
    except (OSError, ValueError) as error:
        said = f"{type(error).__name__}: {settings.credential_file}"
        raise SettingError(f"RADRAG_CREDENTIAL_FILE: {said}") from None
    call.show(credential.shown)


@dataclass
class Credential:
    """The key or token in a file. A file that is gone or unusable leaves the last good one in force."""

    path: Path
    _said: str = ""
    _stamp: tuple[int, ...] = ()
    _kept: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self._renew()

    def shown(self) -> str:
        """The credential as the file has it now. Never raises: the peer says what it thinks of an old one."""
        try:
            self._renew()
            self._said = ""
        except (OSError, ValueError) as error:
            if self._said != (said := type(error).__name__):  # once, not for every call
                log.error("RADRAG_CREDENTIAL_FILE cannot be used, the last one stays in use: %s", said)
                self._said = said
        return self._kept

    def _renew(self) -> None:
        found = self.path.stat()
        if (stamp := (found.st_mtime_ns, found.st_size, found.st_ino)) != self._stamp:
            text = self.path.read_text(encoding="ascii").strip()
            if not re.fullmatch(r"[!-~]+", text):  # metadata takes no other; half-written ones are empty
                raise ValueError("a key or token is visible ASCII without spaces")
            self._kept, self._stamp = text, stamp


def _read(path: Path | None) -> bytes | None:
    return path.read_bytes() if path else None


def path(text: str) -> Path | None:
    """A path of the settings; None for an empty one."""
    return Path(text) if text else None
