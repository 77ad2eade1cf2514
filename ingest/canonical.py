r"""The one form every document's text takes: NFC, `\n` line ends, no outer blank lines."""

import re
import unicodedata

LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
SOFT_LINE_END = re.compile(r"\u00ad\n[ \t]*(?=\S)")
# Byte order marks, soft hyphens and control characters say nothing and break words apart.
INVISIBLE = re.compile("[\ufeff\u00ad\u200b\u2060\x00-\x08\x0e-\x1f\x7f]")


def canonical(text: str) -> str:
    """The canonical form of a document's text; its own canonical form when it is one already."""
    text = INVISIBLE.sub("", SOFT_LINE_END.sub("", LINE_END.sub("\n", text)))
    lines = unicodedata.normalize("NFC", text).split("\n")
    kept = [line if line.strip() else "" for line in lines]
    return "\n".join(kept).strip("\n") + "\n"
