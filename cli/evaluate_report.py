"""`radrag eval report`: results of measurements (`--json`) as one HTML and one Markdown file with figures."""

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from cli.evaluate_sections import KINDS, Values
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation.jsonl import DatasetError
from evaluation.report_page import Section, as_html, as_markdown


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Writes report.html and report.md, and the figures, into a folder."""
    given.out.mkdir(parents=True, exist_ok=True)
    sections = [_section(path, number, given.out) for number, path in enumerate(given.results, 1)]
    (given.out / "report.md").write_text(as_markdown(given.title, sections), encoding="utf-8")
    (given.out / "report.html").write_text(as_html(given.title, sections), encoding="utf-8")
    screen.text(f"{given.out / 'report.html'}, {given.out / 'report.md'}")
    return Exit.OK


def _section(path: Path, number: int, out: Path) -> Section:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        made = KINDS[values["kind"]]
        return made(values, out / f"{number}-{path.stem}", _facts(path, values))
    except OSError:
        raise DatasetError(path, 0, "is missing") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        kinds = ", ".join(KINDS)
        raise DatasetError(path, 0, f"is no result of eval {kinds} with --json ({error!r})") from None


def _facts(path: Path, values: Values) -> dict[str, str]:
    """Where the figures come from: hashes of data, settings and result, day, commit, machine, command."""
    names = ("data_sha256", "settings_sha256", "study", "seed", "judge", "day", "commit")
    facts = {
        name: str(values[name])
        for name in names
        if isinstance(values.get(name), str | int) and values[name] != ""
    }
    facts["result_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if machine := values.get("machine"):
        facts["machine"] = f"{machine['processor']}, {machine['cores']} cores"
    return facts | {"redo": str(values["command"])}
