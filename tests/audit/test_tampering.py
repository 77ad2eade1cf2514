"""What somebody with write access to the records can do to them, and that each of it is found.

Who can write the heads beside the chains as well needs only cut both alike: that a copy elsewhere shows.
"""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli import arguments
from cli.__main__ import run
from cli.exits import Exit
from radrag.audit import chain
from radrag.audit.chain import Link
from tests.audit.trails import faults, filled
from tests.cli.screens import pipe

Tampering = Callable[[Path, random.Random], None]


def first_file(folder: Path) -> Path:
    return folder / "gateway" / "00000001.jsonl"


def rewritten(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = first_file(folder)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def forged(records: list[dict[str, object]]) -> list[bytes]:
    """A chain whose own hashes are right throughout: all that is missing is the key."""
    lines, link = [], Link()
    for record in records:
        line, link = chain.sealed({k: v for k, v in record.items() if k not in chain.OWN}, link)
        lines.append(line)
    return lines


def edit_a_byte(folder: Path, chance: random.Random) -> None:
    text = bytearray(first_file(folder).read_bytes())
    at = chance.randrange(len(text))
    text[at] = chance.choice([byte for byte in range(32, 127) if byte != text[at]])
    first_file(folder).write_bytes(bytes(text))


def edit_a_field(folder: Path, chance: random.Random) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        at = chance.randrange(1, len(lines))
        lines[at] = json.dumps({**json.loads(lines[at]), "code": "INTERNAL"}).encode() + b"\n"
        return lines

    rewritten(folder, change)


def edit_and_seal_anew(folder: Path, chance: random.Random) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        records = [json.loads(line) for line in lines]
        records[chance.randrange(1, len(records))]["code"] = "INTERNAL"
        return forged(records)

    rewritten(folder, change)


def remove(folder: Path, chance: random.Random) -> None:
    rewritten(folder, lambda lines: [*lines[: (at := chance.randrange(len(lines)))], *lines[at + 1 :]])


def remove_and_seal_anew(folder: Path, chance: random.Random) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        records = [json.loads(line) for line in lines]
        del records[chance.randrange(1, len(records))]
        return forged(records)

    rewritten(folder, change)


def swap_records(folder: Path, chance: random.Random) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        one, other = chance.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
        return lines

    rewritten(folder, change)


def repeat(folder: Path, chance: random.Random) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        at = chance.randrange(len(lines))
        return [*lines[:at], lines[at], *lines[at:]]

    rewritten(folder, change)


def cut_off_records(folder: Path, chance: random.Random) -> None:
    rewritten(folder, lambda lines: lines[: chance.randrange(len(lines))])


def cut_off_bytes(folder: Path, chance: random.Random) -> None:
    path = first_file(folder)
    os.truncate(path, chance.randrange(path.stat().st_size))


def replace_the_file(folder: Path, chance: random.Random) -> None:
    """By a whole chain of the same process, made elsewhere with another key, without its heads."""
    other = folder.parent / "elsewhere"
    filled(other, records=chance.randrange(20, 40))
    shutil.copy(first_file(other), first_file(folder))


def replace_file_and_heads(folder: Path, chance: random.Random) -> None:
    other = folder.parent / "elsewhere"
    filled(other, records=chance.randrange(20, 40))
    shutil.copy(first_file(other), first_file(folder))
    shutil.copy(other / "heads" / "gateway.jsonl", folder / "heads" / "gateway.jsonl")


def swap_files(folder: Path, chance: random.Random) -> None:
    other = folder / "ingest" / "00000001.jsonl"
    aside = folder / "aside"
    first_file(folder).rename(aside)
    other.rename(first_file(folder))
    aside.rename(other)


def swap_files_and_heads(folder: Path, chance: random.Random) -> None:
    swap_files(folder, chance)
    aside = folder / "aside"
    (folder / "heads" / "gateway.jsonl").rename(aside)
    (folder / "heads" / "ingest.jsonl").rename(folder / "heads" / "gateway.jsonl")
    aside.rename(folder / "heads" / "ingest.jsonl")


def remove_the_chain(folder: Path, chance: random.Random) -> None:
    shutil.rmtree(folder / chance.choice(["gateway", "ingest"]))


def add_a_record(folder: Path, chance: random.Random) -> None:
    rewritten(folder, lambda lines: [*lines, json.dumps({"method": "Generate"}).encode() + b"\n"])


def change_a_head(folder: Path, chance: random.Random) -> None:
    path = folder / "heads" / "gateway.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = json.dumps({**json.loads(lines[at]), "n": chance.randrange(5)}) + "\n"
    path.write_text("".join(lines))


def cut_back_chain_and_heads(folder: Path, chance: random.Random) -> None:
    """To one and the same older head, and at times to the first, which vouches for the opening record."""
    path = folder / "heads" / "gateway.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    left = lines[: chance.randrange(1, len(lines))]
    path.write_bytes(b"".join(left))
    rewritten(folder, lambda records: records[: json.loads(left[-1])["n"] + 1])


def remove_chain_and_heads(folder: Path, chance: random.Random) -> None:
    process = chance.choice(["gateway", "ingest"])
    shutil.rmtree(folder / process)
    (folder / "heads" / f"{process}.jsonl").unlink()


# Those that the heads beside the chains cannot show.
UNSEEN: list[Tampering] = [cut_back_chain_and_heads, remove_chain_and_heads]
TAMPERINGS: list[Tampering] = [
    *UNSEEN, edit_a_byte, edit_a_field, edit_and_seal_anew, remove, remove_and_seal_anew, swap_records,
    repeat, cut_off_records, cut_off_bytes, replace_the_file, replace_file_and_heads, swap_files,
    swap_files_and_heads, remove_the_chain, add_a_record, change_a_head,
]  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    filled(folder, "gateway")
    filled(folder, "ingest", records=25)
    return folder


@pytest.fixture(scope="module")
def kept(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The heads as they were copied elsewhere, out of reach."""
    return Path(shutil.copytree(whole / "heads", tmp_path_factory.mktemp("elsewhere") / "heads"))


def test_a_trail_nobody_touched_is_whole(whole: Path, kept: Path) -> None:
    assert faults(whole) == []
    assert faults(whole, kept) == []


@pytest.mark.parametrize("number", range(100))
def test_every_one_of_100_random_tamperings_is_found(
    whole: Path, kept: Path, tmp_path: Path, number: int
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    chance = random.Random(number)
    tampering = TAMPERINGS[number % len(TAMPERINGS)]
    tampering(copy, chance)
    if tampering in UNSEEN:
        assert faults(copy) == [], "it is found without the copy: say so where the copy is asked for"
        assert faults(copy, kept), tampering.__name__
    else:
        assert faults(copy), tampering.__name__


@pytest.mark.parametrize("tampering", UNSEEN)
async def test_radrag_audit_verify_finds_by_the_copy_what_was_cut_with_its_heads(
    tmp_path: Path, tampering: Tampering
) -> None:
    folder, copied = tmp_path / "audit", tmp_path / "elsewhere"
    filled(folder, "gateway")
    filled(folder, "ingest")
    shutil.copytree(folder / "heads", copied)
    words = arguments.parsed(["audit", "verify", "--heads", str(copied)])
    environ = {"RADRAG_HOME": str(tmp_path)}
    assert await run(words, pipe(), environ) == Exit.OK
    tampering(folder, random.Random(1))
    assert await run(words, pipe(), environ) == Exit.FAILURE
