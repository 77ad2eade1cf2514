"""Reads the commands of the operations guide: a line after `$` is one or more simple commands, as words."""

import re
import shlex
from collections.abc import Iterator

from cli.places import ROOT

GUIDE = ROOT / "deploy" / "README.md"
LINE = re.compile(r"^    \$ (.*)$", re.MULTILINE)
APART = {"|", "&&", ";", "{", "}", "<", ">"}


def lines() -> list[str]:
    """The guide's command lines; a here-document's first one."""
    return LINE.findall(GUIDE.read_text(encoding="utf-8"))


def simple(line: str) -> Iterator[list[str]]:
    """The commands of a line: without its comment, assignments before them, and redirections."""
    text = re.sub(r"\$\([^)]*\)", "x", line)
    reader = shlex.shlex(text, posix=True, punctuation_chars="|&;{}<>")
    reader.whitespace_split = True
    words: list[str] = []
    for word in [*reader, ";"]:
        if word in APART:
            yield from _command(words)
            words = []
        else:
            words.append(word)


def _command(words: list[str]) -> Iterator[list[str]]:
    while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] == "env"):
        words = words[1:]
    if words:
        yield words
    if "--" in words:  # kubectl exec POD -- COMMAND
        yield from _command(words[words.index("--") + 1 :])


def commands(program: str) -> list[list[str]]:
    """Every command of the guide that is this program's, without the program's own name."""
    found = [words for line in lines() for words in simple(line)]
    return [words[1:] for words in found if words[0].rpartition("/")[2] == program]
