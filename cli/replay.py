"""`radrag replay FILE`: asks a saved reply's question again, as of its day, and shows what changed.

Saved is what `radrag ask --json` printed. A record without its question, as an audit keeps it while content
capture is off, cannot be asked again: then only the manifests are compared.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

from cli import connection, differences
from cli.differences import Difference, Plain
from cli.exits import Exit
from cli.plain import plain
from cli.terminal import Terminal
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.errors import InvalidArgument
from radrag.settings import Settings

ONLY_MANIFESTS = "without its question the reply cannot be asked again: only the manifests are compared"


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Shows the differences, earliest stage first. Status 1 when there are any."""
    saved = read(given.file)
    settings = Settings.from_environ(environ)
    async with connection.gateway(settings, given.timeout, given.address or "") as client:
        if saved.get("question"):
            now = plain(await client.generate(str(saved["question"]), _filter(saved), _limits(saved)))
            found, manifest = differences.replies(saved, now), cast("Plain", now["manifest"])
        else:
            screen.note(ONLY_MANIFESTS)
            manifest = _manifest(plain(await client.info()))
            found = differences.manifests(_of(saved), manifest)
    _show(given, screen, found, _of(saved), manifest)
    return Exit.FAILURE if found else Exit.OK


def read(file: Path) -> Plain:
    """The saved reply. Raises InvalidArgument when the file is none."""
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidArgument("FILE", f"a readable JSON file ({type(error).__name__})") from None
    if not isinstance(saved, dict) or not isinstance(saved.get("manifest"), dict):
        raise InvalidArgument("FILE", "one reply with its manifest, as `radrag ask --json` prints it")
    return cast("Plain", saved)


def _filter(saved: Plain) -> pb.Filter:
    """Where the question looked, on the day on which it looked."""
    known = dict(cast("Plain", saved.get("filter") or {}))
    return pb.Filter(**{**known, "as_of": _of(saved).get("as_of") or None})  # type: ignore[arg-type]  # from JSON


def _limits(saved: Plain) -> pb.Limits:
    return pb.Limits(**cast("dict[str, int]", saved.get("limits") or {}))


def _manifest(info: Plain) -> Plain:
    """As much of a manifest as the service tells without a question."""
    names = ("models", "index_generation", "index_revision", "settings_sha256")
    return {name: info[name] for name in names}


def _of(saved: Plain) -> Plain:
    return cast("Plain", saved["manifest"])


def _show(
    given: argparse.Namespace, screen: Terminal, found: Sequence[Difference], was: Plain, now: Plain
) -> None:
    if given.json:
        screen.json({"changed": [asdict(one) for one in found], "was": was, "now": now})
        return
    screen.text(
        f"index revision {was.get('index_revision')} then, {now.get('index_revision')} now;"
        f" sources in force on {was.get('as_of') or 'the day asked'}"
    )
    if not found:
        screen.text("nothing changed")
    for one in found:
        screen.text(f"{one.stage}: {one.what}", style="bold")
        screen.text(f"was  {one.was}", indent=2)
        screen.text(f"now  {one.now}", indent=2)
