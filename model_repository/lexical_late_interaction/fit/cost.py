"""What reranking costs over the encoder's own time for what it reads: 13 parents of 1,800 tokens, 256 of
each read.

    .venv/bin/python model_repository/lexical_late_interaction/fit/cost.py

Both are timed in turn in one run, on one thread, in processor time, so that other work on the machine
matters little.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL, ENCODER = HERE.parent / "1", HERE.parents[1] / "e5_small" / "1"
sys.path[:0] = [str(MODEL)]

from e5_encoder import Encoder  # noqa: E402
from late_interaction import LateInteraction  # noqa: E402

PARENTS, READ, LONG, ROUNDS = 13, 256, 1800, 5
QUESTION = "Каков предел годовой эффективной дозы для персонала группы А?"


def main() -> None:
    encoder, model = Encoder.load(ENCODER), LateInteraction.load(MODEL, ENCODER)
    parents = texts(encoder, LONG)
    windows = texts(encoder, READ - 4)
    pairs = [(QUESTION, parent) for parent in parents]
    rounds = [(spent(lambda: model.score(pairs)), reading(encoder, windows)) for _ in range(ROUNDS)]
    ratios = sorted(rerank / encode for rerank, encode in rounds)
    rerank, alone = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"rerank {rerank:.2f} s, encoder alone {alone:.2f} s of processor time")
    low, middle, high = ratios[0], statistics.median(ratios), ratios[-1]
    print(f"ratio: median {middle:.3f}, {low:.3f} to {high:.3f}; the limit is 1.2")


def reading(encoder: Encoder, windows: list[str]) -> float:
    return spent(lambda: encoder.token_states(windows, "passage: "))


def spent(work: Callable[[], object]) -> float:
    """Processor seconds."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def texts(encoder: Encoder, tokens: int) -> list[str]:
    """PARENTS unlike texts of so many tokens each, from the sample documents."""
    folder = HERE.parents[2] / "samples" / "documents"
    whole = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md")))
    offsets = encoder.tokens(whole, "passage: ").offsets
    step = (len(offsets) - tokens - 1) // (PARENTS - 1)
    return [whole[offsets[at][0] : offsets[at + tokens][0]] for at in range(0, PARENTS * step, step)][
        :PARENTS
    ]


if __name__ == "__main__":
    main()
