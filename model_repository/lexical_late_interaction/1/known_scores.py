"""The known answers of the reranker: it must not serve while its own are wrong.

`python known_scores.py` writes known_scores.json anew, after a fit.
"""

import json
from pathlib import Path

from late_interaction import LateInteraction

# Processors round 8-bit activations in other orders; a wrong weight, token or stem costs more.
TOLERANCE = 0.02
CASES = [
    (
        "What is the annual dose limit for workers?",
        "The effective dose limit for workers is 20 mSv per year.",
    ),
    ("What is the annual dose limit for workers?", "Печень делят на восемь сегментов."),
    ("Каков предел дозы для персонала за год?", "Предел эффективной дозы персонала составляет 20 мЗв в год."),
    ("Каков предел дозы для персонала за год?", "The effective dose limit for workers is 20 mSv per year."),
    (
        "Каков предел дозы для персонала за год?",
        "| Medium | Speed of sound |\n|---|---|\n| Bone | 4080 m/s |",
    ),
]


class WrongAnswer(RuntimeError):
    """The reranker's score of a known pair is not the known one."""


def check(model: LateInteraction, file: Path) -> None:
    """Raises WrongAnswer with the case and its score."""
    known = json.loads(file.read_text(encoding="utf-8"))
    for number, (expected, scored) in enumerate(zip(known, model.score(CASES), strict=True)):
        if not abs(scored.score - expected) <= TOLERANCE:
            raise WrongAnswer(f"known case {number}: scored {scored.score:.4f} instead of {expected:.4f}")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    encoder = here.parent.parent / "e5_small" / "1"
    scores = [round(scored.score, 4) for scored in LateInteraction.load(here, encoder).score(CASES)]
    (here / "known_scores.json").write_text(json.dumps(scores) + "\n", encoding="utf-8")
