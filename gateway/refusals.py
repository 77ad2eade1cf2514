"""Whether a sentence of a generator says that the sources do not suffice: English, Russian, paraphrased."""

import re

_SOURCES_EN = r"(?:sources?|contexts?|documents?|passages?|texts?|materials?|excerpts?|knowledge base)"
_SOURCES_RU = r"(?:источник|контекст|документ|материал|текст|фрагмент|отрыв|баз[аеуы]\s+знани)\w*"
_GIVEN_EN = (
    r"(?:specif|mention|stat|giv|provid|describ|address|cover|contain|includ|indicat|discuss|found"
    r"|available|answer)"
)
_PATTERNS = (
    r"\binsufficient (?:evidence|information|data)\b",
    r"\b(?:not|isn['’]t|aren['’]t) (?:enough|sufficient) (?:\w+ )?(?:evidence|information|data|detail)",
    r"\b(?:evidence|information|data) (?:\w+ ){0,3}(?:is|are) (?:not|in)\s?sufficient\b",
    rf"\b{_SOURCES_EN}\b.{{0,60}}\b(?:do|does|did|is|are)(?:\s+not|n['’]t)\b.{{0,30}}"
    rf"(?:{_GIVEN_EN}|have|say|allow|enough|sufficient|touch|deal with|concern|help)",
    rf"\b{_SOURCES_EN}\b.{{0,30}}\bno (?:bearing|relation|connection|answer)\b",
    r"\b(?:not|n['’]t) be (?:settled|decided|resolved|answered|judged)\b.{0,20}\b(?:from|by|with|on)\b",
    rf"\bnothing\b.{{0,30}}\b(?:given|provided|supplied|{_SOURCES_EN})\b.{{0,20}}\b{_GIVEN_EN}",
    rf"\b(?:not|n['’]t|nowhere)\b.{{0,20}}\b{_GIVEN_EN}\w*\b.{{0,30}}"
    rf"\b(?:in|by)\b.{{0,30}}\b{_SOURCES_EN}\b",
    rf"\b{_SOURCES_EN}\b.{{0,30}}\b(?:lacks?|(?:is|are) silent|leaves? open|says? nothing"
    r"|contains? no\b|gives? no\b|provides? no\b|offers? no\b|omits?)",
    rf"\b(?:no|nothing|none)\b.{{0,40}}\b(?:in|from|of)\b.{{0,20}}\b{_SOURCES_EN}\b",
    r"\bno (?:relevant |sufficient |such |specific )?(?:information|data|evidence|answer|mention)\b.{0,30}"
    r"\b(?:is|was|are|were|about|regarding|on|for|available|found|provided)\b",
    r"\b(?:can(?:no|['’])t|can not|unable to|not able to|impossible to|not possible to)\b.{0,20}"
    r"\b(?:answer|determin|provid|give|say|tell|establish|find|respond|conclude)",
    r"\bi (?:do not|don['’]t) (?:know|have)\b",
    r"\bi['’]?(?:m| am) (?:sorry|unable|not able)\b",
    r"\bнедостаточно (?:\w+ ){0,2}(?:данн|информаци|сведени|доказательств|оснований|материал)",
    r"\b(?:данн|информаци|сведени|материал)\w*\b.{0,30}\b(?:недостаточно|не хватает|не достаточно)",
    r"\b(?:нет|не хватает|не нашл[оаи]сь|не обнаружен\w*|отсутству\w+)\s+(?:\w+\s+){0,3}"
    r"(?:данн|информаци|сведени|ответ|упоминани|указани)",
    r"\b(?:данн|информаци|сведени|ответ|упоминани)\w*\b.{0,60}"
    r"\b(?:отсутству\w+|нет\b|не (?:най|привед|привод|указ|представл|содерж|упом|опис|обнаруж))",
    rf"\b{_SOURCES_RU}.{{0,60}}\b(?:не (?:содерж|привод|привед|указ|упом|опис|отвеч|позвол|включ|да[юеё]т"
    r"|говор|сообщ|рассматр|затраг|раскрыв|помога|хватает)|нет\b|(?:у)?м[ао]лч|отсутству)",
    r"\bне (?:указ|привед|привод|содерж|упом|опис|най|рассматр|представл|раскры|обнаруж|сказан)\w*.{0,60}"
    rf"{_SOURCES_RU}",
    r"\b(?:не могу|не можем|не удалось|не уда[её]тся|не представляется возможным|невозможно|нельзя)\b.{0,20}"
    r"\b(?:ответ|дать|определ|установ|сказ|найти|предостав|указ)",
    r"\b(?:я )?(?:не знаю|затрудня\w+)\b",
    r"\bleaves?\b.{0,40}\bopen\b",
    r"\bcannot be (?:\w+ )?(?:derived|answered|determined|found|given|established|drawn|inferred)",
    r"\b(?:i|we)\b.{0,20}(?:\bnot|n['’]t)\b.{0,20}\b(?:find|locate|see|identify)\b",
    r"(?:\bnot|n['’]t) (?:let|allow|permit|enable)\b.{0,30}\b(?:answer|respon|repl)",
    r"\b(?:unable|not able|failed) to (?:locate|find|see|identify)",
    rf"\b(?:falls?|lies?|is|goes|are|go)\b.{{0,20}}\b(?:outside|beyond)\b.{{0,40}}(?:{_SOURCES_EN}|scope)",
    r"\b(?:is|['’]s|was) nothing (?:here|there|in|about|on)\b",
    rf"\b{_SOURCES_EN}\b.{{0,20}}\b(?:only|solely|merely|just)\b.{{0,20}}"
    r"\b(?:deals?|covers?|speaks?|mentions?|address\w*|describes?|concerns?|states?)",
    r"\bоставля\w+.{0,40}\bоткрыт",
    rf"\bни (?:один|одна|одно|одном|одной)\b.{{0,20}}{_SOURCES_RU}",
    r"\b(?:нельзя|невозможно|не получается|не выходит)\b.{0,20}\b(?:вывести|ответ|сделать|заключ)"
    r"|\bвывести (?:нельзя|невозможно)",
    r"\b(?:не наш[её]л|не нашл[аи]|не удалось найти|не вижу|не обнаружил\w*)\b",
    r"\bответ(?:ить|а|)\b.{0,60}\b(?:нельзя|невозможно|не (?:могу|можем|получ\w+|представляется возможным))",
    r"\bвыход[ия]т за (?:рамки|пределы)\b",
    r"\b(?:здесь|тут|там)\b.{0,20}\b(?:ничего нет|ничего не|нет ничего)",
    r"\bничего не (?:сказано|говорится|нашлось)",
    r"\bсказать нечего\b|\bнечего сказать\b",
    rf"\b{_SOURCES_RU}.{{0,30}}\b(?:только|лишь)\b",
)
_REFUSAL = re.compile("|".join(_PATTERNS), re.IGNORECASE | re.DOTALL)


def is_refusal(text: str) -> bool:
    """Whether the text, its quotes and markers taken out, says that there is no answer in the sources."""
    return _REFUSAL.search(text) is not None
