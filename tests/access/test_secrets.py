"""Keys and tokens come from files or the environment, and are in no log, metric, reply or `ps`."""

import argparse
import asyncio
import json
import os
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from cli import arguments
from radrag.access.callers import digest, made
from radrag.client import AsyncClient
from radrag.errors import RadragError
from tests.access.authority import AUDIENCE, ISSUER, Issuer
from tests.access.doors import asked
from tests.ports import free_port
from tests.retrieval.process import ROOT

KEY, OWN, WRONG = made("pacs"), made("gateway"), made("nobody")
PASSWORD = "hunter2-of-the-database"
# Options whose names only look as if they took a secret.
NO_SECRETS = {"--max-tokens", "--tokens", "--key"}


@asynccontextmanager
async def gateway(folder: Path, issuer: Issuer) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """A process with every kind of secret there is; its output goes to a file."""
    callers, own = folder / "callers.json", folder / "own.key"
    callers.write_text(
        json.dumps({"keys": [{"id": "pacs", "sha256": digest(KEY), "sub": "pacs", "roles": ["reader"]}]})
    )
    own.write_text(OWN)
    port = free_port()
    said = {
        "RADRAG_HOME": folder, "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{port}", "RADRAG_CALLERS_FILE": callers,
        "RADRAG_JWT_ISSUER": ISSUER, "RADRAG_JWT_AUDIENCE": AUDIENCE, "RADRAG_JWT_JWKS": issuer.path,
        "RADRAG_CREDENTIAL_FILE": own, "RADRAG_LOG_FORMAT": "json",
        "RADRAG_VERSIONS_URL": f"postgresql://radrag:{PASSWORD}@127.0.0.1:1/radrag",
        **{f"RADRAG_{role}_URL": "127.0.0.1:1" for role in ("EMBEDDER", "RERANKER", "GENERATOR")},
        "RADRAG_RETRIEVAL_ADDRESS": "127.0.0.1:1", "RADRAG_INGEST_ADDRESS": "127.0.0.1:1",
    }  # fmt: skip
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RADRAG_")}
    environ = clean | {name: str(value) for name, value in said.items()}
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway"), cwd=ROOT, env=environ, stdout=log, stderr=log
        )
        try:
            async with AsyncClient(f"127.0.0.1:{port}", 60, credential=KEY) as client:
                while True:
                    try:
                        await client.info()
                        break
                    except RadragError:
                        assert process.returncode is None, (folder / "log").read_text()
                        await asyncio.sleep(0.1)
            yield f"127.0.0.1:{port}", process
        finally:
            process.terminate()
            await process.wait()


async def test_no_secret_is_told_to_anybody_who_looks(tmp_path: Path) -> None:
    issuer = Issuer(tmp_path / "jwks.json")
    token, expired = issuer.token(), issuer.token(exp=1)
    async with gateway(tmp_path, issuer) as (address, process):
        told = [
            str(await asked(address, f"Bearer {one}")) for one in (KEY, WRONG, token, expired, token + "x")
        ]
        told.append(str(await asked(address, f"Basic {KEY}")))
        async with AsyncClient(address, 20, credential=KEY) as client:
            try:
                await client.search("What is the dose limit?")
            except RadragError as error:  # there is no index: the way there was tried with our own key
                told.append(f"{error} {error.reason}")
        page = f"http://127.0.0.1:{int(address.rpartition(':')[2]) + 200}/metrics"
        told.append((await asyncio.to_thread(urllib.request.urlopen, page)).read().decode())
        told.append(read(Path(f"/proc/{process.pid}/cmdline")))
    kept = [read(tmp_path / "log"), *map(read, (tmp_path / "audit").rglob("*.jsonl"))]
    assert sum("pacs" in one for one in kept) == 2  # calls were written down at all
    told += kept
    for secret in (KEY, OWN, WRONG, token, expired, PASSWORD, KEY.rpartition("_")[2], token.split(".")[2]):
        assert not [one for one in told if secret in one]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from options(one)


def test_no_option_of_the_command_line_takes_a_secret() -> None:
    """It would stand in the list of processes."""
    words = ("key", "token", "secret", "password", "credential")
    named = {one for one in options(arguments.parser()) if any(word in one for word in words)}
    assert named
    assert {one for one in named if not one.endswith("-file")} <= NO_SECRETS
