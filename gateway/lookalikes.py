"""Letters of two scripts that look alike: `T2` is typed in Latin or Cyrillic, and means the same."""

LATIN = dict(zip("аеорсухѕіјАВЕКМНОРСТУХЅІЈ", "aeopcyxsijABEKMHOPCTYXSIJ", strict=True))
"""Cyrillic letters and the Latin ones that look the same."""

CYRILLIC = {latin: cyrillic for cyrillic, latin in LATIN.items()}
_LATIN_TABLE, _CYRILLIC_TABLE = str.maketrans(LATIN), str.maketrans(CYRILLIC)


def folded(word: str) -> str:
    """The word in one script: Cyrillic when one of its letters is only Cyrillic, else Latin. Case is kept."""
    if word.isascii():
        return word
    only_cyrillic = any("\u0400" <= sign <= "\u04ff" and sign not in LATIN for sign in word)
    return word.translate(_CYRILLIC_TABLE if only_cyrillic else _LATIN_TABLE)
