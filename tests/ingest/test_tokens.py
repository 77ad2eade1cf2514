"""Tokens are counted as the embedder counts them, and any range is counted without encoding it again."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunk import ChunkLimits, chunk
from ingest.document import Document, Metadata
from ingest.tokens import TokenCounter, token_counter
from radrag.errors import FailedPrecondition
from tests.ingest.counting import counter

E5 = Path(__file__).parents[2] / "model_repository" / "e5_small" / "1" / "tokenizer.json"
WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=9)
)


@pytest.fixture(scope="module")
def e5() -> TokenCounter:
    if not E5.exists():
        pytest.skip("the embedder's tokenizer is not built yet: run `make models`")
    return token_counter(E5)


def saved(folder: Path, limits: object) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(counter().tokenizer.to_str())
    (folder / "limits.json").write_text(json.dumps(limits))
    return path


def test_a_tokenizer_is_read_with_its_room_and_hash(tmp_path: Path) -> None:
    found = token_counter(saved(tmp_path, {"content_tokens": {"document": 508}}))
    assert (found.room, found.count("abcd efghi!")) == (508, 4)
    assert len(found.sha256) == 64


@pytest.mark.parametrize("limits", [{}, {"content_tokens": {}}])
def test_a_tokenizer_without_its_limits_is_refused(tmp_path: Path, limits: object) -> None:
    with pytest.raises(FailedPrecondition, match=r"limits\.json"):
        token_counter(saved(tmp_path, limits))
    with pytest.raises(FailedPrecondition):
        token_counter(tmp_path / "missing.json")


@settings(max_examples=60)
@given(WORDS, st.data())
def test_a_range_between_words_has_as_many_tokens_as_its_text_alone(
    words: list[str], data: st.DataObject
) -> None:
    text = " ".join(words)
    starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == " "), len(text)]
    one, other = sorted((data.draw(st.sampled_from(starts)), data.draw(st.sampled_from(starts))))
    assert counter().ruler(text).count(one, other) == counter().count(text[one:other])


def test_the_embedders_tokenizer_is_additive_between_words_but_for_trailing_blanks(e5: TokenCounter) -> None:
    text = "Доза CTDIvol = 15 мГр; T2-ВИ, BI-RADS 4A.\n\n| a | b |\n|---|---|\n| 1 | 🩻 2 |\n" * 20
    ruler = e5.ruler(text)
    cuts = [0, *(at + 1 for at, letter in enumerate(text) if letter.isspace())]
    assert {e5.count(text[:at]) - ruler.count(0, at) for at in cuts[:200]} == {0, 1}


def test_children_fit_into_the_embedders_window(e5: TokenCounter) -> None:
    text = "# T\n\n" + "Компьютерная томография выполняется натощак. " * 400 + "рентгено" * 2000 + "\n"
    parents = chunk(Document("d", text, "T", "ru", Metadata(), "test"), e5, ChunkLimits())
    children = [child for parent in parents for child in parent.children]
    assert max(parent.tokens for parent in parents) <= 1800
    assert max(e5.count(child.text) for child in children) <= e5.room
    assert min(len(child.text) for child in children) >= 900
