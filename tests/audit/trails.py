"""Audit trails for tests: opened in a folder, filled with obvious records, and checked."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cli.audit_check import Report, chains, checked
from radrag.audit import heads
from radrag.audit.journal import Journal, Plan


def plan(folder: Path, process: str = "gateway", **other: object) -> Plan:
    made = Plan(folder, folder / "heads", folder / "key.pem", process, head_every=7)
    return replace(made, **other)  # type: ignore[arg-type]


@contextmanager
def journal(wanted: Plan) -> Iterator[Journal]:
    one = Journal(wanted)
    try:
        yield one
    finally:
        one.close()


def filled(folder: Path, process: str = "gateway", records: int = 30, **other: object) -> None:
    with journal(plan(folder, process, **other)) as one:
        for number in range(records):
            one.append({"method": "Generate", "code": "OK", "number": number}).result(10)


def verify(folder: Path, kept: Path | None = None) -> dict[str, Report]:
    """By the heads beside the chains, or by a copy of them that was kept elsewhere."""
    signed = kept or folder / "heads"
    key = heads.public_key(signed / heads.PUBLIC)
    return {process: checked(folder, signed, process, key) for process in chains(folder, signed)}


def faults(folder: Path, kept: Path | None = None) -> list[str]:
    return [fault for report in verify(folder, kept).values() for fault in report.faults]
