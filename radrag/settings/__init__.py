"""Every setting of every process, in one class: the fields of three tables.

The variable's name is RADRAG_ and the field's name in capitals. Only `__main__` modules and the command line
read them; everything else is given plain values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from radrag.settings.answer import AnswerSettings
from radrag.settings.knowledge import KnowledgeSettings
from radrag.settings.one import TOPICS, SettingError, parsed, unknown, variable
from radrag.settings.service import ServiceSettings

__all__ = ["TOPICS", "SettingError", "Settings", "variable"]


# The fields of the last base come first.
@dataclass(frozen=True)
class Settings(KnowledgeSettings, AnswerSettings, ServiceSettings):
    """The settings of one process, read once at its start."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Reads RADRAG_* variables. Raises SettingError for an unknown name or a bad value."""
        known = {variable(one): one for one in fields(cls)}
        given = {name: text for name, text in environ.items() if name.startswith("RADRAG_")}
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for name, text in given.items():
            if name in known:
                values[known[name].name] = parsed(name, text, hints[known[name].name])
            elif not name.startswith("RADRAG_TEST_"):
                raise SettingError(unknown(name, list(known)))
        return cls(**values)
