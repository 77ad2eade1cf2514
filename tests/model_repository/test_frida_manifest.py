"""The manifest of a folder of weights: what it sees, and that it names the file."""

import json
from pathlib import Path

import pytest
from weights_manifest import (
    FILE,
    WrongBundle,
    checked,
    faults,
    main,
    pin,
    pins,
    read,
    require_pins,
    verify,
    write,
)

CONFIG = 'parameters: { key: "weights_sha256"   value: { string_value: "unpinned" } }\n' + (
    'parameters: { key: "tokenizer_sha256" value: { string_value: "unpinned" } }\n'
)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json", "1_Pooling/config.json", ".cache"):
        (folder / name).write_text(f"content of {name}", encoding="utf-8")
    write(folder, "frida", "somewhere@abc")
    return folder


def test_a_manifest_lists_every_visible_file_and_reads_back(bundle: Path) -> None:
    manifest = read(bundle)
    assert sorted(manifest.files) == ["1_Pooling/config.json", "model.safetensors", "tokenizer.json"]
    assert (manifest.name, manifest.source) == ("frida", "somewhere@abc")
    assert verify(bundle, "model.safetensors") == manifest


def test_each_fault_is_named(bundle: Path) -> None:
    whole = (bundle / "model.safetensors").read_bytes()
    (bundle / "model.safetensors").write_bytes(whole[:-3])
    (bundle / "tokenizer.json").write_bytes(b"c0ntent of tokenizer.json")
    (bundle / "1_Pooling/config.json").unlink()
    absent, truncated, other = faults(bundle, read(bundle))
    assert absent == "1_Pooling/config.json is absent"
    assert truncated == "model.safetensors is truncated: 25 bytes, the manifest says 28"
    assert other.startswith("tokenizer.json has sha256 ")
    with pytest.raises(WrongBundle, match=r"config\.json is absent \(and 2 more\)"):
        verify(bundle)


def test_a_required_file_must_be_in_the_manifest(bundle: Path) -> None:
    with pytest.raises(WrongBundle, match=r"golden\.json is not in the manifest"):
        verify(bundle, "golden.json")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"format": 1}', "[" * 100_000,
        *(
            f'{{"format": 1, "name": "x", "source": "", "files": {{{file}}}}}'
            for file in (
                '"../x": {}',
                f'"a": {{"bytes": "3", "sha256": "{"0" * 64}"}}',
                f'"a": {{"bytes": -1, "sha256": "{"0" * 64}"}}',
                '"a": {"bytes": 3, "sha256": "0"}',
                '"a": {"bytes": 3, "sha256": null}',
            )
        ),
    ],
)  # fmt: skip
def test_what_is_no_manifest_is_refused_by_name(bundle: Path, text: str) -> None:
    (bundle / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(WrongBundle, match=r"manifest\.json is no manifest"):
        read(bundle)


def test_a_manifest_of_another_format_or_none_at_all_is_refused(bundle: Path) -> None:
    (bundle / FILE).write_text(json.dumps({"format": 2, "files": {}}), encoding="utf-8")
    with pytest.raises(WrongBundle, match="has format 2, known is 1"):
        read(bundle)
    (bundle / FILE).unlink()
    with pytest.raises(WrongBundle, match=r"manifest\.json is absent"):
        read(bundle)


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "a/../../b", ""])
def test_a_manifest_cannot_point_outside_its_folder(name: str) -> None:
    with pytest.raises(ValueError):
        checked(name)


def test_pinned_hashes_are_the_bundles_and_others_are_refused(bundle: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.pbtxt"
    config.write_text(CONFIG, encoding="utf-8")
    manifest = read(bundle)
    with pytest.raises(WrongBundle, match=r"config\.pbtxt says unpinned"):
        require_pins(manifest, {"weights_sha256": "unpinned"})
    assert main(["pin", str(bundle), str(config)]) == 0
    text = config.read_text(encoding="utf-8")
    assert all(f'"{value}"' in text for value in pins(manifest).values())
    require_pins(manifest, pins(manifest))


def test_a_configuration_without_the_parameters_is_not_silently_left_unpinned(
    bundle: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.pbtxt"
    config.write_text('name: "frida"\n', encoding="utf-8")
    with pytest.raises(WrongBundle, match="has no parameter weights_sha256"):
        pin(read(bundle), config)
