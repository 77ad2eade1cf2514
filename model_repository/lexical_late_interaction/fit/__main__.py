"""Fits and measures the reranker on public question sets; writes centres, weights and thresholds beside it.

    .venv/bin/python model_repository/lexical_late_interaction/fit --data ../shared/data --write

Fits on training splits: rumeddanet train, the even articles of xquad in all four language pairs, the even
papers of covidqa, and the samples' calibration questions. Measures on scifact test, rumeddanet dev, the odd
articles and the odd papers. The candidates are the best 13 of BM25 and dense fused by rank. Reading
everything takes about two hours of one core the first time, minutes later.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / "1"
sys.path[:0] = [str(HERE), str(MODEL)]

from features import NAMES  # noqa: E402
from judgement import Judgement  # noqa: E402
from late_interaction import LateInteraction  # noqa: E402
from logistic import Candidates, Doubles, fitted, score  # noqa: E402
from ranking import BM25, apart, fused, quality  # noqa: E402
from rarity import Rarity  # noqa: E402
from reader import PASSAGE_PREFIX, QUESTION_PREFIX, Centres, Reader  # noqa: E402
from reading import BUDGET  # noqa: E402
from remember import Remembering  # noqa: E402
from sets import Set, calibration, covidqa, mixed, rumeddanet, scifact, xquad  # noqa: E402
from words import is_cyrillic  # noqa: E402

CANDIDATES = 13
Stored = dict[str, dict[str, list[float]]]
PAIRS = (("ru", "ru"), ("en", "en"), ("ru", "en"), ("en", "ru"))
SIDES = {True: "same_script", False: "other_script"}


class Ranked(NamedTuple):
    """A set's questions, each with its candidates in fused order. wanted: answers in the whole set."""

    name: str
    questions: list[Candidates]
    wanted: list[int]


def main() -> None:
    options = arguments()
    encoder = Remembering.load(options.encoder)
    encoder.open(options.cache / "states.pickle")
    samples = calibration(HERE.parents[2], options.encoder / "tokenizer.json")
    train = asked_of([*training(options.data, encoder), samples], options)
    test = asked_of(testing(options.data, encoder), options)
    centres = centred_on(train, encoder)
    model = LateInteraction(
        Reader(encoder, Rarity.load(options.encoder / "tokenizer.json"), Centres.parsed(centres)),
        Judgement({}),
    )
    read: Callable[[Set], Ranked] = lambda part: ranked(part, encoder, model, centres)  # noqa: E731
    learned = fitted([question for part in map(read, train) for question in part.questions])
    encoder.close()
    measured = [read(part) for part in test]
    encoder.close()
    report(measured, learned)
    found = threshold([part for part in measured if part.name.startswith("xquad")], learned)
    print(found)
    if options.write:
        write(centres, learned, found, options.data)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", type=Path, default=HERE.parent.parent / "e5_small" / "1")
    parser.add_argument("--cache", type=Path, default=Path("var/fit"))
    parser.add_argument("--only", nargs="*", default=[""], help="only sets with one of these in their name")
    parser.add_argument("--most", type=int, default=400, help="questions of each set, evenly taken")
    parser.add_argument("--write", action="store_true", help="replace centres.json and weights.json")
    return parser.parse_args()


def asked_of(parts: Sequence[Set], options: argparse.Namespace) -> list[Set]:
    """The sets that are wanted, with as many questions as are."""
    kept = [part for part in parts if any(name in part.name for name in options.only)]
    return [
        part._replace(questions=dict(evenly(list(part.questions.items()), options.most))) for part in kept
    ]


