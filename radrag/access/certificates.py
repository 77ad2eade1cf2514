"""TLS of servers from PEM files, read again when they have changed: a renewed certificate needs no restart.

Where a server has a CA for clients, every client must show a certificate of it (mutual TLS).
"""

import ssl
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from radrag import telemetry
from radrag.access.channels import Files
from radrag.settings import SettingError

log = telemetry.logs.get(__name__)


@dataclass
class Watched:
    """A server's configuration from files; asked by gRPC at every handshake."""

    files: Files
    _stamps: tuple[int, ...] = ()
    _one: threading.Lock = field(default_factory=threading.Lock)

    def fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """The configuration when it is another one than last time; None to go on with that one.

        Never raises: a half-written renewal must not keep callers out.
        """
        with self._one:
            try:
                stamps = self.files.stamps()
                if stamps == self._stamps:
                    return None
                self._stamps = stamps
                return configuration(self.files)
            except (OSError, ValueError) as error:
                log.error("the TLS files cannot be used", error=type(error).__name__)
                return None


def server_credentials(files: Files) -> grpc.ServerCredentials:
    """Credentials that follow the files. Raises SettingError when they cannot be used now."""
    watched = Watched(files)
    first = watched.fetch()
    if first is None:
        raise SettingError(f"RADRAG_TLS_CERT_FILE, RADRAG_TLS_KEY_FILE: unusable: {files.certificate}")
    return grpc.dynamic_ssl_server_credentials(
        first,
        watched.fetch,  # type: ignore[arg-type]  # the stubs do not know None
        require_client_authentication=files.authority is not None,
    )


def http_context(files: Files) -> ssl.SSLContext:
    """TLS of an HTTP server that follows the files. Raises SettingError when they cannot be used now."""
    try:
        latest, seen = _context(files), files.stamps()
    except (OSError, ValueError, TypeError) as error:
        raise SettingError(f"RADRAG_TLS_CERT_FILE, RADRAG_TLS_KEY_FILE: {type(error).__name__}") from None

    def renewed(connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        nonlocal latest, seen
        try:
            if (stamps := files.stamps()) != seen:
                seen = stamps  # one attempt a change
                latest = _context(files)
        except (OSError, ValueError, TypeError) as error:
            log.error("the TLS files cannot be used", error=type(error).__name__)
        connection.context = latest

    first = latest
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
