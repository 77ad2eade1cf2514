"""A key is shown once, opens, and stands in the file as a hash only."""

import re
from pathlib import Path

import pytest

from cli import arguments, key
from cli.exits import Exit
from radrag.access.callers import Callers
from radrag.errors import InvalidArgument
from radrag.settings import SettingError
from tests.cli import screens


async def made(path: Path, *words: str) -> str:
    screen = screens.pipe()
    given = arguments.parsed(["key", *words, "--file", str(path)])
    assert await key.run(given, screen, {}) == Exit.OK
    return screens.out(screen).strip()


async def test_a_key_opens_for_what_was_said_and_is_kept_as_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "callers.json"
    one = await made(path, "pacs", "--role", "reader", "--topic", "safety", "--label", "icu")
    two = await made(path, "lead", "--role", "curator", "--role", "admin", "--subject", "anna")
    callers = Callers(path)
    assert callers.by_key(one).topics == {"safety"}
    assert (callers.by_key(two).subject, callers.by_key(two).roles) == (
        "anna",
        frozenset({"curator", "admin"}),
    )
    assert path.stat().st_mode & 0o077 == 0
    assert not {one, two} & set(path.read_text().split('"'))


async def test_the_readmes_line_works_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    \$ \.venv/bin/radrag (key .*?) *#", readme, re.MULTILINE)
    (tmp_path / "var").mkdir()
    monkeypatch.chdir(tmp_path)
    assert await key.run(arguments.parsed(line.split()), screens.pipe(), {}) == Exit.OK


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["pacs"], "NAME"), (["Über"], "NAME"), (["other", "--role", "root"], "--role"),
        (["other", "--expires", "tomorrow"], "--expires: must be a day, YYYY-MM-DD"),
    ],
)  # fmt: skip
async def test_a_bad_key_is_refused_and_the_file_stays(words: list[str], field: str, tmp_path: Path) -> None:
    path = tmp_path / "callers.json"
    await made(path, "pacs")
    before = path.read_text()
    with pytest.raises(InvalidArgument, match=field):
        await made(path, *words)
    assert path.read_text() == before


async def test_what_the_service_would_refuse_is_not_put_in_place(tmp_path: Path) -> None:
    path = tmp_path / "callers.json"
    with pytest.raises(SettingError):
        await made(path, "pacs", "--label", "two words")
    assert not path.exists()
    assert not path.with_name("callers.json.part").exists()
