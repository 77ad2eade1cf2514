"""`radrag doctor`: names everything this machine lacks, in one go, with what to do about it."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain

from cli import checks, places, services
from cli.checks import Finding
from cli.exits import Exit
from cli.machine import Machine
from cli.model_environment import ModelEnvironment
from cli.terminal import Terminal
from radrag.settings import SettingError, Settings

EMBEDDER = places.MODEL_REPOSITORY / "e5_small"


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 1 when anything is missing."""
    return report(examine(Machine(), environ), screen, given.json)


def examine(machine: Machine, environ: Mapping[str, str]) -> list[Finding]:
    """Everything looked at; a wrong setting is a finding and the defaults are looked at in its place."""
    settings, wrong = _settings(environ)
    home = places.home(settings, environ)
    single = [
        checks.platform(machine),
        checks.python(machine),
        checks.libpython(machine),
        checks.models_environment(machine, ModelEnvironment().triton / "bin" / "tritonserver"),
        checks.memory(machine),
        checks.disk(machine, home),
        checks.shared_memory(machine),
        checks.home(machine, home),
        checks.font(machine, places.FONT),
        checks.tesseract(machine, settings.ocr_languages),
    ]
    several = (
        list(checks.packages(machine)) or [Finding("packages", "all installed")],
        list(checks.weights(machine, EMBEDDER)) or [Finding("weights", "as pinned by their hashes")],
        _ports(machine, settings, environ) or [Finding("ports", "free, or held by these services")],
    )
    return [*wrong, *single, *chain.from_iterable(several)]


def _settings(environ: Mapping[str, str]) -> tuple[Settings, list[Finding]]:
    try:
        return Settings.from_environ(environ), []
    except SettingError as error:
        return Settings(), [Finding("settings", str(error), "correct the variable")]


def _ports(machine: Machine, settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    try:
        profile = services.profile(settings, environ)
    except ValueError as error:
        return [Finding("settings", str(error), "correct the address")]
    ours = [port for service in profile.services if not service.child.running() for port in service.ports]
    return list(checks.free_ports(machine, ours))


def report(findings: list[Finding], screen: Terminal, as_json: bool) -> int:
    """Prints the findings, the faults last, and returns the status."""
    faults = checks.faults(findings)
    if as_json:
        screen.json([asdict(finding) | {"good": finding.good} for finding in findings])
        return Exit.FAILURE if faults else Exit.OK
    for finding in sorted(findings, key=lambda one: not one.good):
        screen.text(f"{'ok     ' if finding.good else 'MISSING'} {finding.name}: {finding.detail}")
        if finding.cure:
            screen.text(f"→ {finding.cure}", indent=8)
    screen.text(f"{len(faults)} of {len(findings)} need attention" if faults else "all is there")
    return Exit.FAILURE if faults else Exit.OK
