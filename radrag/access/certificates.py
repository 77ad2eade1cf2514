"""TLS of servers from PEM files, read again when they have changed: a renewed certificate needs no restart.

Where a server has a CA for clients, every client must show a certificate of it (mutual TLS).
"""

import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from radrag import telemetry
from radrag.access.channels import Files
from radrag.settings import SettingError

T = TypeVar("T")
log = telemetry.logs.get(__name__)


@dataclass
class Watched(Generic[T]):
    """What `make` makes of a server's files, made again when they have changed."""

    files: Files
    make: Callable[[Files], T]
    _made: tuple[T, float] | None = None
    _stamps: tuple[int, ...] = ()
    _one: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> tuple[T, float] | None:
        """The latest that could be made, and when its certificate ends; None while there was none.

        Never raises: a half-written renewal must not keep callers out.
        """
        with self._one:
            try:
                if (stamps := self.files.stamps()) != self._stamps:
                    self._stamps = stamps  # one attempt a change
                    self._made = self.make(self.files), _end(self.files)
            except (OSError, ValueError, TypeError) as error:
                log.error("the TLS files cannot be used", error=type(error).__name__)
            return self._made

    def first(self, listener: str) -> T:
        """The first one; from now on the end of what `listener` shows is measured. Raises SettingError."""
        found = self.now()
        if found is None:
            named = "RADRAG_TLS_CERT_FILE, RADRAG_TLS_KEY_FILE"
            raise SettingError(f"{named}: unusable: {self.files.certificate}")
        # The files are looked at whenever it is read: else a renewal would go unseen where nobody calls.
        telemetry.CERTIFICATE_EXPIRY.labels(listener).set_function(lambda: (self.now() or found)[1])
        return found[0]


def server_credentials(files: Files) -> grpc.ServerCredentials:
    """Credentials that follow the files. Raises SettingError when they cannot be used now."""
    watched = Watched(files, configuration)
    first = shown = watched.first("grpc")

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        """Asked at every handshake: the configuration when it is another one, None to go on with that one."""
        nonlocal shown
        latest = watched.now()
        if latest is None or latest[0] is shown:
            return None
        shown = latest[0]
        return shown

    return grpc.dynamic_ssl_server_credentials(
        first,
        fetch,  # type: ignore[arg-type]  # the stubs do not know None
        require_client_authentication=files.authority is not None,
    )


def http_context(files: Files) -> ssl.SSLContext:
    """TLS of an HTTP server that follows the files. Raises SettingError when they cannot be used now."""
    watched = Watched(files, _context)
    first = watched.first("http")

    def renewed(connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        latest = watched.now()
        connection.context = latest[0] if latest else first

    first.sni_callback = renewed  # asked at every handshake, with a name or without
    return first


def _context(files: Files) -> ssl.SSLContext:
    """Raises OSError (an SSLError is one), ValueError, TypeError."""
    if files.certificate is None:
        raise ValueError("a server needs a certificate and its key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # TLS 1.2 or newer
    context.load_cert_chain(files.certificate, files.key)
    if files.authority:
        context.load_verify_locations(files.authority)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def configuration(files: Files) -> grpc.ServerCertificateConfiguration:
    """What gRPC wants of the files as they are. Raises OSError, ValueError."""
    chain, key, authority = files.read()
    if chain is None or key is None:
        raise ValueError("a server needs a certificate and its key")
    _check_pair(chain, key)
    return grpc.ssl_server_certificate_configuration([(key, chain)], authority)


def names(auth_context: Mapping[str, Iterable[bytes]]) -> list[str]:
    """The names a client's verified certificate has: alternative names, or the common name without any."""
    told = auth_context.get("x509_subject_alternative_name") or auth_context.get("x509_common_name") or ()
    return [one.decode(errors="replace") for one in told]


def _check_pair(chain: bytes, key: bytes) -> None:
    own = load_pem_private_key(key, None).public_key()
    if own != x509.load_pem_x509_certificate(chain).public_key():
        raise ValueError("the key is not the certificate's")


def _end(files: Files) -> float:
    """When the first ends of the certificate and those it comes with. Raises OSError, ValueError."""
    chain = files.read()[0] or b""
    return min(one.not_valid_after_utc.timestamp() for one in x509.load_pem_x509_certificates(chain))
