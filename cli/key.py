"""`radrag key NAME`: makes an API key, shows it once, and puts its hash into the file of callers."""

import argparse
import json
import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from cli.exits import Exit
from cli.terminal import Terminal
from radrag.access import callers
from radrag.access.claims import ROLES
from radrag.errors import InvalidArgument
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """The key goes to standard output and is nowhere else from then on."""
    name = given.file or Settings.from_environ(environ).callers_file
    if not name:
        raise InvalidArgument("--file", "say which file, or set RADRAG_CALLERS_FILE")
    key = added(Path(name), entry(given))
    screen.note(f"{given.name}: its hash is in {name}; the key itself is shown once")
    screen.text(key)
    return Exit.OK


def entry(given: argparse.Namespace) -> dict[str, Any]:
    """What the file will say of the caller, but for the hash. Raises InvalidArgument."""
    if not re.fullmatch(r"[a-z0-9-]{1,40}", given.name):
        raise InvalidArgument("NAME", "1 to 40 of a-z, 0-9 and -")
    said = {"id": given.name, "sub": given.subject or given.name, "roles": given.role or ["reader"]}
    if wrong := set(said["roles"]) - ROLES:
        raise InvalidArgument("--role", f"{min(wrong)} is none of {', '.join(sorted(ROLES))}")
    check_day(given.expires)
    more = {"labels": given.label, "topics": given.topic, "expires": given.expires}
    return said | {name: value for name, value in more.items() if value}


def check_day(text: str | None) -> None:
    """Raises InvalidArgument for what is no day."""
    try:
        date.fromisoformat(text or "0001-01-01")
    except ValueError:
        raise InvalidArgument("--expires", "must be a day, YYYY-MM-DD") from None


def added(path: Path, said: Mapping[str, Any]) -> str:
    """Adds a caller to the file, as a whole or not at all. Raises InvalidArgument for a name it has."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    keys = known.setdefault("keys", [])
    if any(one["id"] == said["id"] for one in keys):
        raise InvalidArgument("NAME", "is in the file already: take that entry out first")
    key = callers.made(said["id"])
    keys.append({**said, "sha256": callers.digest(key)})
    part = path.with_name(path.name + ".part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(known, out, indent=2)
        callers.Callers(part)  # what the service would refuse is not put in place
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    return key
