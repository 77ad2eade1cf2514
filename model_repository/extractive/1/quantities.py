"""What kind of number a question asks for, and whether a statement gives one of that kind."""

import re
from typing import NamedTuple

_COUNT = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|third|quarter|yearly|annual\w*|weekly|daily|"
    r"один|одна|одно|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|двенадцат\w+|треть|половин\w+|"
    r"четверт\w+|ежегодн\w+|ежедневн\w+|еженедельн\w+"
)
_NUMBER = re.compile(rf"\d|\b(?:{_COUNT})\b", re.IGNORECASE)

# Question words and the units that an answer to them carries.
_KINDS = [
    (re.compile(asked, re.IGNORECASE), re.compile(given, re.IGNORECASE))
    for asked, given in (
        (r"temperature|температур\w*", r"°|\bK\b|градус|degree|kelvin|кельвин"),
        (
            r"diameter|thick\w*|width|wide|height|depth|size|length|distance|how (?:large|big|high|deep)|"
            r"диаметр\w*|толщин\w*|ширин\w*|высот\w*|размер\w*|длин\w*|глубин\w*|расстояни\w*|по величине",
            r"\b(?:mm|cm|m|µm|мм|см|м|мкм)\b",
        ),
        (r"volume|объ[её]м\w*", r"\b(?:ml|l|cm3|mm3|мл|л|см3|мм3)\b|[cс][mм]³|лит[рe]|litre|cubic"),
        (r"\bangle|\bуг(?:ол|ла|лом|лы)\b", r"°|degree|градус"),
        (r"velocity|speed|скорост\w*", r"/s\b|/с\b|per second|в секунду"),
        (
            r"percent\w*|per cent|share|proportion|процент\w*|какая (?:доля|часть)",
            r"%|percent|per cent|процент|дол[яи]|half|third|quarter|треть|половин|четверт",
        ),
        (
            r"\bhow (?:often|long|soon|old)|\bwhen\b|half-life|\bdelay|\bperiod\b|\bage\b|как долго|"
            r"как часто|за сколько|"
            r"через сколько|сколько (?:лет|дней|часов|минут|месяцев|времени|хран)|"
            r"\bсрок\w*|\bпериод\w*|возраст\w*|когда",
            r"\b(?:s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|yearly|daily|weekly|"
            r"monthly|annual\w*|с|"
            r"сек\w*|мин\w*|ч|час\w*|дн\w*|день|сут\w*|недел\w*|месяц\w*|год\w*|лет|еже\w+)\b",
        ),
        (
            r"\bdos(?:e|es|age)\b|\bдоз(?:а|ы|у|е|ой)?\b",
            r"\b(?:[muµ]?sv|[mµ]?gy|м?к?зв|м?гр|mg|мг|ml|мл|mmol|ммоль|[mg]?bq|[мг]?бк|g|г|units?|ед)\b",
        ),
        (r"density|плотност\w*|\bHU\b", r"\bHU\b|ед\. ?[HХ]|г/см|g/cm|хаунсфилд|hounsfield"),
        (r"pressure|давлени\w*", r"mm ?hg|мм рт|kpa|кпа|\bbar\b|\bбар\b"),
        (
            r"how (?:many|much)|(?:what|which) (?:number|value|limit|level|ratio|rate|score|threshold|"
            r"cut-off|percentile|"
            r"b-value)|сколько|чему равн\w*|до какого|от какого|"
            r"како[вйе]\w* .{0,25}(?:предел|значени|уров|порог|коэффициент|индекс|величин)\w*",
            _NUMBER.pattern,
        ),
    )
]


class Wanted(NamedTuple):
    """The units that will do; none where the question does not ask for a number."""

    units: tuple[re.Pattern[str], ...]

    def fit(self, statement: str, beside: str) -> float:
        """1: a number of the kind asked for; -0.7: a number of another kind; -1: no number; 0: none is
        asked for.

        beside: headings and table header, which may name the unit.
        """
        if not self.units:
            return 0.0
        if not _NUMBER.search(statement):
            return -1.0
        return 1.0 if any(unit.search(statement) or unit.search(beside) for unit in self.units) else -0.7


def wanted(question: str) -> Wanted:
    """What a question in English or Russian asks for."""
    return Wanted(tuple(given for asked, given in _KINDS if asked.search(question)))
