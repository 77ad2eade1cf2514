"""Finds what no answer may rest on in a source: HTML comments, and sentences that speak to the machine. Pure.

A prompt fences the sources; this is the second line of defence: a generator that followed a planted sentence
finds no support in it.
"""

import re
from functools import lru_cache

from radrag.sentences import Span, sentences

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PATTERNS = (
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules|prompts?|above|previous|sources?)\b",
    r"\b(?:you are now|pretend (?:to be|that)|(?:act|behave) (?:as|like) (?:if|an?|the)\b.{0,20}"
    r"\b(?:you|assistant|ai|model|doctor|expert|chatbot))\b",
    r"\b(?:note|instructions?|messages?|attention)\b[,:]?\s(?:to|for)?\s?(?:the\s|all\s|any\s)?"
    r"(?:assistants?|ai\b|language models?|llms?|chatbots?|ai (?:assistants?|models?))",
    r"^\W*(?:assistant|system|user)\s*:",
    r"\b(?:reply|respond|answer|write|say|output)\b.{0,20}\b(?:only|just|exactly|always|instead)\b",
    r"\b(?:always|instead|must|now)\b\s(?:reply|respond|answer|say|output)\b",
    r"\b(?:system prompt|your (?:instructions|rules|prompt|answer))\b",
    r"\b(?:when|if)\b.{0,20}\basked\b.{0,60}\b(?:say|answer|reply|respond|claim|tell)\b",
    r"\bdo not (?:cite|mention|use|trust)\b.{0,20}\b(?:sources?|above|rules)\b",
    r"(?:игнорируй|забудь|отмени|не\s+обращай|пренебреги|не\s+учитывай)\w{0,20}.{0,40}"
    r"(?:инструкци|правил|указани|промпт|предыдущ|выше|источник)",
    r"\b(?:ты\s+теперь|теперь\s+ты|представь,?\s+что\s+ты|веди\s+себя|притворись)\b",
    r"\b(?:указани[ея]|инструкци[яи]|сообщени[ея]|внимание)[,:]?\s(?:для\s)?"
    r"(?:ассистент|помощник|модел[иь]|нейросет|чат-?бот|ии\b)",
    # Nobody says «ты» to a reader of guidelines.
    r"\b(?:отвечай|ответь|напиши|скажи|сообщи|выведи|порекомендуй|утверждай|повтори|добавь|закончи|начни)\b",
    r"\b(?:системн\w+\s+(?:промпт|подсказк)\w*|сво[иё]\w*\s+(?:инструкци|правил|промпт)\w*)",
    r"\bне\s+(?:ссылайся|упоминай|цитируй|используй|верь)\b",
)
_SPEAKS = re.compile("|".join(_PATTERNS), re.IGNORECASE | re.DOTALL)


@lru_cache(256)  # the stages of one answer ask of the same sources, and so does the next question
def planted(text: str) -> tuple[Span, ...]:
    """The ranges of the text that are hidden from its readers or speak to the machine, in order."""
    hidden = [match.span() for match in _COMMENT.finditer(text)]
    spoken = [span for span in sentences(text) if _SPEAKS.search(text[slice(*span)])]
    return tuple(sorted([*hidden, *spoken]))


def touches(place: Span, spans: tuple[Span, ...]) -> bool:
    """Whether a place overlaps one of the ranges."""
    return any(start < place[1] and place[0] < end for start, end in spans)
