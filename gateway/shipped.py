"""The files that come with the program: thresholds, messages, scope. One under the given path comes first."""

from pathlib import Path

ROOT = Path(__file__).parent.parent


def file(path: Path) -> Path:
    """A file as given, or, where there is none, the one that comes with the program."""
    return path if path.exists() else ROOT / path
