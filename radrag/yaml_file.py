"""Reads a YAML file that a person wrote."""

from pathlib import Path

import yaml

# What the library lets through of a malformed value: a thirteenth month, `!!bool maybe`, `!!int ""`,
# `!!timestamp x`, a list as a name, brackets a thousand deep.
BROKEN = (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError)


def content_of(path: Path) -> object:
    """What the file holds. Raises ValueError, which has none of its text, and OSError."""
    try:
        content: object = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except BROKEN as error:
        raise ValueError(f"{path.name} cannot be read as YAML ({type(error).__name__})") from None
    return content
