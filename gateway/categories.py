"""Reads categories out of text: `BI-RADS 4A`, `LR-5`, `Bosniak IIF`, «тип B», `zone III`. Pure.

A category is a system and a value. Letters that look alike in two scripts are one: «4А» is `4A`.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

from gateway.lookalikes import folded

Category: TypeAlias = tuple[str, str]

# Systems by the names they go by.
_SYSTEMS = {
    r"[a-z]{1,4}[-‑–\s]?rads|lung[-‑–\s]?rads": "",  # any of the family, by its own name
    r"lr": "LIRADS",
    r"tr": "TIRADS",
    r"bosniak|босняк\w*": "BOSNIAK",
    r"fleischner\w*|флейшнер\w*": "FLEISCHNER",
    r"gleason|глисон\w*": "GLEASON",
    r"isup": "ISUP",
    r"stanford|стэнфорд\w*|стенфорд\w*": "STANFORD",
    r"debakey|дебейк\w*": "DEBAKEY",
    r"fazekas|фазекас\w*": "FAZEKAS",
    r"modic|модик\w*": "MODIC",
    r"kellgren\w*|келлгрен\w*": "KELLGREN",
    r"aspects": "ASPECTS",
    r"figo": "FIGO",
    r"child[-‑–\s]pugh|чайлд\w*[-‑–\s]пью": "CHILD-PUGH",
}
# Words before a value, as one in both languages.
_CLASSES = {
    r"types?|тип(?:а|у|ом|е|ы|ов)?": "TYPE",
    r"grades?|степен\w+": "GRADE",
    r"stages?|стади\w+": "STAGE",
    r"categor\w+|категори\w+": "CATEGORY",
    r"class(?:es)?|класс(?:а|у|ом|е|ы|ов)?": "CLASS",
    r"zones?|зон(?:а|ы|е|у|ой|ах)?": "ZONE",
    r"groups?|групп\w*": "GROUP",
    r"density|плотност\w+": "DENSITY",
}
_VALUE = r"(?:\d{1,2}[A-DXa-dx]?S?|[IVX]{1,4}[A-FА-Гa-f]?|TIV|NC|[A-FMX]|[А-Г])(?![\w+])"
_BETWEEN = r"\s*(?:[,/–—-]|\bи\b|\bили\b|\bдо\b|\band\b|\bor\b|\bto\b)\s*"
_LIST = rf"(?P<values>{_VALUE}(?:{_BETWEEN}{_VALUE})*)"
# Only with a value behind it is this a system's name.
_ONLY_WITH_VALUE = re.compile("lr|tr", re.IGNORECASE)
_CLASS_WORD = "|".join(_CLASSES)
_NAMED = re.compile(
    rf"(?<!\w)(?P<name>(?i:{'|'.join(_SYSTEMS)}))"
    rf"(?:(?:[-‑–:\s(]|(?i:{_CLASS_WORD}|score|балл\w*)(?!\w)){{0,4}}{_LIST})?"
)
_CLASSED = re.compile(rf"(?<!\w)(?P<name>(?i:{_CLASS_WORD}))[-‑–:\s]{{1,2}}{_LIST}")
_ROMAN = re.compile(r"(?<!\w)[IVX]{2,4}[A-F]?(?!\w)")
_BARE = re.compile(rf"(?<![\w.,]){_VALUE}")


@dataclass(frozen=True)
class Categories:
    """The categories of a text, the systems it names, and every mark in it that could be a value.

    `repeated`: the categories it names more than once.
    """

    named: frozenset[Category]
    systems: frozenset[str]
    bare: frozenset[str]
    repeated: frozenset[Category] = frozenset()

    def __or__(self, other: "Categories") -> "Categories":
        """The categories of both."""
        return Categories(
            self.named | other.named,
            self.systems | other.systems,
            self.bare | other.bare,
            self.repeated | other.repeated,
        )

    def said_by(self, source: "Categories", above: "Categories") -> bool:
        """Whether a source's sentence, with what stands above it, has all of these categories and systems."""
        return (
            self.systems <= source.systems | above.systems
            and all(_has(source, above, system, value) for system, value in self.named)
            and self.repeated & source.named <= source.repeated
        )


def categories(text: str) -> Categories:
    """What the text classifies."""
    text = re.sub(r"\w+", lambda match: folded(match[0]), text)
    named: Counter[Category] = Counter()
    systems = set()
    for match in _NAMED.finditer(text):
        if not match["values"] and _ONLY_WITH_VALUE.fullmatch(match["name"]):
            continue
        system = _name(match["name"], _SYSTEMS) or re.sub(r"\W", "", match["name"]).upper()
        systems.add(system)
        named.update((system, value) for value in _values(match["values"]))
    for match in _CLASSED.finditer(text):
        named.update((_name(match["name"], _CLASSES), value) for value in _values(match["values"]))
    named.update(("", match[0].upper()) for match in _ROMAN.finditer(text))
    repeated = frozenset(category for category, times in named.items() if times > 1)
    return Categories(frozenset(named), frozenset(systems), frozenset(_values(text)), repeated)


def _has(source: Categories, above: Categories, system: str, value: str) -> bool:
    """Whether the category stands there; where the system has no value there, whether the value does."""
    if (system, value) in source.named:
        return True
    others = {one for one, _ in source.named if one and one == system}
    return not others and value in source.bare | above.bare


def _name(text: str, names: dict[str, str]) -> str:
    return next(name for pattern, name in names.items() if re.fullmatch(pattern, text, re.IGNORECASE))


def _values(text: str | None) -> set[str]:
    return {match[0].upper() for match in _BARE.finditer(text or "")}
