"""What the README repeats of the code: its files in their own first words, and the table of settings.

`make tree` writes both anew, and the settings' names in the chart's schema.
"""

import ast
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from cli import chart_settings, settings_table
from cli.places import ROOT

README = ROOT / "README.md"
ROOMS = {
    "protos": "the contracts, nothing else",
    "radrag": "what every process stands on",
    "gateway": "the answer path",
    "retrieval": "the index, asked and written over gRPC",
    "ingest": "the corpus path",
    "evaluation": "how good it is",
    "model_repository": "what Triton loads: a folder is a model, its name is its API",
    "cli": "`radrag …`: the only room that may import every other",
    "samples": "a small bilingual knowledge base and its questions",
    "benchmarks": "how fast it is",
    "deploy": "how it is run for others",
}


def listing(files: list[str]) -> str:
    """Markdown: a foldable block per room, a line per file that says what it is for."""
    return "\n".join(_room(room, [file for file in files if file.startswith(f"{room}/")]) for room in ROOMS)


def tracked() -> list[str]:
    """The project's files as git knows them, links left out."""
    line = ["git", "ls-files"]
    names = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(name for name in set(names) if (ROOT / name).is_file() and not _linked(ROOT / name))


def written(readme: str, files: list[str]) -> str:
    """The README with its two lists made anew."""
    return _filled(_filled(readme, "files", listing(files)), "settings", "\n".join(settings_table.lines()))


def _filled(readme: str, block: str, text: str) -> str:
    begin, end = f"<!-- {block}: make tree -->\n", f"<!-- end of {block} -->"
    head, rest = readme.split(begin)
    return f"{head}{begin}{text}\n{end}{rest.split(end)[1]}"


def _room(room: str, files: list[str]) -> str:
    told = [(file, purpose(ROOT / file)) for file in files]
    lines = [line for folder, group in groupby(told, key=_folder) for line in _lines(folder, list(group))]
    if not lines:
        return ""
    summary = f"<summary><code>{room}/</code> {ROOMS[room]}</summary>"
    return "\n".join(["<details>", summary, "", *lines, "", "</details>"])


def _lines(folder: str, group: list[tuple[str, str]]) -> Iterator[str]:
    for file, text in group:
        if text:
            yield f"* `{file}` {text}"


def _folder(told: tuple[str, str]) -> str:
    return str(Path(told[0]).parent)


def purpose(path: Path) -> str:
    """The first sentence of a Python file's docstring, of a proto's service or of a model's configuration."""
    if path.suffix == ".py" and "_pb2" not in path.name and path.name != "__init__.py":
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    elif path.suffix in {".proto", ".pbtxt", ".yaml", ".sh"}:
        text = _comment(path)
    else:
        return ""
    return _sentence(text)


def _comment(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    said = [line.lstrip("/# ").strip() for line in lines if line.startswith(("# ", "// "))]
    return " ".join(said[:3])


def _sentence(text: str) -> str:
    flat = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    end = flat.find(". ")
    return flat if end < 0 else flat[: end + 1]


def _linked(path: Path) -> bool:
    return any(part.is_symlink() for part in (path, *path.parents) if part != ROOT and ROOT in part.parents)


def main() -> None:
    """Writes the lists into the README, and the settings' names into the chart's schema."""
    chart_settings.renew()
    README.write_text(written(README.read_text(encoding="utf-8"), tracked()), encoding="utf-8")


if __name__ == "__main__":
    main()
