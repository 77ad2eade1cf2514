"""Documents that answer nothing, spread over all topics: is the evidence still found among thousands?"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evaluation.datasets import Document, canonical
from evaluation.jsonl import rows
from ingest.document import Metadata
from ingest.manifest import Item

CountChildren = Callable[[Document], int]


def distractors(
    folders: Sequence[Path], children: int, topics: Sequence[str], count: CountChildren, out: Path
) -> list[Item]:
    """Documents of BEIR folders, taken by turns, that make at least `children` children, written below `out`.

    Document n goes to topic n modulo their number. Raises DatasetError; fewer when the folders hold fewer.
    """
    items: list[Item] = []
    seen: set[str] = set()  # the catalogue refuses the text of another document
    for folder, document in _by_turns(folders):
        if children <= 0:
            break
        made = 0 if document.text in seen else count(document)
        seen.add(document.text)
        if made:
            topic = topics[len(items) % len(topics)]
            items.append(written(out, f"distractor-{folder.name}-{len(items)}", document, topic))
            children -= made
    return items


def _by_turns(folders: Sequence[Path]) -> Iterator[tuple[Path, Document]]:
    waiting = [(folder, _documents(folder)) for folder in folders]
    while waiting:
        for pair in list(waiting):
            document = next(pair[1], None)
            if document is None:
                waiting.remove(pair)
            else:
                yield pair[0], document


def _documents(folder: Path) -> Iterator[Document]:
    for row in rows(folder / "corpus.jsonl"):
        yield Document(row.id("_id"), canonical(row.text("title", "")), canonical(row.text("text")))


def written(out: Path, name: str, document: Document, topic: str) -> Item:
    """A document as a Markdown file below `out`, to be ingested under the id `name`."""
    path = out / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    title = document.title or document.text.strip().split("\n")[0][:100]
    path.write_text(document.text, encoding="utf-8")
    return Item(path, path.name, Metadata(document_id=name, title=title, topic=topic))
