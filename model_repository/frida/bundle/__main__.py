"""Makes a folder of FRIDA's files a bundle: limits.json, golden.json and manifest.json beside the weights.

    python model_repository/frida/bundle FOLDER [SOURCE]

The known answers come from transformers alone, in fp32 on the CPU, row by row: none of the server's own code.
Run it once where the weights are first downloaded and trusted; the bundle is then checked wherever it goes.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "1"))

import numpy as np
import torch
from frida_encoder import WINDOW
from frida_golden import encoded
from frida_tokens import PREFIXES, FridaTokenizer, WrongTokenizer
from local_model import CannotLoad, Place, load
from token_windows import Floats
from transformers import PreTrainedTokenizerFast, T5EncoderModel
from weights_manifest import write

CASES = [
    ("query", "What is the annual effective dose limit for staff?"),
    ("query", "Какова норма диаметра корня аорты на КТ?"),
    ("document", "Пневмоторакс на снимке лёжа легко пропустить. Look for the deep sulcus sign 🩻."),
]


def limits(tokenizer: FridaTokenizer, dimension: int) -> dict[str, object]:
    """What ingest needs to cut its chunks."""
    prefixes = {task: tokenizer.tokens("a", prefix).prefix for task, prefix in PREFIXES.items()}
    return {
        "window": WINDOW,
        "special_tokens": len(tokenizer.row((), ())),
        "dimension": dimension,
        "prefixes": PREFIXES,
        "content_tokens": {task: tokenizer.room(ids, WINDOW) for task, ids in prefixes.items()},
    }


def reference(folder: Path, model: T5EncoderModel, text: str) -> Floats:
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    ids = tokenizer(text, truncation=True, max_length=WINDOW)["input_ids"]
    with torch.inference_mode():
        first = model(torch.tensor([ids])).last_hidden_state[0, 0].numpy()
    return np.asarray(first / np.linalg.norm(first), np.float32)


def bundle(folder: Path, source: str) -> None:
    model = load(T5EncoderModel, folder, Place("cpu", "fp32"))
    tokenizer = FridaTokenizer.load(folder / "tokenizer.json")
    vectors = [(task, text, reference(folder, model, PREFIXES[task] + text)) for task, text in CASES]
    cases = [{"task": task, "text": text, "vector": encoded(vector)} for task, text, vector in vectors]
    save(folder / "limits.json", limits(tokenizer, int(model.config.d_model)))
    save(folder / "golden.json", {"cases": cases})
    write(folder, "frida", source)


def save(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        prog="bundle", description=__doc__.splitlines()[0] if __doc__ else None
    )
    arguments.add_argument("folder", type=Path)
    arguments.add_argument(
        "source", nargs="?", default="", help="where the weights came from, with a revision"
    )
    given = arguments.parse_args()
    try:
        bundle(given.folder, given.source)
    except (CannotLoad, WrongTokenizer) as error:
        sys.exit(str(error))
