"""A backup is all of it, whole, or refused; what was restored answers as before."""

import errno
import gzip
import io
import json
import os
import random
import shutil
import sqlite3
import tarfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import pytest

from cli import arguments, backup, backup_archive, backup_unpack
from cli.exits import Exit
from radrag.errors import FailedPrecondition, NotFound
from radrag.settings import Settings
from tests.audit import trails
from tests.cli import screens
from tests.ingest.knowledge import knowledge

QUESTION = "What is the lens dose limit a year?"


def parts_of(home: Path) -> dict[str, Path]:
    return {name: home / name for name in backup.PARTS}


def made(home: Path) -> Path:
    """A home with a bit of everything, and its backup."""
    (home / "index" / "edge").mkdir(parents=True)
    (home / "index" / "edge" / "segment").write_bytes(bytes(range(256)) * 40)
    (home / "uploads").mkdir()
    (home / "uploads" / "файл").write_text("text")
    trails.filled(home / "audit", records=20)
    for name in backup.DATABASES:
        with closing(sqlite3.connect(home / name)) as database:
            database.execute("CREATE TABLE t (a)")
            database.execute("INSERT INTO t VALUES (7)")
            database.commit()
    backup.create(home.parent / "backup.tar", parts_of(home))
    return home.parent / "backup.tar"


