"""A chain on the disk: durable before it says so, continued after a kill, and never written by two."""

import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cli.places import ROOT
from radrag.audit import segments
from radrag.audit.journal import Journal
from radrag.errors import Unavailable
from tests.audit.trails import faults, filled, journal, plan, verify


def test_a_chain_goes_on_where_it_ended(tmp_path: Path) -> None:
    filled(tmp_path, records=3)
    filled(tmp_path, records=4)
    report = verify(tmp_path)["gateway"]
    assert (report.records, report.unsigned, report.faults) == (8, 0, [])


@pytest.mark.parametrize("records", [0, 3, 7])
def test_a_process_that_starts_and_stops_without_a_call_leaves_a_whole_chain(
    tmp_path: Path, records: int
) -> None:
    filled(tmp_path, records=records)
    for _ in range(3):
        filled(tmp_path, records=0)
    report = verify(tmp_path)["gateway"]
    assert (report.records, report.unsigned, report.faults) == (records + 1, 0, [])


def test_a_chain_set_aside_with_its_heads_makes_way_for_a_new_one(tmp_path: Path) -> None:
    """As the runbook says; without its heads it is missed."""
    filled(tmp_path, records=9)
    (tmp_path / "gateway").rename(tmp_path.parent / "evidence")
    filled(tmp_path, records=2)
    assert any("another chain" in fault for fault in faults(tmp_path))
    shutil.rmtree(tmp_path / "gateway")
    (tmp_path / "heads" / "gateway.jsonl").rename(tmp_path.parent / "evidence.jsonl")
    filled(tmp_path, records=2)
    assert faults(tmp_path) == []


def test_a_chain_is_vouched_for_from_its_first_record_on(tmp_path: Path) -> None:
    """A process that has just started is not damaged for want of a head."""
    with journal(plan(tmp_path)) as one:
        report = verify(tmp_path)["gateway"]
        assert (report.records, report.unsigned, report.faults) == (1, 0, [])
        one.append({}).result(10)
        assert (verify(tmp_path)["gateway"].unsigned, faults(tmp_path)) == (1, [])


def test_a_record_is_in_the_file_when_its_future_ends(tmp_path: Path) -> None:
    with journal(plan(tmp_path)) as one:
        one.append({"method": "Generate", "mark": "here"}).result(10)
        assert b'"mark":"here"' in (tmp_path / "gateway" / "00000001.jsonl").read_bytes()


@pytest.mark.parametrize(("sync", "syncs"), [("always", 5), ("second", 1), ("never", 0)])
def test_records_are_synced_as_the_policy_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: str, syncs: int
) -> None:
    with journal(plan(tmp_path, sync=sync)) as one:
        seen: list[int] = []
        monkeypatch.setattr(os, "fdatasync", seen.append)
        for _ in range(5):
            one.append({"method": "Generate"}).result(10)
        assert len(seen) == syncs


def test_with_a_sync_a_second_the_last_record_is_synced_too_though_none_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = threading.Event()
    with journal(plan(tmp_path, sync="second")) as one:
        one.append({"method": "Generate"}).result(10)  # the first of a second is synced at once
        monkeypatch.setattr(os, "fdatasync", lambda file: synced.set())
        one.append({"method": "Generate"}).result(10)
        assert not synced.is_set()
        assert synced.wait(10)


def test_the_line_a_killed_process_left_unfinished_is_taken_off(tmp_path: Path) -> None:
    filled(tmp_path, records=3)
    with (tmp_path / "gateway" / "00000001.jsonl").open("ab") as opened:
        opened.write(b'{"n":4,"prev')
    with journal(plan(tmp_path)) as one:
        assert one.torn == 12
        one.append({"method": "Generate"}).result(10)
    assert faults(tmp_path) == []


def test_a_chain_is_one_processs_at_a_time(tmp_path: Path) -> None:
    with journal(plan(tmp_path)), pytest.raises(BlockingIOError):
        Journal(plan(tmp_path))


