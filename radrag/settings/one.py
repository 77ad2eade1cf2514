"""One setting: its default, whose it is, what it means; and how its text is read."""

import difflib
from dataclasses import Field, field
from typing import Any

TOPICS = ("safety", "physics", "regulation", "anatomy", "reference_values", "terminology", "templates")


class SettingError(ValueError):
    """A setting is unknown or has a value its type or range does not allow; the message names it."""


def setting(default: object, processes: str, meaning: str) -> Any:
    """A field of a table of settings."""
    return field(default=default, metadata={"processes": processes, "meaning": meaning})


def variable(one: "Field[Any]") -> str:
    """The environment variable of a field."""
    return f"RADRAG_{one.name.upper()}"


def unknown(name: str, known: list[str]) -> str:
    """That there is no such setting, with the nearest there is."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else "")


def parsed(name: str, text: str, kind: Any) -> object:
    """A value of the field's type. Raises SettingError."""
    if kind is bool:
        if text.lower() not in {"true", "false", "1", "0"}:
            raise SettingError(f"{name} must be true or false")
        return text.lower() in {"true", "1"}
    if kind == tuple[str, ...]:
        return tuple(part for part in text.replace(",", " ").split() if part)
    try:
        return kind(text)
    except ValueError:
        raise SettingError(f"{name} must be of type {kind.__name__}") from None
