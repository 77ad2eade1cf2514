"""The header of a .gguf file: what is read of it, and the one line when it is not what it should be."""

import struct
from pathlib import Path

import pytest
from gguf_file import Header, header
from weights_manifest import Refused

NUMBER, TEXT, LIST = 4, 8, 9


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def texts(*values: str) -> bytes:
    return struct.pack("<IQ", TEXT, len(values)) + b"".join(text(value) for value in values)


ARCHITECTURE = entry("general.architecture", TEXT, text("qwen3moe"))
CONTEXT_LENGTH = "qwen3moe.context_length"
CONTEXT = entry(CONTEXT_LENGTH, NUMBER, struct.pack("<I", 40960))
TOKENS = entry("tokenizer.ggml.tokens", LIST, texts("доза", "mSv"))
SCORES = entry("tokenizer.ggml.scores", LIST, struct.pack("<IQff", 6, 2, 0.5, 1.5))
NESTED = entry("nested", LIST, struct.pack("<IQ", LIST, 1) + struct.pack("<IQ", 0, 3) + b"abc")


def written(folder: Path, *entries: bytes, version: int = 3, magic: bytes = b"GGUF") -> Path:
    file = folder / "model.gguf"
    file.write_bytes(magic + struct.pack("<IQQ", version, 0, len(entries)) + b"".join(entries))
    return file


@pytest.mark.parametrize("version", [2, 3])
def test_architecture_and_context_are_read_past_every_kind_of_value(tmp_path: Path, version: int) -> None:
    file = written(tmp_path, SCORES, NESTED, ARCHITECTURE, TOKENS, CONTEXT, version=version)
    assert header(file) == Header("qwen3moe", 40960)


def test_a_file_that_says_no_context_has_none(tmp_path: Path) -> None:
    assert header(written(tmp_path, ARCHITECTURE, TOKENS)) == Header("qwen3moe", 0)


@pytest.mark.parametrize(
    ("entries", "version", "magic", "reason"),
    [
        ((ARCHITECTURE, TOKENS), 3, b"PK\3\4", "does not begin with GGUF"),
        ((ARCHITECTURE, TOKENS), 1, b"GGUF", "its version is 1"),
        ((ARCHITECTURE, TOKENS[:-2]), 3, b"GGUF", "ends within its header"),
        ((entry("x", 99, b""), TOKENS), 3, b"GGUF", "unknown kind 99"),
        ((entry("x", LIST, struct.pack("<IQ", 99, 1)), TOKENS), 3, b"GGUF", "unknown kind 99"),
        ((entry("x", TEXT, struct.pack("<Q", 2**60)),), 3, b"GGUF", "absurd"),
        ((entry("x", LIST, struct.pack("<IQ", 0, 2**60)),), 3, b"GGUF", "absurd"),
        ((TOKENS,), 3, b"GGUF", "names no architecture"),
        ((ARCHITECTURE,), 3, b"GGUF", "holds no tokenizer"),
        ((entry("x", LIST, struct.pack("<IQ", LIST, 1) * 9000),), 3, b"GGUF", "lists within lists"),
        (
            (ARCHITECTURE, TOKENS, entry(CONTEXT_LENGTH, TEXT, text("many"))),
            3,
            b"GGUF",
            "context_length is 'many': it must be 1 to",
        ),
        (
            (ARCHITECTURE, TOKENS, entry(CONTEXT_LENGTH, 6, struct.pack("<f", float("nan")))),
            3,
            b"GGUF",
            "'nan'",
        ),
        ((ARCHITECTURE, TOKENS, entry(CONTEXT_LENGTH, 5, struct.pack("<i", -4))), 3, b"GGUF", "'-4'"),
    ],
)
def test_what_is_no_language_model_is_refused_by_name_in_one_line(
    tmp_path: Path, entries: tuple[bytes, ...], version: int, magic: bytes, reason: str
) -> None:
    with pytest.raises(Refused, match=rf"^model\.gguf .*{reason}") as refusal:
        header(written(tmp_path, *entries, version=version, magic=magic))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["block_count", "embedding_length", "attention.head_count"])
@pytest.mark.parametrize("value", [0, 2**31])
def test_a_size_that_llama_cpp_would_die_of_is_refused(tmp_path: Path, name: str, value: int) -> None:
    absurd = entry(f"qwen3moe.{name}", NUMBER, struct.pack("<I", value))
    with pytest.raises(
        Refused, match=rf"^model\.gguf says qwen3moe\.{name} is '{value}': it must be 1 to \d+$"
    ):
        header(written(tmp_path, ARCHITECTURE, TOKENS, absurd))


def test_every_cut_within_the_header_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path, ARCHITECTURE, CONTEXT, TOKENS).read_bytes()
    for size in range(0, len(whole), 3):
        (tmp_path / "cut.gguf").write_bytes(whole[:size])
        with pytest.raises(Refused):
            header(tmp_path / "cut.gguf")


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read: No such file"):
        header(tmp_path / "nowhere.gguf")
