"""Keeps this process and its children from phoning home, and loopback traffic off any proxy."""

from collections.abc import MutableMapping

# What the libraries we use read to stay offline; setting them costs nothing where a library is absent.
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "ANONYMIZED_TELEMETRY": "False",
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def hush(environ: MutableMapping[str, str]) -> None:
    """Changes `environ` in place. gRPC sends even 127.0.0.1 through http_proxy unless told otherwise."""
    environ.update(OFFLINE)
    for name in ("no_proxy", "NO_PROXY"):
        kept = [host for host in environ.get(name, "").split(",") if host and host not in LOOPBACK]
        environ[name] = ",".join((*kept, *LOOPBACK))
