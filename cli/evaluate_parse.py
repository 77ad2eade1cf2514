"""`radrag eval parse`: every document of a folder is parsed or refused with a reason; a row for each format.

Files that are no documents, as tables of data are, are counted by their kind: none is passed over in silence.
"""

import argparse
import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from cli.exits import Exit
from cli.places import ROOT
from cli.terminal import Terminal
from evaluation import report
from evaluation.formats import File, by_format, headings_in, table, tables_in
from evaluation.provenance import provenance
from ingest.__main__ import reading
from ingest.catalogue.intake import MOSTLY_PICTURES
from ingest.document import Parsed
from ingest.kind import SUFFIXES
from ingest.load import Source, load, source_of
from ingest.parse import Parse, parser
from ingest.reader import Care, Reader
from radrag.errors import InvalidArgument
from radrag.settings import Settings

TEXT = "text"  # how a page's record names the file's own text
PARSED = {"pdf", "docx", "html", "htm", "xhtml", "md", "markdown", "txt"}  # by suffix
PICTURES = {"png", "jpg", "jpeg", "tif", "tiff"}
# And what must be refused by name.
KNOWN = PARSED | PICTURES | {"doc", "odt", "rtf", "rst", "tex", "epub", "ppt", "pptx", "xls", "xlsx"}


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Parses the files. Status 1 when one failed otherwise than by being refused."""
    settings = Settings.from_environ(environ)
    care = Care(settings.parse_files_each, settings.parse_seconds, settings.parse_megabytes)
    paths = {path.relative_to(given.folder).as_posix(): path for path in files_in(given.folder, given.limit)}
    known = {one.name: one for one in kept(given.rows)}
    left = [path for name, path in paths.items() if name not in known]
    async with Reader(given.at_once, care, reading(settings)) as reader:
        slots, parse = asyncio.Semaphore(given.at_once), parser(reader.parse)
        work = [tried(path, given.folder, parse, slots) for path in left]
        for at, done in enumerate(asyncio.as_completed(work), 1):
            one = await done
            known[one.name] = one
            keep(given.rows, one)
            screen.note(f"{at}/{len(left)} {one.name} {one.seconds:.1f} s")
    files, others = [known[name] for name in paths], others_in(given.folder)
    if given.json:
        formats = [asdict(one) for one in by_format(files)]
        rows = [asdict(one) for one in files]
        screen.json({**provenance(ROOT), "formats": formats, "not a document format": others, "files": rows})
    else:
        shown(screen, files, given.markdown)
        if others:
            screen.text(f"\nnot a document format: {told(others)}")
    return Exit.FAILURE if any(map(is_fault, files)) else Exit.OK


def is_fault(one: File) -> bool:
    """Whether it failed otherwise than by being refused."""
    return one.refused.startswith("internal")


def files_in(folder: Path, limit: int) -> Iterator[Path]:
    """Files of known suffixes, with or without .gz, in order; `limit` of each suffix, 0 for all."""
    seen: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        kind = suffix(path)
        if path.is_file() and kind in KNOWN and not (limit and seen[kind] >= limit):
            seen[kind] += 1
            yield path


def others_in(folder: Path) -> dict[str, int]:
    """How many files are in no document format, by suffix, or by name where there is none."""
    files = (path for path in folder.rglob("*") if path.is_file() and suffix(path) not in KNOWN)
    return dict(sorted(Counter(suffix(path) or path.name for path in files).items()))


def told(others: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in others.items())


def suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower().lstrip(".")


def kept(rows: Path | None) -> list[File]:
    """The rows of an earlier run. A last line that was not written whole is cut off."""
    if rows is None or not rows.exists():
        return []
    *lines, rest = rows.read_text("utf-8").split("\n")
    if rest:
        rows.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return [File(**json.loads(line)) for line in lines]


def keep(rows: Path | None, one: File) -> None:
    """Adds a row; not one of our own faults, which the next run tries again."""
    if rows is not None and not is_fault(one):
        with rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")


async def tried(path: Path, folder: Path, parse: Parse, slots: asyncio.Semaphore) -> File:
    """What became of one file."""
    name, kind = path.relative_to(folder).as_posix(), SUFFIXES.get(f".{suffix(path)}", suffix(path))
    async with slots:
        started = perf_counter()
        try:
            source = await asyncio.to_thread(opened, path)
            parsed = await parse(source)
        except InvalidArgument as error:
            return File(name, kind, seconds=perf_counter() - started, refused=f"{error.field}: {error.limit}")
        except Exception as error:  # noqa: BLE001  # what a reader lets through is what we look for
            return File(name, kind, refused=f"internal error ({type(error).__name__})")
        return found_in(name, source.kind, parsed, perf_counter() - started)


def opened(path: Path) -> Source:
    if path.suffix == ".gz":
        return source_of(path.stem, gzip.decompress(path.read_bytes()))
    return load(path)


def found_in(name: str, kind: str, parsed: Parsed, seconds: float) -> File:
    return File(
        name,
        kind,
        pages=len(parsed.records),
        headings=headings_in(parsed.markdown),
        tables=tables_in(parsed.markdown),
        ocr_pages=sum(record.engine != TEXT for record in parsed.records),
        flagged=bool(parsed.flags) or parsed.pictures > MOSTLY_PICTURES,
        seconds=round(seconds, 2),
    )


def shown(screen: Terminal, files: Sequence[File], markdown: bool) -> None:
    """The table, and the reasons with how often each was given."""
    headings, rows = table(by_format(files))
    if markdown:
        screen.text(report.markdown((headings, rows)))
        return
    screen.table(headings, rows)
    for one in files:
        if one.refused:
            screen.text(f"refused {one.name}: {one.refused}")
