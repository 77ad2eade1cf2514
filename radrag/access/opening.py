"""Who may come in as the settings want it. Without any way to know callers a process does not start."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from radrag.access import channels
from radrag.access.callers import Callers
from radrag.access.channels import Files, path
from radrag.access.identity import Anyone, Identity, Known
from radrag.access.keyring import Keyring, discovering, reading
from radrag.access.tokens import Issued
from radrag.call import on_loopback
from radrag.settings import SettingError

NOBODY_KNOWN = (
    "nobody could be told from anybody else: set RADRAG_CALLERS_FILE (keys, client certificates) or "
    "RADRAG_JWT_ISSUER; for a trial on this machine alone RADRAG_INSECURE_DEV=true lets everybody in"
)


class Wanted(channels.Wanted, Protocol):
    """The settings this reads; see radrag.settings for what they mean."""

    @property
    def insecure_dev(self) -> bool:
        """Let everybody in."""

    @property
    def callers_file(self) -> str:
        """Keys and certificates."""

    @property
    def jwt_issuer(self) -> str:
        """The issuer."""

    @property
    def jwt_audience(self) -> str:
        """The audience."""

    @property
    def jwt_jwks(self) -> str:
        """Its keys."""

    @property
    def jwt_leeway_seconds(self) -> float:
        """Clock skew."""

    @property
    def tls_client_ca_file(self) -> str:
        """The CA of clients."""


@dataclass(frozen=True)
class Access:
    """How a server knows its callers, its TLS, and the TLS of channels to other services of ours."""

    identity: Identity = field(default_factory=Anyone)
    server: Files | None = None
    channels: Files | None = None


def opened(settings: Wanted, address: str, *peers: str) -> Access:
    """The access of a process that listens at `address` and calls `peers`. Raises SettingError."""
    server, peers_tls = server_files(settings), channels.channel_files(settings)
    identity = _identity(settings)
    check(settings, address)
    channels.show_credential(settings, *peers)
    return Access(identity, server, peers_tls)


def check(settings: Wanted, address: str) -> None:
    """Raises SettingError for an address beyond this machine that everybody, or plaintext, would reach."""
    if on_loopback(address):
        return
    if settings.insecure_dev:
        raise SettingError(f"RADRAG_INSECURE_DEV is for loopback addresses, not {address}")
    if not (settings.tls_cert_file or settings.tls_terminated):
        raise SettingError(
            f"{address} is reached from outside: set RADRAG_TLS_CERT_FILE and RADRAG_TLS_KEY_FILE, or "
            "RADRAG_TLS_TERMINATED=true where a proxy in front ends TLS"
        )


def _identity(settings: Wanted) -> Identity:
    ways = bool(settings.callers_file), bool(settings.jwt_issuer)
    if settings.insecure_dev:
        if any(ways):
            raise SettingError("RADRAG_INSECURE_DEV lets everybody in: unset it, or what tells callers apart")
        return Anyone()
    if not any(ways):
        raise SettingError(NOBODY_KNOWN)
    callers = Callers(Path(settings.callers_file)) if settings.callers_file else None
    return Known(_issued(settings), callers)


def _issued(settings: Wanted) -> Issued | None:
    if not settings.jwt_issuer:
        return None
    if not settings.jwt_audience:
        raise SettingError("RADRAG_JWT_AUDIENCE is required with RADRAG_JWT_ISSUER")
    source = settings.jwt_jwks
    try:
        fetch = reading(source) if source else discovering(settings.jwt_issuer)
    except ValueError as error:
        raise SettingError(f"RADRAG_JWT_JWKS or RADRAG_JWT_ISSUER {error}") from None
    keys = Keyring(fetch)
    return Issued(keys, settings.jwt_issuer, settings.jwt_audience, settings.jwt_leeway_seconds)


def server_files(settings: Wanted) -> Files | None:
    """The TLS of a server; None for plaintext. Raises SettingError for half of what it needs."""
    if bool(settings.tls_cert_file) != bool(settings.tls_key_file):
        raise SettingError("RADRAG_TLS_CERT_FILE and RADRAG_TLS_KEY_FILE go together")
    if not settings.tls_cert_file:
        if settings.tls_client_ca_file:
            raise SettingError("RADRAG_TLS_CLIENT_CA_FILE needs RADRAG_TLS_CERT_FILE")
        return None
    return Files(*map(path, (settings.tls_cert_file, settings.tls_key_file, settings.tls_client_ca_file)))