async def test_what_was_restored_answers_as_before(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    async with knowledge(old) as base:
        await base.all_the_way("lens", "# Lens\n\nThe lens dose limit is 20 a year.")
        found = await base.found(QUESTION)
    (old / "index").mkdir()
    for name in ("edge", "versions.sqlite"):
        (old / name).rename(old / "index" / name)
    backup.create(tmp_path / "backup.tar", parts_of(old))
    backup.restore(tmp_path / "backup.tar", parts_of(new))
    for name in ("edge", "versions.sqlite"):
        (new / "index" / name).rename(new / name)
    async with knowledge(new) as base:
        assert found
        assert await base.found(QUESTION) == found
        assert (await base.get("lens")).markdown.startswith("# Lens")


def test_every_file_comes_back_and_the_audit_trail_still_holds(tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    assert path.stat().st_mode & 0o077 == 0  # it holds what only we may read
    backup.restore(path, parts_of(tmp_path / "new"))
    for name in ("index/edge/segment", "uploads/файл"):
        assert (tmp_path / "new" / name).read_bytes() == (tmp_path / "home" / name).read_bytes()
    assert trails.faults(tmp_path / "new" / "audit") == []


def test_one_changed_byte_anywhere_is_found(tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    good, dice = path.read_bytes(), random.Random(7)
    end = len(good.rstrip(b"\0"))
    for _ in range(20):
        at = dice.randrange(end)
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :])
        try:
            contents = backup.verified(path)
        except FailedPrecondition:
            continue
        # A byte of padding, or of a time stamp with a fitting checksum, changes no file.
        path.write_bytes(good)
        assert contents == backup.verified(path), f"byte {at}"


@pytest.mark.parametrize("part", [0.0, 0.3, 0.7, 0.95])
def test_a_backup_that_was_cut_off_is_refused(part: float, tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    whole = path.read_bytes().rstrip(b"\0")
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(FailedPrecondition, match="cannot be used"):
        backup.verified(path)


def test_a_record_taken_out_of_the_audit_trail_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made(home).unlink()
    (segment,) = (home / "audit" / "gateway").glob("*.jsonl")
    lines = segment.read_text().splitlines(keepends=True)
    segment.write_text("".join(lines[:5] + lines[6:]))
    with pytest.raises(FailedPrecondition, match="audit trail is not whole"):
        backup.create(tmp_path / "backup.tar", parts_of(home))


def stranger(name: str, kind: bytes = tarfile.REGTYPE) -> Callable[[tarfile.TarFile], None]:
    def add(archive: tarfile.TarFile) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        member.size = 3 if kind == tarfile.REGTYPE else 0
        archive.addfile(member, io.BytesIO(b"bad"))

    return add


@pytest.mark.parametrize(
    "add",
    [
        stranger("../escaped"), stranger("/tmp/escaped"), stranger("extra"), stranger("a/../../b"),
        stranger("link", tarfile.SYMTYPE), stranger("hard", tarfile.LNKTYPE),
        stranger("dev", tarfile.CHRTYPE),
    ],
)  # fmt: skip
def test_what_the_manifest_lacks_is_refused_and_nothing_is_written_outside(
    add: Callable[[tarfile.TarFile], None], tmp_path: Path
) -> None:
    path = tmp_path / "evil.tar"
    said = json.dumps({"format": 1, "files": {"../escaped": "0" * 64, "link": "0" * 64}}).encode()
    with tarfile.open(path, "w") as archive:
        head = tarfile.TarInfo("manifest.json")
        head.size = len(said)
        archive.addfile(head, io.BytesIO(said))
        add(archive)
    with pytest.raises(FailedPrecondition, match="its manifest lacks"):
        backup.restore(path, parts_of(tmp_path / "inner" / "home"))
    assert not list(tmp_path.rglob("escaped"))


def test_a_full_disk_leaves_nothing_that_looks_like_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "home")
    path.unlink()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        backup.create(path, parts_of(tmp_path / "home"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    with pytest.raises(FailedPrecondition, match="empty home"):
        backup.restore(path, parts_of(tmp_path / "home"))
    with pytest.raises(FailedPrecondition, match="exists"):
        backup.create(path, parts_of(tmp_path / "home"))


def test_state_on_a_server_is_named_and_not_left_out_in_silence() -> None:
    with pytest.raises(FailedPrecondition, match="RADRAG_CATALOGUE_URL"):
        backup.refuse_what_is_elsewhere(Settings(catalogue_url="postgresql://db/radrag"))


async def test_the_command_line_says_what_the_backup_holds(tmp_path: Path) -> None:
    path, screen = made(tmp_path / "home"), screens.pipe()
    given = arguments.parsed(["backup", "restore", str(path)])
    assert await backup.run(given, screen, {"RADRAG_HOME": str(tmp_path / "new")}) == Exit.OK
    assert f"{len(backup_archive.read(path, tmp_path / 'read').files)} files" in screens.out(screen)


def test_a_backup_is_read_back_once_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen, read = made(tmp_path / "home"), list[Path](), backup_archive.read
    path.unlink()

    def noting(one: Path, into: Path) -> backup_archive.Contents:
        assert not path.exists()
        seen.append(one)
        return read(one, into)

    monkeypatch.setattr(backup_archive, "read", noting)
    backup.create(path, parts_of(tmp_path / "home"))
    assert len(seen) == 1
    assert path.exists()


def plain(path: Path) -> Path:
    """The same backup as it was written before backups were compressed."""
    old = path.with_name("plain.tar")
    old.write_bytes(gzip.decompress(path.read_bytes()))
    return old


def test_a_log_that_is_mostly_a_hole_costs_little_and_comes_back_with_its_bytes_and_its_hole(
    tmp_path: Path,
) -> None:
    made(tmp_path / "home").unlink()
    log = tmp_path / "home" / "index" / "edge" / "wal"
    log.write_bytes(random.Random(7).randbytes(5000))
    os.truncate(log, 32 << 20)
    path = tmp_path / "backup.tar"
    backup.create(path, parts_of(tmp_path / "home"))
    assert path.stat().st_size < 300_000
    backup.restore(path, parts_of(tmp_path / "new"))
    back = tmp_path / "new" / "index" / "edge" / "wal"
    assert back.read_bytes() == log.read_bytes()
    assert back.stat().st_blocks * 512 < 1 << 20


def test_a_backup_from_before_they_were_compressed_is_verified_and_restored(tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    old = plain(path)
    assert old.read_bytes().startswith(b"manifest.json")
    assert backup.verified(old) == backup.verified(path)
    backup.restore(old, parts_of(tmp_path / "new"))
    assert (tmp_path / "new" / "uploads" / "файл").read_text() == "text"


def test_the_same_home_gives_the_same_backup_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(tmp_path / "home")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    backup.create(tmp_path / "again.tar", parts_of(tmp_path / "home"))
    assert (tmp_path / "again.tar").read_bytes() == first.read_bytes()


def test_a_small_file_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "home").unlink()
    (tmp_path / "home" / "uploads" / "much").write_bytes(b"1" * (8 << 20))
    path = tmp_path / "backup.tar"
    backup.create(path, parts_of(tmp_path / "home"))
    assert path.stat().st_size < 1 << 20
    little = SimpleNamespace(free=backup_unpack.LEFT_FREE + (4 << 20))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: little)
    with pytest.raises(FailedPrecondition, match="room for"):
        backup.restore(path, parts_of(tmp_path / "new"))
    assert not list((tmp_path / "new").iterdir())


def test_a_header_that_is_long_only_when_unpacked_is_refused(tmp_path: Path) -> None:
    head = tarfile.TarInfo("pax")
    head.type, head.size = tarfile.XHDTYPE, 4 << 30
    path = tmp_path / "evil.tar"
    path.write_bytes(gzip.compress(head.tobuf()))
    with pytest.raises(FailedPrecondition, match="too long"):
        backup.verified(path)


def test_a_backup_without_the_checksum_at_its_end_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(FailedPrecondition, match="cannot be used"):
        backup.verified(path)


@pytest.mark.parametrize("action", ["verify", "restore"])
async def test_no_such_backup_is_said_with_its_name(action: str, tmp_path: Path) -> None:
    given = arguments.parsed(["backup", action, str(tmp_path / "no" / "such.tar")])
    with pytest.raises(NotFound, match=r"no/such\.tar: there is no such file"):
        await backup.run(given, screens.pipe(), {"RADRAG_HOME": str(tmp_path / "new")})


async def test_a_folder_that_is_not_there_is_said_with_its_name(tmp_path: Path) -> None:
    made(tmp_path / "home")
    given = arguments.parsed(["backup", "create", str(tmp_path / "no" / "such.tar")])
    with pytest.raises(FailedPrecondition, match=r"no/such\.tar.*: No such file or directory"):
        await backup.run(given, screens.pipe(), {"RADRAG_HOME": str(tmp_path / "home")})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"%PDF-1.7" * 200, "no backup of RadRAG"),
        (gzip.compress(b"%PDF-1.7" * 200), "no backup of RadRAG"),
        (tarfile.TarInfo("a").tobuf() + bytes(1024), "no backup of RadRAG"),
    ],
)
def test_what_is_no_backup_is_named_as_such(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "other.tar"
    path.write_bytes(data)
    with pytest.raises(FailedPrecondition, match=rf"other\.tar cannot be used: .*{said}"):
        backup.verified(path)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("old", [True, False])
def test_a_backup_that_was_cut_off_is_called_so(part: float, old: bool, tmp_path: Path) -> None:
    path = made(tmp_path / "home")
    path = plain(path) if old else path
    whole = path.read_bytes().rstrip(b"\0")
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(FailedPrecondition, match=rf"{path.name} cannot be used: it is cut off"):
        backup.verified(path)


def overwrites(home: Path) -> None:
    (home / "index" / "edge" / "segment").write_bytes(b"other" * 2048)


def shortens(home: Path) -> None:
    os.truncate(home / "index" / "edge" / "segment", 100)


def removes(home: Path) -> None:
    (home / "index" / "edge" / "segment").unlink()


def adds(home: Path) -> None:
    (home / "index" / "edge" / "another").write_text("new")


@pytest.mark.parametrize("writes", [overwrites, shortens, removes, adds])
def test_somebody_who_writes_meanwhile_is_said_to(
    writes: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = made(tmp_path / "home"), backup_archive._write
    path.unlink()

    def beside(out: BinaryIO, files: Mapping[str, Path], wanted: Mapping[str, str]) -> None:
        writes(tmp_path / "home")
        write(out, files, wanted)

    monkeypatch.setattr(backup_archive, "_write", beside)
    with pytest.raises(FailedPrecondition, match=r"index/edge/\w+ changed .* stop the services and every"):
        backup.create(path, parts_of(tmp_path / "home"))
    assert [one.name for one in tmp_path.iterdir()] == ["home"]


@pytest.mark.parametrize("name", backup.DATABASES)
def test_a_database_that_was_not_closed_comes_back_whole_without_its_shared_memory(
    name: str, tmp_path: Path
) -> None:
    made(tmp_path / "home").unlink()
    with closing(sqlite3.connect(tmp_path / "home" / name)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("INSERT INTO t VALUES (8)")
        database.commit()
        contents = backup.create(tmp_path / "backup.tar", parts_of(tmp_path / "home"))
    assert {one for one in contents.files if one.startswith(f"{name}-")} == {f"{name}-wal"}
    backup.restore(tmp_path / "backup.tar", parts_of(tmp_path / "new"))
    with closing(sqlite3.connect(tmp_path / "new" / name)) as database:
        assert database.execute("SELECT a FROM t").fetchall() == [(7,), (8,)]
