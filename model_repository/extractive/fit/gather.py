"""Reads all questions whose answers are marked, once: the statements that the judge would weigh.

    .venv/bin/python model_repository/extractive/fit/gather.py --data ../shared/data

Writes var/fit/statements-*.npz for `train.py`: the samples' fitting questions, each among the 13 parents that
retrieval would find; xquad in all four pairs of languages and covidqa, each within its paragraph; the
calibration questions, on which silence is set. `samples/questions.jsonl` is never read. About an hour of one
core the first time.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RERANKER = HERE.parents[1] / "lexical_late_interaction"
sys.path[:0] = [str(HERE), str(HERE.parent / "1"), str(RERANKER / "fit"), str(RERANKER / "1"), str(ROOT)]

from evidence import Candidate, candidates, row_of, surroundings  # noqa: E402
from marked import Marked, covidqa, xquad  # noqa: E402
from prompt import Source  # noqa: E402
from quantities import wanted  # noqa: E402
from rarity import Rarity  # noqa: E402
from reader import Centres, Reader  # noqa: E402
from remember import Remembering  # noqa: E402
from search import Search  # noqa: E402
from tables import Tables  # noqa: E402
from words import is_cyrillic  # noqa: E402

# Statements kept of each question, besides those that answer: the nearest.
KEPT = 22
# Sources are read whole, so that each is read once and not anew for every question.
WHOLE = 100_000


class Sample(NamedTuple):
    """A question of ours as the files hold it."""

    id: str
    text: str
    answerable: bool
    quotes: list[tuple[str, str]]


def main() -> None:
    options = arguments()
    encoder = Remembering.load(options.encoder, options.threads)
    encoder.open(options.cache / "statements.pickle")
    stored = json.loads((RERANKER / "1" / "centres.json").read_text(encoding="utf-8"))
    reader = Reader(encoder, Rarity.load(options.encoder / "tokenizer.json"), Centres.parsed(stored))
    search = Search(reader, encoder, options.encoder / "tokenizer.json")
    for name in ("calibration", "fitting"):
        tables = Tables()
        for marked in sampled(ROOT / "samples" / f"{name}.jsonl", search):
            add(tables, reader, marked)
        tables.save(options.cache / f"statements-{name}.npz")
        encoder.close()
    tables = Tables()
    for marked in (*xquad(options.data), *covidqa(options.data)):
        add(tables, reader, marked)
    tables.save(options.cache / "statements-public.npz")
    encoder.close()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--encoder", type=Path, default=HERE.parents[1] / "e5_small" / "1")
    parser.add_argument("--cache", type=Path, default=ROOT / "var" / "fit")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def sampled(file: Path, search: Search) -> Iterator[Marked]:
    """The questions of a file of ours, each with the parents that retrieval finds for it."""
    for one in map(sample, file.read_text(encoding="utf-8").splitlines()):
        best = search(one.text)
        sources = [
            Source(number, found.title, found.path, found.context, found.text)
            for number, found in enumerate(best)
        ]
        holding = answering(one, [found.document for found in best], sources)
        yield Marked(one.id, one.text, one.answerable, sources, holding)


def sample(line: str) -> Sample:
    entry = json.loads(line)
    quotes = [(quote["document"], quote["quote"]) for way in entry["evidence"] for quote in way]
    return Sample(entry["id"], entry["question"], entry["answerable"], quotes)


def answering(one: Sample, documents: Sequence[str], sources: Sequence[Source]) -> Callable[..., bool]:
    def holds(number: int, start: int, end: int) -> bool:
        statement = " ".join(sources[number].text[start:end].split())
        return any(
            document == documents[number] and (quote in statement or statement in quote)
            for document, quote in one.quotes
        )

    return holds


def add(tables: Tables, reader: Reader, marked: Marked) -> None:
    """The nearest statements of a question, and all that answer it."""
    (asked,) = reader.questions([marked.question])
    if asked is None:
        return
    found = [one for source in marked.sources for one in candidates(asked, source, reader, WHOLE)]
    found.sort(key=lambda one: -one.nearness)
    answers = [
        marked.answers(one.page.source.number, one.statement.start, one.statement.end) for one in found
    ]
    kept = [place for place, right in enumerate(answers) if place < KEPT or right]
    tables.ask(marked.id, marked.answerable, asked)
    kind, cyrillic = wanted(marked.question), is_cyrillic(marked.question)
    for place in kept:
        one: Candidate = found[place]
        row = row_of(asked, kind, one, cyrillic=cyrillic)
        tables.offer(one.page, row, *surroundings(one.page, one.statement), answers=answers[place])
    print(marked.id, file=sys.stderr)


if __name__ == "__main__":
    main()
