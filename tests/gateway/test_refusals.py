"""A generator says in many ways that the sources do not suffice; a denial about the subject is none."""

import pytest

from gateway.refusals import is_refusal

REFUSALS = [
    "Insufficient evidence.",
    "The provided sources do not contain information about this.",
    "The sources don't specify the dose for children.",
    "There is not enough information in the context to answer.",
    "I cannot answer this question from the given documents.",
    "I can't determine this.",
    "The context is silent on this point.",
    "No information is available on that.",
    "This is not mentioned in any of the passages.",
    "Nothing in the sources answers the question.",
    "It is not possible to determine the value from the material.",
    "I don't know.",
    "The documents lack data on the subject.",
    "I'm sorry, but the text does not say.",
    "Недостаточно данных.",
    "В источниках нет данных о дозе.",
    "Предоставленные источники не содержат ответа на этот вопрос.",
    "К сожалению, информация о дозе для детей в источниках отсутствует.",
    "В приведённых документах этот показатель не указан.",
    "Данных недостаточно для ответа.",
    "Не могу ответить на этот вопрос по приведённым материалам.",
    "Ответить на вопрос невозможно: нужных сведений нет.",
    "Источники об этом молчат.",
    "Этот вопрос не рассматривается в предоставленных текстах.",
    "Контекст не позволяет дать ответ.",
    "Я не знаю.",
    "Затрудняюсь ответить.",
]
STATEMENTS = [
    "The annual dose limit is 20 mSv.",
    "Contrast must not be given to patients with thyrotoxicosis.",
    "The lesion is not seen on T1.",
    "No biopsy is needed for BI-RADS 2.",
    "MRI is contraindicated with this pacemaker.",
    "Контраст не рекомендуется при тиреотоксикозе.",
    "На Т1-ВИ образование не определяется.",
    "Биопсия не нужна.",
    "Предел дозы составляет 20 мЗв в год.",
    "Источник излучения не должен находиться в помещении.",
    "According to the sources:",
    "По данным источников:",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_seen(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
