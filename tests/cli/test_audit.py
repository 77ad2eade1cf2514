"""`radrag audit verify`, and what curators do on the command line."""

import getpass
import json
from pathlib import Path

import pytest

from cli import arguments
from cli.__main__ import run
from cli.audited import audited
from cli.exits import Exit
from radrag.errors import FailedPrecondition
from tests.audit.trails import filled, verify
from tests.cli.screens import err, out, pipe


def environ(home: Path) -> dict[str, str]:
    return {"RADRAG_HOME": str(home)}


async def test_it_says_which_chain_is_damaged_and_where(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    filled(folder, "gateway")
    filled(folder, "ingest")
    words = arguments.parsed(["audit", "verify"])
    one = pipe()
    assert await run(words, one, environ(tmp_path)) == Exit.OK
    assert out(one).count("whole") == 2
    path = folder / "ingest" / "00000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"number":3', b'"number":4', 1))
    one = pipe()
    assert await run(words, one, environ(tmp_path)) == Exit.FAILURE
    assert "ingest: line 5 was changed" in out(one)


async def test_without_a_trail_it_says_so(tmp_path: Path) -> None:
    one = pipe()
    assert await run(arguments.parsed(["audit", "verify"]), one, environ(tmp_path)) == Exit.NOT_FOUND
    assert "no audit trail" in err(one)


def test_a_curators_act_is_on_record_whatever_its_end(tmp_path: Path) -> None:
    with audited("kb approve", getpass.getuser(), environ(tmp_path)) as told:
        told.note("approved", ["a@1"])
    with pytest.raises(FailedPrecondition), audited("kb reject", getpass.getuser(), environ(tmp_path)):
        raise FailedPrecondition("it is published", "PUBLISHED")
    lines = (tmp_path / "audit" / "cli" / "00000001.jsonl").read_text().splitlines()
    done, refused = map(json.loads, lines[1:])
    assert (done["method"], done["documents"], done["outcome"]) == ("radrag kb approve", ["a@1"], "approved")
    assert (refused["method"], refused["code"]) == ("radrag kb reject", "FAILED_PRECONDITION")
    assert done["subject"] == getpass.getuser()
    assert verify(tmp_path / "audit")["cli"].faults == []
