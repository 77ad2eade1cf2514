"""Settings that every service has: state, admission, identity, TLS, logs, audit."""

from dataclasses import dataclass
from pathlib import Path

from radrag.settings.one import setting


@dataclass(frozen=True)
class ServiceSettings:
    """How a process stands among others."""

    home: Path = setting(Path("var"), "all", "Where run-time state lives: index, pid files, logs.")
    reflection: bool = setting(False, "all", "Serve gRPC reflection.")
    metrics_host: str = setting("127.0.0.1", "all", "Address the metrics port binds to.")
    drain_seconds: float = setting(10.0, "all", "How long running calls may take to end on SIGTERM.")
    max_in_flight: int = setting(64, "all", "Calls of one method running at once; more wait in line.")
    max_waiting: int = setting(64, "all", "Calls of one method in line; one more is refused.")
    rate_per_second: float = setting(0.0, "all", "Calls a second of one caller and process; 0: no limit.")
    rate_burst: int = setting(20, "all", "Calls of one caller in one go, before the rate counts.")
    quota_per_day: int = setting(0, "all", "Calls a day (UTC) of one caller and process; 0: no limit.")

    insecure_dev: bool = setting(
        False, "all", "Let everybody in with every role, for a trial on loopback addresses; else never."
    )
    callers_file: str = setting(
        "", "gateway retrieval ingest", "JSON file of callers: hashed API keys, names of client certificates."
    )
    jwt_issuer: str = setting("", "gateway retrieval ingest", "Issuer (iss) whose bearer tokens are taken.")
    jwt_audience: str = setting("", "gateway retrieval ingest", "Audience (aud) a token must be for.")
    jwt_jwks: str = setting(
        "",
        "gateway retrieval ingest",
        "File or https URL of the issuer's keys; empty: as its OpenID configuration says.",
    )
    jwt_leeway_seconds: float = setting(
        30.0, "gateway retrieval ingest", "Clock skew forgiven in a token's times."
    )
    tls_cert_file: str = setting("", "all", "PEM chain this process shows, read again when it changes.")
    tls_key_file: str = setting("", "all", "Its private key.")
    tls_client_ca_file: str = setting(
        "", "gateway retrieval ingest", "CA whose certificates every client must show (mutual TLS)."
    )
    tls_ca_file: str = setting("", "all", "CA of our other services; set, they are called over TLS.")
    models_ca_file: str = setting(
        "",
        "gateway ingest cli",
        "CA of the model servers; set, they are called over TLS, with our certificate.",
    )
    tls_terminated: bool = setting(
        False, "all", "A proxy or mesh ends TLS: plaintext is taken beyond loopback."
    )
    credential_file: str = setting(
        "", "all", "File with the API key or token shown to our other services, read again when it changes."
    )

    log_format: str = setting("auto", "all", "Log lines: json, pretty, or auto (pretty on a terminal).")
    audit: str = setting(
        "on",
        "gateway ingest cli",
        "Audit trail: off; on; required (a call whose record cannot be written fails).",
    )
    audit_sync: str = setting(
        "always",
        "gateway ingest cli",
        "When records are synced to the disk: always (before a call ends), second, never.",
    )
    audit_heads: Path = setting(
        Path("var/audit/heads"), "gateway ingest cli", "Folder of the signed heads, to be copied elsewhere."
    )
    audit_head_every: int = setting(
        100, "gateway ingest cli", "Records after which a head is signed; one is at every stop."
    )
    audit_key_file: Path = setting(
        Path("var/audit/key.pem"), "gateway ingest cli", "Ed25519 key that signs heads; made where missing."
    )
    audit_content: bool = setting(
        False, "gateway ingest cli", "Keep questions and answers in the audit trail as they are."
    )
