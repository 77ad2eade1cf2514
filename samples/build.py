"""Builds the sample knowledge base into one folder: DOCX and PDF from their sources, the rest as it is."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from samples.docx_writer import docx
from samples.pdf_writer import pdf
from samples.text_source import parse

HERE = Path(__file__).parent
DOCUMENTS = HERE / "documents"
MANIFEST = HERE / "manifest.yaml"


@dataclass(frozen=True)
class Entry:
    """What building needs of a document's entry in the manifest: `file` lies below the built folder."""

    file: str
    language: str

    @property
    def source(self) -> Path:
        """The committed text: the file itself, or the Markdown it is built from."""
        made = self.file.endswith((".docx", ".pdf"))
        return DOCUMENTS / (f"{self.file}.md" if made else self.file)


def entries(manifest: Path = MANIFEST) -> list[Entry]:
    """All documents in the manifest's order."""
    documents = yaml.safe_load(manifest.read_text(encoding="utf-8"))["documents"]
    return [Entry(document["file"], document["language"]) for document in documents]


def content(entry: Entry) -> bytes:
    """The bytes of the built file, the same at every call."""
    if entry.file.endswith(".docx"):
        return docx(parse(entry.source.read_text(encoding="utf-8")), entry.language)
    if entry.file.endswith(".pdf"):
        return pdf(parse(entry.source.read_text(encoding="utf-8")))
    return entry.source.read_bytes()


def build(out: Path) -> list[Path]:
    """Writes all documents and the manifest below `out`, and removes what an earlier manifest had more."""
    remove_stale(out)
    built = [(out / entry.file, content(entry)) for entry in entries()]
    for path, data in [*built, (out / "manifest.yaml", MANIFEST.read_bytes())]:
        write(path, data)
    return [path for path, _ in built]


def remove_stale(out: Path) -> None:
    if (out / "manifest.yaml").exists():
        wanted = {entry.file for entry in entries()}
        for entry in entries(out / "manifest.yaml"):
            if entry.file not in wanted:
                (out / entry.file).unlink(missing_ok=True)


def write(path: Path, data: bytes) -> None:
    """Leaves an equal file untouched, so that its time still says when it changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE.parent / "var" / "samples", help="target folder")
    out = parser.parse_args().out
    sys.stdout.write(f"{len(build(out))} documents in {out}\n")


if __name__ == "__main__":
    main()
