"""Watched files and pages that would become one document are refused before anything is read."""

from pathlib import Path

import pytest

from cli import arguments, kb_watch
from ingest.document import Metadata
from ingest.watch.sources import Folder, Page, Sources
from radrag.errors import InvalidArgument
from tests.cli import screens

ONE = Metadata(document_id="x", topic="safety")


def folder(path: Path, *files: str, known: Metadata = ONE) -> Folder:
    path.mkdir()
    for name in files:
        (path / name).write_text(name)
    return Folder(path, ("**/*",), known)


def test_the_files_of_a_folder_with_one_id_are_all_refused_and_the_others_are_looked_at(
    tmp_path: Path,
) -> None:
    shared = folder(tmp_path / "shared", "a.md", "b.md")
    usual = folder(tmp_path / "usual", "a.md", "b.md", known=Metadata(topic="safety"))
    missing = Folder(tmp_path / "missing", ("**/*",), ONE)
    left, refused = kb_watch.apart(Sources((shared, usual, missing)))
    assert left.folders == (usual, missing)
    first, second = ((tmp_path / "shared" / name).as_uri() for name in ("a.md", "b.md"))
    assert [(one.uri, one.what) for one in refused] == [(first, "failed"), (second, "failed")]
    assert refused[0].reason.startswith(f"id: x would be the id of {second} too; ")


def test_a_page_and_a_file_with_one_id_are_refused_a_file_alone_may_have_it(tmp_path: Path) -> None:
    alone, page = folder(tmp_path / "one", "a.md"), Page("https://example.org/a", ONE)
    assert kb_watch.apart(Sources((alone,))) == (Sources((alone,)), [])
    left, refused = kb_watch.apart(Sources((alone,), (page,)))
    assert (left, len(refused)) == (Sources(), 2)


async def test_sources_that_are_not_there_are_said_to_be_missing(tmp_path: Path) -> None:
    given = arguments.parsed(["kb", "watch", f"{tmp_path}/no.yaml"])
    with pytest.raises(InvalidArgument, match=f"SOURCES: there is no file {tmp_path}/no.yaml"):
        await kb_watch.run(given, screens.pipe(), {"RADRAG_HOME": str(tmp_path)})