def test_a_full_disk_fails_the_record_and_leaves_the_chain_whole(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk: the write comes up short, and then raises."""
    with journal(plan(tmp_path)) as one:
        one.append({"method": "Generate"}).result(10)
        size = (tmp_path / "gateway" / "00000001.jsonl").stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
        try:
            with pytest.raises(Unavailable) as failed:
                one.append({"method": "Generate"}).result(10)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert failed.value.reason == "AUDIT_UNAVAILABLE"
        one.append({"method": "Generate"}).result(10)
    assert faults(tmp_path) == []


def test_a_head_that_cannot_be_exported_fails_no_record_and_is_tried_again(tmp_path: Path) -> None:
    with journal(plan(tmp_path, head_every=1)) as one:
        exported = tmp_path / "heads" / "gateway.jsonl"
        aside = exported.rename(tmp_path / "aside")
        exported.mkdir()
        one.append({"method": "Generate"}).result(10)
        exported.rmdir()
        aside.rename(exported)
        one.append({"method": "Generate"}).result(10)
    report = verify(tmp_path)["gateway"]
    assert (report.unsigned, report.faults) == (0, [])


@pytest.mark.parametrize("left", [b'{"at":"2026', b"\n"])
def test_what_a_crash_left_of_a_head_spoils_no_later_one(tmp_path: Path, left: bytes) -> None:
    filled(tmp_path, records=8)
    exported = tmp_path / "heads" / "gateway.jsonl"
    whole = exported.read_bytes()
    exported.write_bytes(whole + left.strip())
    filled(tmp_path, records=8)
    assert exported.read_bytes().startswith(whole)
    assert faults(tmp_path) == []


def test_a_head_for_which_the_disk_has_no_room_is_left_out_whole(tmp_path: Path) -> None:
    """A limit on a file's size stands for it; the heads are made the larger file, so that they meet it."""
    with journal(plan(tmp_path, head_every=1)) as one:
        for _ in range(20):
            one.append({}).result(10)
        exported = tmp_path / "heads" / "gateway.jsonl"
        sizes = exported.stat().st_size, (tmp_path / "gateway" / "00000001.jsonl").stat().st_size
        assert sizes[0] > sizes[1] + 200
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[0] + 20, hard))
        try:
            one.append({}).result(10)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert exported.stat().st_size == sizes[0]
        one.append({}).result(10)
    report = verify(tmp_path)["gateway"]
    assert (report.unsigned, report.faults) == (0, [])


WRITER = """
import sys
from pathlib import Path
from radrag.audit.journal import Journal
from tests.audit.trails import plan
one = Journal(plan(Path(sys.argv[1])))
number = 0
while True:
    number += 1
    one.append({"number": number}).result()
    print(number, flush=True)
"""


def test_a_writer_killed_at_any_moment_loses_no_record_that_it_told_of(tmp_path: Path) -> None:
    """kill -9 three times over, each at another moment; the chain goes on and is whole."""
    told = 0
    for moment in (0.0, 0.03, 0.11):
        line = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            first = writer.stdout.readline()
            time.sleep(moment)
            writer.kill()
            told += len([first, *writer.stdout.readlines()])
    filled(tmp_path, records=1)
    report = verify(tmp_path)["gateway"]
    assert (report.unsigned, report.faults) == (0, [])
    assert report.records >= told + 2  # and the opening one, and the one added since


def test_an_unforeseen_failure_reaches_who_waits_and_the_next_record_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise RuntimeError

    with journal(plan(tmp_path)) as one:
        with monkeypatch.context() as broken:
            broken.setattr(segments.Segments, "append", failing)
            with pytest.raises(Unavailable):
                one.append({"method": "Generate"}).result(10)
        one.append({"method": "Generate"}).result(10)
    assert faults(tmp_path) == []


def test_a_file_changed_under_a_running_process_fails_the_next_record(tmp_path: Path) -> None:
    with journal(plan(tmp_path)) as one:
        one.append({"method": "Generate"}).result(10)
        os.truncate(tmp_path / "gateway" / "00000001.jsonl", 50)
        with pytest.raises(Unavailable):
            one.append({"method": "Generate"}).result(10)


def test_a_chain_grows_over_several_files_and_a_missing_one_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MEGABYTES", 0)  # every record begins a file
    filled(tmp_path, records=5)
    files = segments.files(tmp_path / "gateway")
    assert [path.name for path in files] == [f"{number:08}.jsonl" for number in range(1, 7)]
    filled(tmp_path, records=2)
    assert faults(tmp_path) == []
    files[2].unlink()
    assert any("00000003.jsonl" in fault for fault in faults(tmp_path))


def test_the_key_is_for_its_owner_only(tmp_path: Path) -> None:
    filled(tmp_path, records=1)
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600


def test_equal_texts_have_equal_hashes_under_one_key_only(tmp_path: Path) -> None:
    with journal(plan(tmp_path / "one")) as one, journal(plan(tmp_path / "two")) as two:
        assert one.keyed("dose") == one.keyed("dose") != one.keyed("doses")
        assert one.keyed("dose") != two.keyed("dose")
