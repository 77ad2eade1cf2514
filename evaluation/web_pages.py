"""Pages of the web with their main text: how much of it an extractor finds, by type of page."""

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.pages import f1, held, words

Extract = Callable[[bytes], str]


@dataclass(frozen=True)
class Page:
    """A page, its type, its main text, and snippets that must and must not be found."""

    kind: str
    html: bytes
    text: str
    required: tuple[str, ...]
    forbidden: tuple[str, ...]


def pages(folder: Path, most: int = 0) -> Iterator[Page]:
    """The pages of a folder with `ground-truth` and `html`; the first `most`, or all."""
    files = sorted((folder / "ground-truth").glob("*.json"))
    for file in files[: most or None]:
        said = json.loads(file.read_text())
        truth = said["ground_truth"]
        yield Page(
            said["_internal"]["page_type"]["primary"],
            gzip.decompress((folder / "html" / f"{file.stem}.html.gz").read_bytes()),
            truth["main_content"],
            tuple(truth.get("with") or ()),
            tuple(truth.get("without") or ()),
        )


def measured(found: list[Page], extract: Extract) -> dict[str, object]:
    """Mean word F1 by type of page and in all; snippets found of those required and forbidden."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    required = forbidden = 0
    for page in found:
        text = extract(page.html)
        by_kind[page.kind].append(f1(words(text), words(page.text)))
        required += held(text, page.required)
        forbidden += held(text, page.forbidden)
    everything = [value for values in by_kind.values() for value in values]
    return {
        "word_f1": {kind: mean(values) for kind, values in sorted(by_kind.items())}
        | {"all": mean(everything)},
        "required": [required, sum(len(page.required) for page in found)],
        "forbidden": [forbidden, sum(len(page.forbidden) for page in found)],
    }


def mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
