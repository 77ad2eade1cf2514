"""Every RADRAG_ setting stands in the one table, and the table is what the processes use."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from cli import settings_table
from radrag.settings import SettingError, Settings, variable

ROOT = Path(__file__).parent.parent
PLACES = ["radrag", "gateway", "retrieval", "ingest", "evaluation", "cli", "benchmarks", "deploy", "samples"]
PROCESSES = {"all", "gateway", "retrieval", "ingest", "cli"}
KNOWN = {variable(one) for one in fields(Settings)}


def texts() -> dict[str, str]:
    kinds = ("*.py", "*.sh", "*.yaml", "*.yml", "*.md")
    files = [file for place in PLACES for kind in kinds for file in (ROOT / place).rglob(kind)]
    files += [ROOT / "Makefile", *ROOT.glob("*.md")]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_every_variable_named_anywhere_is_a_setting() -> None:
    """Code, deployment and documents name none that nobody reads; RADRAG_TEST_ belongs to the tests."""
    for file, text in texts().items():
        for name in re.findall(r"RADRAG_[A-Z][A-Z0-9_]*[A-Z0-9]", text):
            family = any(known.startswith(name) for known in KNOWN)  # written as RADRAG_X_*
            assert family or name.startswith("RADRAG_TEST"), f"{file} names {name}"


@pytest.mark.parametrize("setting", fields(Settings), ids=lambda one: one.name)
def test_a_setting_says_who_reads_it_and_what_it_means(setting: "object") -> None:
    metadata = setting.metadata  # type: ignore[attr-defined]
    assert set(metadata["processes"].split()) <= PROCESSES
    assert metadata["meaning"].endswith(".")


def test_every_setting_is_used() -> None:
    users = "\n".join(text for file, text in texts().items() if not file.startswith("radrag/settings"))
    unused = {one.name for one in fields(Settings) if not re.search(rf"\.{one.name}\b", users)}
    assert unused == set()


def test_values_are_read_by_their_type() -> None:
    given = {
        "RADRAG_HOME": "/srv/radrag",
        "RADRAG_REFLECTION": "true",
        "RADRAG_SOURCES": "3",
        "RADRAG_EMBED_SECONDS": "2.5",
        "RADRAG_TOPICS": "safety, physics",
    }
    found = Settings.from_environ(given | {"PATH": "/bin"})
    assert (found.home, found.reflection, found.sources) == (Path("/srv/radrag"), True, 3)
    assert (found.embed_seconds, found.topics) == (2.5, ("safety", "physics"))


def test_an_unknown_name_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(SettingError, match="did you mean RADRAG_SOURCES"):
        Settings.from_environ({"RADRAG_SORCES": "3"})


@pytest.mark.parametrize(
    ("name", "text"), [("RADRAG_SOURCES", "many"), ("RADRAG_REFLECTION", "yes"), ("RADRAG_TOP_P", "")]
)
def test_a_value_of_the_wrong_type_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(SettingError, match=name):
        Settings.from_environ({name: text})


def test_the_table_that_people_read_is_the_codes() -> None:
    """Wherever a document has the table it is the current one: python -m cli.settings_table."""
    current = settings_table.lines()
    assert len(current) == len(fields(Settings)) + 2
    for file, text in texts().items():
        found = [line for line in text.splitlines() if line.startswith("| `RADRAG_")]
        assert not found or found == current[2:], f"{file} has another table of settings"
