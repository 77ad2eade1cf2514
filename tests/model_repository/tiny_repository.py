"""A model repository of tiny models: the real folders' code, the real configurations but for the size."""

import json
import re
import shutil
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from weights_manifest import pin, verify, write

from cli.model_environment import MODEL_REPOSITORY
from tests.model_repository.tiny_bundles import tiny_bundle
from tests.model_repository.tiny_models import DIMENSION

# The attention's value matrix, in FRIDA's and in the reranker's names.
VALUES = ("SelfAttention.v.weight", "self_attn.v_proj.weight")


@dataclass(frozen=True)
class TinyRepository:
    """Models below `folder`/models, their weights below `folder`/weights."""

    folder: Path

    @property
    def models(self) -> Path:
        return self.folder / "models"

    def add(self, name: str, model: str, weights: Path, parameters: Mapping[str, str] | None = None) -> None:
        """A model with the code and the configuration of the real `model`, on a CPU."""
        place = self.models / name
        place.mkdir(parents=True)
        for part in ("1", "warmup"):
            (place / part).symlink_to((MODEL_REPOSITORY / model / part).resolve())
        given = {"weights": str(weights), "device": "cpu"} | dict(parameters or {})
        (place / "config.pbtxt").write_text(tiny_config(name, model, given), encoding="utf-8")

    def pinned(self, name: str, weights: Path) -> None:
        pin(verify(weights), self.models / name / "config.pbtxt")

    def damaged(self, kind: str, name: str, damage: Callable[[Path], None]) -> Path:
        """A copy of the tiny bundle with `damage` done to it, of which its manifest does not know."""
        place = self.folder / "weights" / name
        shutil.copytree(tiny_bundle(kind), place)
        damage(place)
        return place


def tiny_config(name: str, model: str, parameters: Mapping[str, str]) -> str:
    text = (MODEL_REPOSITORY / model / "config.pbtxt").read_text(encoding="utf-8")
    text = text.replace(f'name: "{model}"', f'name: "{name}"').replace("KIND_GPU", "KIND_CPU")
    text = text.replace("1536", str(DIMENSION))
    for key, value in parameters.items():
        text, changed = re.subn(rf'(key: "{key}"\s+value: {{ string_value: ")[^"]*', rf"\g<1>{value}", text)
        assert changed == 1, key
    return text


def truncate(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def for_bert(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(
        json.dumps(config | {"architectures": ["BertModel"]}), encoding="utf-8"
    )
    write(folder, "frida")


def filled(value: float) -> Callable[[Path], None]:
    """One weight matrix holds that value everywhere, and the manifest knows of it."""

    def fill(folder: Path) -> None:
        file = folder / "model.safetensors"
        content = bytearray(file.read_bytes())
        (size,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + size])
        tensor = next(header[name] for name in sorted(header) if name.endswith(VALUES))
        start, end = (8 + size + offset for offset in tensor["data_offsets"])
        content[start:end] = struct.pack("<f", value) * ((end - start) // 4)
        file.write_bytes(content)
        write(folder, "frida")

    return fill
