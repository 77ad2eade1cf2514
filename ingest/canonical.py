r"""The one form every document's text takes: NFC, `\n` line ends, no outer blank lines."""

import re
import unicodedata

LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
SOFT_LINE_END = re.compile(r"\u00ad\n[ \t]*(?=\S)")
# Byte order marks, soft hyphens and control characters say nothing and break words apart.
INVISIBLE = re.compile("[\ufeff\u00ad\u200b\u2060\x00-\x08\x0e-\x1f\x7f]")

# Marks in a row beyond that are no language's (UAX 15, stream-safe text), and NFC takes the square of them.
MOST_MARKS = 30
SIGNS = re.compile(rf"[^\x00-\u02ff\w\s]{{{MOST_MARKS + 1},}}")


def canonical(text: str) -> str:
    """The canonical form of a document's text; its own canonical form when it is one already."""
    text = INVISIBLE.sub("", SOFT_LINE_END.sub("", LINE_END.sub("\n", text)))
    lines = unicodedata.normalize("NFC", SIGNS.sub(with_fewer_marks, text)).split("\n")
    kept = [line if line.strip() else "" for line in lines]
    return "\n".join(kept).strip("\n") + "\n"


def with_fewer_marks(signs: "re.Match[str]") -> str:
    """A row of signs without the combining marks that follow too many others."""
    kept, marks = [], 0
    for sign in signs.group():
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks <= MOST_MARKS:
            kept.append(sign)
    return "".join(kept)
