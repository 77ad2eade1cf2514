"""How far the words of a question occur in a text: by stem, by meaning, by sound where only the spelling
differs.

Sounds let the Latin and Greek words of medicine meet across alphabets (`остеопороз`, `osteoporosis`) and
across endings that a stemmer leaves apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

from concepts import all_concepts, concepts
from words import Word

SAME_THING = 0.9
# A shared beginning shorter than this, or a smaller part of the longer word, is chance.
_SHORTEST, _LEAST_SHARE = 4, 0.6

_LATIN = (
    "а=a б=b в=v г=g д=d е=e ё=e ж=j з=s и=i й=i к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х= ц=s ч=s ш=s "
    "щ=s ъ= ы=i ь= э=e ю=u я=a"
)
_LETTERS = str.maketrans(dict(pair.split("=") for pair in _LATIN.split()))
# Russian writes the Greek rough breathing as г: гепатит, гистология, гидро-, гипер-.
_GREEK_H = re.compile("^г(?=ем|еп|етер|ип|ист|идр|омо|орм)")
# How English spells what Russian writes by ear; after the letters above, so that both come out alike.
_SPELLINGS = "ae=e oe=e eu=ev au=av ph=f th=t ch= ck=k qu=kv x=ks ce=se ci=si cy=si c=k q=k y=i z=s w=v h="
_FOLDS = [spelling.split("=") for spelling in _SPELLINGS.split()]


class Vocabulary:
    """The words of a text, asked for one at a time."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.counts = Counter(word.stem for word in words)
        self._concepts = all_concepts(self.counts)
        self._by_beginning: dict[str, list[str]] = defaultdict(list)
        for stem in self.counts:
            heard = sound(stem)
            if len(heard) >= _SHORTEST:
                self._by_beginning[heard[:_SHORTEST]].append(heard)

    def likeness(self, word: Word) -> float:
        """1 where the word's stem occurs, SAME_THING where a word of its meaning does; else the shared
        beginning of the most similar word as a part of the longer of the two, 0 where that is too little. A
        code is there or it is not."""
        if word.stem in self.counts:
            return 1.0
        if not self._concepts.isdisjoint(concepts(word.stem)):
            return SAME_THING
        heard = sound(word.stem)
        if word.code or len(heard) < _SHORTEST:
            return 0.0
        shares = (_share(heard, other) for other in self._by_beginning.get(heard[:_SHORTEST], ()))
        best = max(shares, default=0.0)
        return best if best >= _LEAST_SHARE else 0.0


def _share(one: str, other: str) -> float:
    """The shared beginning as a part of the longer of the two."""
    letters = enumerate(zip(one, other, strict=False))
    same = next((place for place, (a, b) in letters if a != b), min(len(one), len(other)))
    return same / max(len(one), len(other))


@lru_cache(maxsize=65536)
def sound(stem: str) -> str:
    """A spelling of `stem` that the two alphabets share, without doubled letters."""
    heard = _GREEK_H.sub("", stem).translate(_LETTERS)
    for written, said in _FOLDS:
        heard = heard.replace(written, said)
    return re.sub(r"(.)\1+", r"\1", heard)
