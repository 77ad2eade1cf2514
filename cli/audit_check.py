"""Checks a chain of audit records against itself and against its signed heads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from radrag.audit import chain, heads, segments
from radrag.audit.chain import Fault, Link


@dataclass
class Report:
    """What a chain holds, up to which record its newest good head vouches for it, and what is wrong."""

    process: str
    records: int = 0
    signed: int = -1
    faults: list[str] = field(default_factory=list)

    @property
    def unsigned(self) -> int:
        """Records after the newest head: these could be cut off unseen until the next one is signed."""
        return max(0, self.records - 1 - self.signed)


def chains(folder: Path, exported: Path) -> list[str]:
    """The processes that have a chain, or a head that says they had one.

    Heads that lie beside the chains are no chain, also when those in use are a copy from elsewhere.
    """
    there = {path.name for path in folder.glob("*") if path.is_dir() and not (path / heads.PUBLIC).exists()}
    return sorted(there | {path.stem for path in exported.glob("*.jsonl")})


def checked(folder: Path, exported: Path, process: str, key: Ed25519PublicKey) -> Report:
    """Everything there is to say about one chain. Raises OSError when it cannot be read."""
    report = Report(process)
    hashes = _records(folder / process, report)
    opening = _opening(folder / process)
    if hashes and opening.get("process") != process:
        report.faults.append("its first record is not this process's: another chain stands in its place")
    if _gap(folder / process):
        report.faults.append("a file is missing: " + _gap(folder / process))
    _heads(exported / f"{process}.jsonl", str(opening.get("chain", "")), hashes, key, report)
    return report


def _records(folder: Path, report: Report) -> dict[int, str]:
    """Number → hash of every record that is as it was written."""
    hashes: dict[int, str] = {}
    for found in chain.faults(segments.lines(folder)):
        report.records += 1
        if isinstance(found, Fault):
            report.faults.append(f"line {found.line} {found.what}")
        elif isinstance(found, Link):
            hashes[found.n] = found.hash
    return hashes


def _opening(folder: Path) -> dict[str, Any]:
    try:
        return chain.record_of(next(segments.lines(folder), b""))
    except ValueError:
        return {}


def _gap(folder: Path) -> str:
    names = [path.name for path in segments.files(folder)]
    expected = [f"{number:08}.jsonl" for number in range(1, len(names) + 1)]
    return next((want for want, name in zip(expected, names, strict=True) if want != name), "")


def _heads(path: Path, chain_id: str, hashes: dict[int, str], key: Ed25519PublicKey, report: Report) -> None:
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if not lines:
        report.faults.append("it has no signed head")
    for number, line in enumerate(lines, 1):
        head = heads.opened(line, key)
        for what in _against(head, chain_id, hashes, report):
            report.faults.append(f"head {number}: {what}")


def _against(
    head: dict[str, Any] | None, chain_id: str, hashes: dict[int, str], report: Report
) -> Iterator[str]:
    if head is None:
        yield "it is not what was signed, or another key signed it"
        return
    if (head["process"], head["chain"]) != (report.process, chain_id):
        yield "it is of another chain: this one was replaced, or the head was"
    elif head["n"] not in hashes:
        yield f"record {head['n']}, which it vouches for, is missing or was changed"
    elif hashes[head["n"]] != head["hash"]:
        yield f"record {head['n']} is another than the one it vouches for"
    elif head["n"] < report.signed:
        yield "it is older than the head before it"
    else:
        report.signed = head["n"]
