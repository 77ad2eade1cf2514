"""FRIDA's known answers, which ship with its weights: it must not serve while its own are wrong.

golden.json is {"cases": [{"task": "query", "text": "…", "vector": base64 of float16}, …]}, computed by
another program than this one (`python bundle`). Catches another tokenizer, other weights, a kernel that
computes otherwise.
"""

import base64
import json
from pathlib import Path

import numpy as np
from frida_embedder import Embedder, NotFinite, Request
from frida_tokens import PREFIXES
from token_windows import Floats
from weights_manifest import Refused

# float16 of the file costs 1e-7; bf16 rounds each of 24 layers to 8 bits; a wrong token costs hundredths.
MINIMUM_COSINE = {"fp32": 0.9999, "bf16": 0.995}


class WrongAnswer(Refused):
    """The model's answer to a known request is not the known one."""


def check(embedder: Embedder, file: Path, precision: str) -> None:
    """Raises WrongAnswer, with the case and its cosine."""
    requests, vectors = known(file)
    for number, (vector, reply) in enumerate(zip(vectors, embedder.embed(requests), strict=True)):
        if isinstance(reply, NotFinite):
            raise WrongAnswer(f"golden case {number}: the vector is not finite")
        if vector.shape != reply.vectors[0].shape:
            raise WrongAnswer(f"golden case {number} has {len(vector)} numbers, not {reply.vectors.shape[1]}")
        cosine = float(vector @ reply.vectors[0])
        if not cosine >= MINIMUM_COSINE[precision]:
            raise WrongAnswer(
                f"golden case {number}: cosine {cosine:.6f} is below {MINIMUM_COSINE[precision]}"
            )


def known(file: Path) -> tuple[list[Request], list[Floats]]:
    """What is asked and the vectors that are known. Raises WrongAnswer for a file that holds none."""
    try:
        cases = json.loads(file.read_text(encoding="utf-8"))["cases"]
        requests = [Request(case["text"], PREFIXES[case["task"]]) for case in cases]
        vectors = [decoded(case["vector"]) for case in cases]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise WrongAnswer("golden.json holds no known answers that can be read") from None
    if not requests:
        raise WrongAnswer("golden.json has no case")
    return requests, vectors


def encoded(vector: Floats) -> str:
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


def decoded(text: str) -> Floats:
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)
