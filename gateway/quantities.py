"""Reads numbers with their units, and codes such as `4A` or `T2`, out of English and Russian text. Pure."""

import re
from collections import Counter
from dataclasses import dataclass

from gateway.lookalikes import folded

_UNITS: dict[str, str] = {
    "Sv": "Sv Зв", "mSv": "mSv мЗв", "µSv": "µSv uSv мкЗв", "Gy": "Gy Гр", "cGy": "cGy сГр", "mGy": "mGy мГр",
    "µGy": "µGy uGy мкГр", "Bq": "Bq Бк", "kBq": "kBq кБк", "MBq": "MBq МБк", "GBq": "GBq ГБк",
    "mm": "mm мм", "cm": "cm см", "m": "m м", "µm": "µm мкм", "nm": "nm нм", "ml": "ml mL мл", "l": "l L л",
    "g": "g г", "mg": "mg мг", "µg": "µg ug мкг", "kg": "kg кг", "mmol": "mmol ммоль", "mol": "mol моль",
    "kV": "kV kVp кВ кВп", "keV": "keV кэВ", "MeV": "MeV МэВ", "mA": "mA мА", "mAs": "mAs мАс", "W": "W Вт",
    "T": "T Тл", "mT": "mT мТл", "Hz": "Hz Гц", "kHz": "kHz кГц", "MHz": "MHz МГц",
    "ms": "ms мс", "s": "s sec second seconds с сек секунд секунды секунда",
    "min": "min minute minutes мин минут минуты минута", "h": "h hour hours ч час часа часов",
    "day": "day days день дня дней сут сутки суток", "week": "week weeks неделя недели недель неделю",
    "month": "month months месяц месяца месяцев мес", "year": "year years yr yrs год года лет году",
    "%": "% percent процент процента процентов", "‰": "‰", "°": "° °C degrees градус градуса градусов",
    "HU": "HU ед", "mmHg": "mmHg", "times": "times раз раза", "lp/mm": "lp пар",
}  # fmt: skip
UNITS = {
    folded(word).replace("\u03bc", "µ"): name for name, words in _UNITS.items() for word in words.split()
}
_NUMBER = re.compile(
    r"(?<!\w)(?<!\d[.,])((?<!\w)[-−–](?=\d))?(?<!\w)(\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+)([.,]\d+)?"
    r"(?:[\s\u00a0]?([%‰]|°\s?[CС]?|[µμ]?[^\W\d_]{1,12}))?"
)
_CODE = re.compile(r"(?<!\w)(?=\w*\d)(?=\w*[^\W\d_])\w+(?:\.\d+)*(?!\w)")
_TO = " — "
_COMPARISONS = "<>≤≥±"
_RANGE = re.compile(r"(\d)\s?[-‑–—]\s?(?=\d)")


@dataclass(frozen=True)
class Quantities:
    """The numbers of a text as (value, unit or ""), its units, and its codes with its comparison signs."""

    numbers: Counter[tuple[str, str]]
    units: frozenset[str]
    codes: frozenset[str]


def quantities(text: str) -> Quantities:
    """What the text counts, in one spelling: `20 мЗв` and `20 mSv` are the same, `1,5` and `1.5` too."""
    spaced = _RANGE.sub(rf"\1{_TO}", text)
    numbers, attached = _numbers(spaced)
    units = {
        unit for word in re.findall(r"[%‰°]|[µμ]?[^\W\d_]+", text) if (unit := _unit(word)) and len(word) > 1
    }
    codes = {folded(code).upper() for code in _CODE.findall(text)} - attached
    codes |= {sign for sign in text if sign in _COMPARISONS}
    return Quantities(
        Counter(numbers), frozenset(units | ({"%"} if "%" in text else set())), frozenset(codes)
    )


def _numbers(text: str) -> tuple[list[tuple[str, str]], set[str]]:
    numbers: list[tuple[str, str]] = []
    attached, end = set(), 0
    for match in _NUMBER.finditer(text):
        unit, touches = _unit(match[4] or ""), bool(match[4]) and text[match.start(4) - 1].isdigit()
        if touches and not unit:
            continue  # a code: 4A
        if touches:
            attached.add(folded(match[0].lstrip("-−–")).upper())
        if text[end : match.start()] == _TO and numbers and not numbers[-1][1]:
            numbers[-1] = (numbers[-1][0], unit)  # in `5 — 10 мм` the first number has the second's unit
        numbers.append((_value(match[1] or "", match[2], match[3] or ""), unit))
        end = match.end()
    return numbers, attached


def _value(sign: str, whole: str, part: str) -> str:
    digits = re.sub(r"\D", "", whole).lstrip("0") or "0"
    decimals = part[1:].rstrip("0")
    return ("-" if sign else "") + (f"{digits}.{decimals}" if decimals else digits)


def _unit(word: str) -> str:
    word = folded(word.replace("\u03bc", "µ").replace(" ", ""))
    return UNITS.get(word, "")
