"""What RadRAG is measured beside reads the same documents."""

from pathlib import Path

from benchmarks import peers
from evaluation.datasets import Document
from gateway.questions import Rules
from ingest.document import Metadata
from ingest.identity import document_id_of
from radrag.assistant.v1 import assistant_pb2 as wire


def test_each_document_is_a_file_that_can_be_ingested(tmp_path: Path) -> None:
    held = [Document("7", "Lens", "The limit is 20 mSv."), Document("9", "Skin", "It is 500 mSv.")]
    files = peers.written(tmp_path / "documents", held)
    assert [file.name for file in files] == ["7.md", "9.md"]
    assert files[0].read_text(encoding="utf-8") == "# Lens\n\nThe limit is 20 mSv.\n"


def test_no_more_sources_are_asked_for_than_a_caller_may() -> None:
    asked = wire.SearchRequest(question="What?", limits=wire.Limits(sources=peers.SOURCES))
    assert Rules(("safety",)).read(asked).limits.sources == peers.SOURCES


def test_what_was_found_is_named_as_the_set_names_it(tmp_path: Path) -> None:
    (file,) = peers.written(tmp_path / "documents", [Document("7", "Lens", "The limit is 20 mSv.")])
    id_ = document_id_of(f"documents/{file.name}", Metadata())
    parents = [wire.RankedParent(document=wire.Document(document_id=name)) for name in (id_, "9.md", id_)]
    assert peers.named(parents) == ["7", "9"]
