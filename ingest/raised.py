"""Powers and indices in plain text: set on the line, their figures would make another number."""

import re

SUPERSCRIPTS = dict(zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True))
SUBSCRIPTS = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def shifted(text: str, letters: dict[str, str], otherwise: str) -> str:
    """10<sup>-3</sup> must not become 10-3: Unicode's own letters where it has them all, else a mark."""
    bare = text.strip()
    if not bare or not all(letter in letters for letter in bare):
        return f"{otherwise}{bare}" if re.fullmatch(r"[−+-]?\w{1,4}", bare) else text
    return "".join(letters[letter] for letter in bare)
