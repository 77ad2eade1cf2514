"""A YAML file that a person wrote: read, or refused as one kind of error, whatever is wrong with it."""

from pathlib import Path

import pytest

from radrag.yaml_file import content_of


def test_a_mark_at_its_start_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes("\ufeffтема: safety\nдень: 2024-12-01\n".encode())
    assert isinstance(given := content_of(tmp_path / "a.yaml"), dict)
    assert list(given) == ["тема", "день"]


@pytest.mark.parametrize(
    "text",
    [
        b"day: 2024-13-01", b"at: 2024-01-01 25:00:00", b"a: !!bool maybe", b"a: !!int ''",
        b"a: !!timestamp x", b"a: !!float x", b"? [a]\n: b", b"? {a: b}\n: c", b"a: [", b"a: *b",
        b"a: !!python/object:os.system {}",
        b"[" * 5000, b"a: \xff", b"a: \x00", b"a: !!binary \xc3\xa9", b"%YAML 9.9\n---\na", b"a:\tb:\tc",
    ],
)  # fmt: skip
def test_whatever_is_wrong_with_it_is_one_kind_of_error_without_its_text(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.yaml").write_bytes(text)
    with pytest.raises(ValueError, match=r"^a\.yaml cannot be read as YAML \(\w+\)$"):
        content_of(tmp_path / "a.yaml")


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"a\.yaml"):
        content_of(tmp_path / "a.yaml")
