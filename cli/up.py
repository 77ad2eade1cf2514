"""`radrag up`: starts the model server and the services and returns when all take calls."""

import argparse
import time
from collections.abc import Mapping

from cli import services, supervision
from cli.exits import Exit
from cli.terminal import Terminal
from radrag.access import opening
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Starts what does not run, all of it or nothing."""
    if given.insecure_dev:
        environ = {**environ, "RADRAG_INSECURE_DEV": "true"}
    settings, began = Settings.from_environ(environ), time.monotonic()
    for address in (settings.gateway_address, settings.retrieval_address, settings.ingest_address):
        opening.opened(settings, address)  # says here what would else stand in three logs
    profile = services.profile(settings, environ)
    await supervision.up(profile.services, screen, given.timeout)
    names = ", ".join(child.name for child in profile.children)
    seconds = time.monotonic() - began
    screen.text(
        f"up in {seconds:.1f} s: {names}; asked at {settings.gateway_address}, logs in {profile.home / 'log'}"
    )
    if settings.http_address:
        scheme = "https" if settings.tls_cert_file else "http"
        screen.text(f"console and REST at {scheme}://{settings.http_address}")
    return Exit.OK
