"""FRIDA's prefixes and special tokens: the two things that go wrong without any error."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from frida_tokens import PREFIXES, FridaTokenizer, WrongTokenizer

from tests.model_repository.tiny_models import frida_tokenizer

Content = dict[str, object]
CLS = {"SpecialToken": {"id": "<s>", "type_id": 0}}
SEP = {"SpecialToken": {"id": "</s>", "type_id": 0}}
TEXT = {"Sequence": {"id": "A", "type_id": 0}}
SPECIALS = {
    "<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]},
    "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]},
}


def template(*single: object) -> Content:
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}]
    return {"type": "TemplateProcessing", "single": list(single), "pair": pair, "special_tokens": SPECIALS}


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[Content | None], Path]:
    def save(processor: Content | None) -> Path:
        content = json.loads(frida_tokenizer().to_str()) | {"post_processor": processor}
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return save


@pytest.fixture
def tokenizer(tmp_path: Path) -> FridaTokenizer:
    path = tmp_path / "tokenizer.json"
    frida_tokenizer().save(str(path))
    return FridaTokenizer.load(path)


def test_prefixes_are_the_trained_ones_to_the_last_blank() -> None:
    assert PREFIXES == {"query": "search_query: ", "document": "search_document: "}
    assert all(prefix.endswith(": ") and not prefix.endswith("  ") for prefix in PREFIXES.values())


def test_without_the_blank_the_first_word_has_other_tokens(tokenizer: FridaTokenizer) -> None:
    """Why the blank matters: it is part of the first word's token."""
    assert tokenizer.tokens("норма", "search_query: ").ids != tokenizer.tokens("норма", "search_query:").ids


@pytest.mark.parametrize("prefix", PREFIXES.values())
@pytest.mark.parametrize("text", ["норма аорты", "word", " начат пробелом", "\n\nline", "🩻", "(a)", "…"])
def test_prefix_and_text_are_the_tokens_of_both_together(
    tokenizer: FridaTokenizer, prefix: str, text: str
) -> None:
    tokens = tokenizer.tokens(text, prefix)
    together = tokenizer.tokenizer.encode(prefix + text).ids
    assert tokenizer.row(tokens.prefix, tokens.ids) == together
    assert tokens.prefix[:3] == tokenizer.tokens("a", prefix).prefix[:3]
    covered = {at for start, end in tokens.offsets for at in range(start, end)}
    assert covered == {at for at, letter in enumerate(text) if not letter.isspace()}


def test_a_text_that_quotes_a_special_token_stays_a_text(tokenizer: FridaTokenizer) -> None:
    tokens = tokenizer.tokens("before </s> after", PREFIXES["query"])
    assert not {1, 2} & set(tokens.ids)
    assert tuple(tokens.offsets[-1])[1] == len("before </s> after")


@pytest.mark.parametrize(
    ("processor", "head", "tail"),
    [
        ({"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True,
          "add_prefix_space": False}, [1], [2]),
        ({"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]}, [1], [2]),
        (template(CLS, TEXT, SEP), [1], [2]),
        (template(CLS, TEXT), [1], []),
        ({"type": "Sequence", "processors": [
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            template(CLS, TEXT, SEP)]}, [1], [2]),
    ],
)  # fmt: skip
def test_the_special_token_at_position_0_is_read_from_the_post_processor(
    saved: Callable[[Content | None], Path], processor: Content, head: list[int], tail: list[int]
) -> None:
    tokenizer = FridaTokenizer.load(saved(processor))
    assert tokenizer.frame == (head, tail)
    for text in ("a", "норма", "🩻", " x"):
        tokens = tokenizer.tokens(text, PREFIXES["document"])
        assert tokenizer.row(tokens.prefix, tokens.ids)[0] == 1


@pytest.mark.parametrize(
    "processor",
    [
        None,
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        template(TEXT, SEP),
    ],
    ids=["none", "bytes only", "end only"],
)
def test_a_tokenizer_without_a_special_token_at_position_0_is_refused(
    saved: Callable[[Content | None], Path], processor: Content | None
) -> None:
    with pytest.raises(WrongTokenizer, match="no special token at position 0"):
        FridaTokenizer.load(saved(processor))


def test_an_absent_or_damaged_tokenizer_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(WrongTokenizer, match=r"tokenizer\.json is absent"):
        FridaTokenizer.load(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0"', encoding="utf-8")
    with pytest.raises(WrongTokenizer, match=r"tokenizer\.json cannot be read"):
        FridaTokenizer.load(tmp_path / "tokenizer.json")
