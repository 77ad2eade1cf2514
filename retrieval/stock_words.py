"""Text to index terms as fastembed's `Qdrant/bm25` cuts it: the stock way, to measure `words.py` against.

One language, whatever the text is in: letters and digits, lower case, that language's stop words out, its
stemmer over all. `BI-RADS 4A` gives `bi`, `rad` and `4a`; `Т2-ВИ` in Cyrillic never meets `T2` in Latin.
"""

import re
from pathlib import Path

from py_rust_stemmers import SnowballStemmer

from retrieval.words import LONGEST, StopWordsMissing

LANGUAGES = ("english", "russian")
_WORD = re.compile(r"\w+")


class StockWords:
    """Cuts text into terms with one language's stop words and stemmer."""

    def __init__(self, folder: Path, language: str) -> None:
        """Reads the language's list in `folder`. Raises StopWordsMissing."""
        file = folder / f"{language}.txt"
        self.stop_words = frozenset(file.read_text(encoding="utf-8").split() if file.is_file() else ())
        if not self.stop_words:
            raise StopWordsMissing(f"{file} is missing or empty")
        self.name = f"fastembed-{language}"
        self._stemmer = SnowballStemmer(language)

    def terms(self, text: str) -> list[str]:
        """The terms of `text` in order, repeats included, stop words left out."""
        words = (word for word in _WORD.findall(text.lower()) if word not in self.stop_words)
        return [stem for word in words if len(word) <= LONGEST and (stem := self._stemmer.stem_word(word))]
