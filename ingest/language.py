"""Names a text's language by its script: Cyrillic is Russian here, everything else English."""

import re

CYRILLIC = re.compile("[\u0400-\u04ff]")
LETTER = re.compile(r"[^\W\d_]")


def language_of(text: str) -> str:
    """ISO 639-1: "ru" from three Cyrillic letters in ten on (Latin codes abound in Russian), else "en"."""
    letters = len(LETTER.findall(text))
    return "ru" if letters and len(CYRILLIC.findall(text)) >= 0.3 * letters else "en"
