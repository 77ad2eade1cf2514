"""The table of settings for people, made from the one in the code. Run: python -m cli.settings_table"""

from dataclasses import fields
from typing import get_type_hints

from radrag.settings import Settings, variable

NAMES = {"str": "text", "int": "whole number", "float": "number", "bool": "true, false", "Path": "path"}


def lines() -> list[str]:
    """The table in Markdown."""
    hints = get_type_hints(Settings)
    rows = [
        (
            f"`{variable(one)}`",
            NAMES.get(hints[one.name].__name__, "words"),
            f"`{_written(one.default)}`" if one.default != "" else "",
            one.metadata["processes"].replace(" ", ", "),
            one.metadata["meaning"],
        )
        for one in fields(Settings)
    ]
    return [f"| {' | '.join(row)} |" for row in (HEAD, RULE, *rows)]


HEAD = ("variable", "type", "default", "process", "meaning")
RULE = ("---",) * len(HEAD)


def _written(default: object) -> str:
    if isinstance(default, tuple):
        return " ".join(default)
    return str(default).lower() if isinstance(default, bool) else str(default)


if __name__ == "__main__":
    print(*lines(), sep="\n")
