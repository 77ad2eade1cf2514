"""Becomes a Triton that serves the named models: what an image starts. Needs the standard library only.

Run: python -m cli.model_server [--grpc-port 8001] MODEL… HTTP is one port below gRPC, metrics one above.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli import triton_server
from cli.model_environment import MODEL_REPOSITORY, ModelEnvironment

TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT"


def line(words: Sequence[str], environ: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command and the environment it needs. Exits with status 2 on wrong arguments."""
    given = _parser().parse_args(words)
    environment = ModelEnvironment(given.environment)
    traces = environ.get(TRACES, "")
    command = triton_server.command(
        given.models,
        given.host,
        given.grpc_port,
        traces=traces,
        repository=given.repository,
        environment=environment,
    )
    return command, triton_server.environ(environ, environment, traced=bool(traces))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a folder of the model repository")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen at (all)")
    parser.add_argument("--grpc-port", type=int, default=8001, metavar="PORT")
    parser.add_argument("--repository", type=Path, default=MODEL_REPOSITORY, metavar="FOLDER")
    parser.add_argument("--environment", type=Path, default=ModelEnvironment().folder, metavar="FOLDER")
    return parser


def main() -> None:
    """Replaces this process, so that signals reach Triton itself."""
    command, environ = line(sys.argv[1:], os.environ)
    os.execve(command[0], command, environ)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