def evenly(items: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    places = np.linspace(0, len(items) - 1, min(most, len(items))).astype(int)
    return [items[place] for place in places]


def training(data: Path, encoder: Remembering) -> list[Set]:
    tokens = counted(encoder)
    return [
        rumeddanet(data, "train"),
        covidqa(data, tokens, odd=False),
        *(xquad(data, tokens, asked, read, odd=False) for asked, read in PAIRS),
        *(mixed(data, tokens, asked, read, odd=False) for asked, read in PAIRS),
    ]


def testing(data: Path, encoder: Remembering) -> list[Set]:
    tokens = counted(encoder)
    return [
        scifact(data, "test"),
        rumeddanet(data, "dev"),
        covidqa(data, tokens, odd=True),
        *(xquad(data, tokens, asked, read, odd=True) for asked, read in PAIRS),
        *(mixed(data, tokens, asked, read, odd=True) for asked, read in PAIRS),
    ]


def counted(encoder: Remembering) -> Callable[[str], int]:
    return lambda text: len(encoder.tokens(text, PASSAGE_PREFIX).ids)


def centred_on(parts: Sequence[Set], encoder: Remembering) -> Stored:
    """The mean token state of each side and script, over at most 240 texts of each set."""
    texts: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        for side, some in (("questions", part.questions), ("passages", part.passages)):
            for text in list(some.values())[:240]:
                texts.setdefault((side, "cyrillic" if is_cyrillic(text) else "latin"), []).append(text)
    centres: Stored = {}
    for (side, script), taken in texts.items():
        prefix = QUESTION_PREFIX if side == "questions" else PASSAGE_PREFIX
        states = np.concatenate([made.states for made in encoder.token_states(taken, prefix)])
        centres.setdefault(side, {})[script] = [
            round(float(x), 4) for x in states.astype(np.float32).mean(axis=0)
        ]
    return centres


def ranked(part: Set, encoder: Remembering, model: LateInteraction, centres: Stored) -> Ranked:
    keys, texts = list(part.passages), list(part.passages.values())
    both = len({is_cyrillic(text) for text in texts}) > 1
    words, vectors = BM25(texts), encoder.vectors(texts, PASSAGE_PREFIX)
    asked = list(part.questions.values())
    asked_vectors = encoder.vectors(asked, QUESTION_PREFIX)
    if both:
        vectors = apart(vectors, texts, centres["passages"])
        asked_vectors = apart(asked_vectors, asked, centres["questions"])
    found = [
        fused([words(question), vectors @ vector], CANDIDATES)
        for question, vector in zip(asked, asked_vectors, strict=True)
    ]
    named = list(zip(part.questions.items(), found, strict=True))
    model.budget = 100_000 if part.whole else BUDGET
    rows = read_rows([(question, texts[place]) for (_, question), best in named for place in best], model)
    questions = [
        Candidates(
            np.array([next(rows) for _ in best]),
            np.array([keys[place] in part.answers[key] for place in best]),
            np.array([is_cyrillic(question) == is_cyrillic(texts[place]) for place in best]),
        )
        for (key, question), best in named
    ]
    print(f"read {part.name}: {len(questions)} questions", flush=True)
    return Ranked(part.name, questions, [len(part.answers[key]) for key in part.questions])


def read_rows(pairs: Sequence[tuple[str, str]], model: LateInteraction) -> Iterator[Doubles]:
    # In parts, so that the states of a few thousand windows at most are held as single precision at once.
    for first in range(0, len(pairs), 520):
        for row in model.rows(pairs[first : first + 520]):
            assert row is not None, "a public set holds an empty text"
            yield row.astype(np.float64)


def report(parts: Sequence[Ranked], learned: dict[bool, Doubles]) -> None:
    for part in parts:
        print(f"\n{part.name}: {len(part.questions)} questions")
        show("fused", part, lambda question: -np.arange(len(question.rows), dtype=np.float64))
        show("reranked", part, lambda question: score(question, learned))
    for same, weight in learned.items():
        print(f"\n{SIDES[same]}", dict(zip((*NAMES, "constant"), weight.round(2).tolist(), strict=True)))


def show(name: str, part: Ranked, judge: Callable[[Candidates], Doubles]) -> None:
    orders = [
        [bool(hit) for hit in question.answers[np.argsort(-judge(question), kind="stable")]]
        for question in part.questions
    ]
    measures = quality(orders, part.wanted).items()
    print(f"  {name:10}", "  ".join(f"{key} {value:.3f}" for key, value in measures), flush=True)


def threshold(parts: Sequence[Ranked], learned: dict[bool, Doubles], kept: float = 0.98) -> dict[str, float]:
    """The score that the best candidate reaches for `kept` of the questions whose answer is among the
    candidates, and for how many it stays below where the answer is taken away (the other paragraphs of the
    article remain)."""
    answered, bare = [], []
    for question in (question for part in parts for question in part.questions):
        chances = 1 / (1 + np.exp(-score(question, learned)))
        if question.answers.any():
            answered.append(chances.max())
            bare.append(chances[~question.answers].max(initial=0.0))
    value = float(np.quantile(answered, 1 - kept))
    return {
        "evidence": round(value, 4),
        "answerable_kept": kept,
        "unanswerable_refused": round(float((np.array(bare) < value).mean()), 3),
    }


def write(
    centres: Stored,
    learned: dict[bool, Doubles],
    found: dict[str, float],
    data: Path,
) -> None:
    source = {
        "made_by": "python model_repository/lexical_late_interaction/fit --write",
        "data_sha256": {file: digest(data / file) for file in sources(data)},
    }
    rows = {SIDES[same]: [round(float(x), 5) for x in weight] for same, weight in learned.items()}
    for name, content in (
        ("centres", centres),
        ("weights", source | {"features": list(NAMES)} | rows),
        ("thresholds", source | {"measured_on": "odd articles of xquad, all language pairs"} | found),
    ):
        (MODEL / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def sources(data: Path) -> list[str]:
    folders = ("rumeddanet", "covidqa", "xquad_en_ru")
    return sorted(
        str(file.relative_to(data)) for folder in folders for file in (data / folder).rglob("*.jsonl")
    )


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
