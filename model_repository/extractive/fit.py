"""Fits which statements answer a question, and when none does, on the samples' calibration questions.

    .venv/bin/python model_repository/extractive/fit.py --write

Each question gets the five parents of the sample knowledge base that the reranker likes best, as the
gateway would print them. A softmax over their statements and silence is fitted: the statement that holds
the evidence should win, or silence where the question has no answer. Ten-fold cross-validation says how
well that carries over. `samples/questions.jsonl` is never read.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RERANKER = HERE.parent / "lexical_late_interaction"
sys.path[:0] = [str(HERE / "1"), str(RERANKER / "fit"), str(RERANKER / "1"), str(ROOT)]

from evidence import NAMES  # noqa: E402
from extractive import Extractive  # noqa: E402
from judge import Judge  # noqa: E402
from judgement import Judgement  # noqa: E402
from late_interaction import LateInteraction  # noqa: E402
from prompt import Prompt, Source  # noqa: E402
from ranking import BM25, apart, fused  # noqa: E402
from rarity import Rarity  # noqa: E402
from reader import PASSAGE_PREFIX, QUESTION_PREFIX, Centres, Reader  # noqa: E402
from remember import Remembering  # noqa: E402
from sample_parents import Section, sections  # noqa: E402

Doubles = NDArray[np.float64]
Stored = dict[str, dict[str, list[float]]]
CANDIDATES, SOURCES = 13, 5
FOLDS, SHRINK, STEPS, RATE = 10, 0.003, 400, 0.05
# This part of the questions whose evidence is among the sources shall be answered; silence is set for it.
ANSWERED = 0.96


class Asked(NamedTuple):
    """A calibration question: rows [statements, features] and which hold the evidence, [statements]."""

    answerable: bool
    rows: Doubles
    answers: NDArray[np.bool_]

    @property
    def lost(self) -> bool:
        """Whether the evidence is not among the sources: nothing to learn from."""
        return self.answerable and not self.answers.any()


def main() -> None:
    options = arguments()
    encoder = Remembering.load(options.encoder)
    encoder.open(options.cache / "samples.pickle")
    centres: Stored = json.loads((RERANKER / "1" / "centres.json").read_text(encoding="utf-8"))
    reader = Reader(encoder, Rarity.load(options.encoder / "tokenizer.json"), Centres.parsed(centres))
    # Parents are read whole, so that each is read once and not anew for every question.
    reranker = LateInteraction(reader, Judgement.load(RERANKER / "1" / "weights.json"), budget=2000)
    generator = Extractive(reader, Judge(np.zeros(len(NAMES), np.float32), 0.0))
    search = Search(sections(options.encoder / "tokenizer.json"), encoder, reranker, centres)
    lines = (ROOT / "samples" / "calibration.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [read(json.loads(line), search, generator) for line in lines]
    encoder.close()
    report = crossed(asked)
    weights, silence = fitted([one for one in asked if not one.lost])
    silence += report.pop("shift")
    print(json.dumps(report, indent=1), dict(zip(NAMES, weights.round(2), strict=True)), round(silence, 2))
    if options.write:
        write(weights, silence, report)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", type=Path, default=HERE.parent / "e5_small" / "1")
    parser.add_argument("--cache", type=Path, default=ROOT / "var" / "fit")
    parser.add_argument("--write", action="store_true", help="replace weights.json")
    return parser.parse_args()


class Search:
    """Finds parents as the services do: BM25 and dense fused by rank, the best of them reranked."""

    def __init__(
        self, parents: list[Section], encoder: Remembering, reranker: LateInteraction, centres: Stored
    ) -> None:
        self._parents = parents
        self._texts = [f"{one.above}\n{one.text}" for one in parents]
        self._words = BM25(self._texts)
        self._vectors = apart(encoder.vectors(self._texts, PASSAGE_PREFIX), self._texts, centres["passages"])
        self._encoder, self._reranker, self._centre = encoder, reranker, centres["questions"]

    def __call__(self, question: str) -> list[Section]:
        (vector,) = apart(self._encoder.vectors([question], QUESTION_PREFIX), [question], self._centre)
        places = fused([self._words(question), self._vectors @ vector], CANDIDATES)
        scored = self._reranker.score([(question, self._texts[place]) for place in places])
        order = np.argsort([-one.score for one in scored], kind="stable")[:SOURCES]
        return [self._parents[places[rank]] for rank in order]


def read(entry: dict[str, object], search: Search, generator: Extractive) -> Asked:
    question = str(entry["question"])
    best = search(question)
    sources = [Source(number, one.title, one.path, one.context, one.text) for number, one in enumerate(best)]
    found = generator.evidence(Prompt(sources, question, ""), lambda: False)
    quotes = [quote for way in entry["evidence"] for quote in way]  # type: ignore[attr-defined]
    answers = [
        any(holds(best[one.source.number], one.statement.start, one.statement.end, quote) for quote in quotes)
        for one in found
    ]
    print(f"read {entry['id']}", file=sys.stderr, flush=True)
    return Asked(
        bool(entry["answerable"]), np.array([one.row for one in found], np.float64), np.array(answers)
    )


def holds(section: Section, start: int, end: int, quote: dict[str, str]) -> bool:
    statement = " ".join(section.text[start:end].split())
    return section.document == quote["document"] and (
        quote["quote"] in statement or statement in quote["quote"]
    )


def crossed(asked: list[Asked]) -> dict[str, float]:
    """How well it carries over: every question judged by weights that were fitted without it.

    shift: what must be added to silence for ANSWERED of the questions with evidence to be answered.
    """
    best, right = np.zeros(len(asked)), np.zeros(len(asked), bool)
    for fold in range(FOLDS):
        weights, silence = fitted(
            [one for place, one in enumerate(asked) if place % FOLDS != fold and not one.lost]
        )
        for place in range(fold, len(asked), FOLDS):
            odds = asked[place].rows @ weights - silence
            best[place], right[place] = odds.max(), asked[place].answers[odds.argmax()]
    answerable, lost = np.array([(one.answerable, one.lost) for one in asked]).T
    shift = float(np.quantile(best[answerable & ~lost], 1 - ANSWERED))
    return {
        "evidence_among_sources": float(np.mean([not one.lost for one in asked if one.answerable])),
        "first_quote_is_evidence": float(right[answerable].mean()),
        "answered_of_answerable": float((best[answerable] >= shift).mean()),
        "answered_with_evidence_at_hand": float((best[answerable & ~lost] >= shift).mean()),
        "refused_of_unanswerable": float((best[~answerable] < shift).mean()),
        "area_under_curve": float((best[answerable][:, None] > best[~answerable]).mean()),
        "shift": shift,
    }


def fitted(asked: list[Asked]) -> tuple[Doubles, float]:
    """Weights, and the odds of silence: a softmax over each question's statements and silence, by Adam."""
    rows = np.concatenate([one.rows for one in asked])
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    rows = (rows - middle) / spread
    sizes = np.array([len(one.rows) for one in asked])
    starts, owner = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(asked)), sizes)
    wanted = np.concatenate([one.answers / max(one.answers.sum(), 1) for one in asked])
    silent = np.array([not one.answers.any() for one in asked], float)
    weights, pace, size = np.append(np.zeros(rows.shape[1]), 3.0), *np.zeros((2, rows.shape[1] + 1))
    for step in range(1, STEPS + 1):
        odds = rows @ weights[:-1]
        most = np.maximum(np.maximum.reduceat(odds, starts), weights[-1])
        chances, silence = np.exp(odds - most[owner]), np.exp(weights[-1] - most)
        total = np.add.reduceat(chances, starts) + silence
        slope = rows.T @ (chances / total[owner] - wanted) / len(asked) + SHRINK * weights[:-1]
        slope = np.append(slope, (silence / total - silent).mean())
        pace, size = 0.9 * pace + 0.1 * slope, 0.999 * size + 0.001 * slope**2
        weights -= RATE * (pace / (1 - 0.9**step)) / (np.sqrt(size / (1 - 0.999**step)) + 1e-8)
    scaled = weights[:-1] / spread
    return scaled, float(weights[-1] + scaled @ middle)


def write(weights: Doubles, silence: float, report: dict[str, float]) -> None:
    calibration = (ROOT / "samples" / "calibration.jsonl").read_bytes()
    stored = {
        "made_by": "python model_repository/extractive/fit.py --write",
        "data_sha256": {"samples/calibration.jsonl": hashlib.sha256(calibration).hexdigest()},
        "cross_validated": {key: round(value, 3) for key, value in report.items()},
        "features": list(NAMES),
        "weights": [round(float(x), 4) for x in weights],
        "silence": round(silence, 4),
    }
    (HERE / "1" / "weights.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
