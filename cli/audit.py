"""`radrag audit verify`: whether the audit trail is complete and as it was written."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from cli import places
from cli.audit_check import Report, chains, checked
from cli.exits import Exit
from cli.terminal import Terminal
from radrag.audit import heads, opening
from radrag.errors import NotFound
from radrag.settings import SettingError, Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 0 when every chain is whole, 1 when one is not."""
    settings = Settings.from_environ(environ)
    home = places.home(settings, environ)
    folder = given.folder or home / opening.FOLDER
    exported = given.heads or opening.below(home, settings.audit_heads)
    reports = _reports(folder, exported, given.key or exported / heads.PUBLIC)
    if given.json:
        screen.json([asdict(one) | {"unsigned": one.unsigned} for one in reports])
    else:
        _show(screen, reports)
    return Exit.FAILURE if any(one.faults for one in reports) else Exit.OK


def _reports(folder: Path, exported: Path, key_file: Path) -> list[Report]:
    found = chains(folder, exported)
    if not found:
        raise NotFound(f"no audit trail in {folder}")
    try:
        key = heads.public_key(key_file)
    except (OSError, ValueError) as error:
        raise SettingError(f"--key: {key_file} cannot be used: {error}") from None
    return [checked(folder, exported, process, key) for process in found]


def _show(screen: Terminal, reports: list[Report]) -> None:
    rows = [
        (one.process, str(one.records), str(one.unsigned), "DAMAGED" if one.faults else "whole")
        for one in reports
    ]
    screen.table(("chain", "records", "after last head", "state"), rows)
    for one in reports:
        for fault in one.faults:
            screen.text(f"{one.process}: {fault}")
