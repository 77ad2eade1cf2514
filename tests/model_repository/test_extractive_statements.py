"""What a source states, and what each statement needs beside it."""

from quantities import wanted
from statements import statements

TEXT = """# Приборы

Вступление. Оно краткое.

## Нормы

Пределы приведены в таблице:

| Ткань | Т1, мс |
|---|---|
| Печень | 576 |
| Почка. Кора | 966 |

Порядок действий:

1. Снять одежду. Проверить список.
- [ ] Спросить пациента.
🙂
"""


def quoted() -> list[tuple[str, str, list[str], str]]:
    def text(span: tuple[int, int] | None) -> str:
        return TEXT[slice(*span)] if span else ""

    return [
        (TEXT[one.start : one.end], text(one.header), [text(span) for span in one.above], text(one.before))
        for one in statements(TEXT)
    ]


def test_sentences_rows_and_items_come_with_their_surroundings() -> None:
    above = ["# Приборы", "## Нормы"]
    table, steps = [*above, "Пределы приведены в таблице:"], [*above, "Порядок действий:"]
    assert quoted() == [
        ("Вступление.", "", ["# Приборы"], ""),
        ("Оно краткое.", "", ["# Приборы"], "Вступление."),
        ("Пределы приведены в таблице:", "", above, ""),
        ("| Печень | 576 |", "| Ткань | Т1, мс |", table, ""),
        ("| Почка. Кора | 966 |", "| Ткань | Т1, мс |", table, ""),
        ("Порядок действий:", "", above, ""),
        ("Снять одежду.", "", steps, ""),
        ("Проверить список.", "", steps, "Снять одежду."),
        ("[ ] Спросить пациента.", "", steps, "Проверить список."),
    ]


def test_headings_rules_and_header_rows_state_nothing() -> None:
    assert statements("# A\n\n---\n\n| a | b |\n|---|---|\n") == []
    assert statements("") == []


def test_a_question_after_a_quantity_wants_its_unit() -> None:
    diameter = wanted("What is the diameter of the aorta?")
    assert diameter.fit("It is 30 mm wide.", "") == 1
    assert diameter.fit("| Aorta | 30 |", "| Vessel | Diameter, mm |") == 1
    assert diameter.fit("It is seen in 30 % of people.", "") == -0.7
    assert diameter.fit("It is wide.", "") == -1


def test_russian_quantities_are_known_too() -> None:
    assert wanted("Какой срок хранения снимков?").fit("Снимки хранят 5 лет.", "") == 1
    assert wanted("Сколько сегментов в печени?").fit("В печени восемь сегментов.", "") == 1
    assert wanted("Какова скорость звука в кости?").fit("Она равна 4080 м/с.", "") == 1


def test_other_questions_want_no_number() -> None:
    for question in ("Which artery supplies the head?", "Почему нельзя сворачивать провода?"):
        assert wanted(question).fit("Any text.", "") == 0
