"""The known answers of an embedder: it must not serve while its own are wrong.

Catches damaged weights, another tokenizer, a faulty build of onnxruntime or a processor that computes
otherwise. `python golden.py` writes golden.json anew from a conversion that has been verified.
"""

import base64
import json
import sys
from pathlib import Path

import numpy as np
from e5_embedder import Embedder, Pooling, Request
from e5_encoder import Encoder, Floats

# Processors round 8-bit activations in other orders; a wrong weight or token costs hundredths.
MINIMUM_COSINE = 0.9995
CASES = [
    Request("What is the annual effective dose limit for staff?", "query: "),
    Request("Какова норма диаметра корня аорты на КТ?", "query: "),
    Request(
        "Пневмоторакс на снимке лёжа легко пропустить. Look for the deep sulcus sign 🩻 and repeat the film.",
        "passage: ",
        ((0, 46), (46, 98)),
    ),
]


class WrongAnswer(RuntimeError):
    """The embedder's answer to a known request is not the known one."""


def check(embedder: Embedder, file: Path) -> None:
    """Raises WrongAnswer, with the case and its cosine."""
    known = json.loads(file.read_text(encoding="utf-8"))[embedder.pooling]
    for number, (expected, vectors) in enumerate(zip(known, answers(embedder), strict=True)):
        cosine = float((decoded(expected).reshape(vectors.shape) * vectors).sum(axis=1).min())
        if not cosine >= MINIMUM_COSINE:
            raise WrongAnswer(f"golden case {number}: cosine {cosine:.6f} is below {MINIMUM_COSINE}")


def answers(embedder: Embedder) -> list[Floats]:
    return [reply.vectors for reply in embedder.embed(CASES)]


def write(encoder: Encoder, file: Path) -> None:
    embedders = [Embedder(encoder, pooling) for pooling in Pooling]
    known = {each.pooling: [encoded(vectors) for vectors in answers(each)] for each in embedders}
    file.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def encoded(vectors: Floats) -> str:
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def decoded(text: str) -> Floats:
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)


if __name__ == "__main__":
    here = Path(__file__).parent
    write(Encoder.load(here), here / "golden.json")
    sys.exit(0)
