"""Cleaning in both languages: what goes, what must stay, and that every change is on record."""

import gc
from collections.abc import Iterator
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.canonical import canonical
from ingest.clean import applied, cleaned, distinct
from ingest.document import PageRange, Parsed, Removal
from tests.ingest.test_chunk import BLOCKS, BREAKS

FILLER = "Снимок сделан в двух проекциях, и описание готово. " * 13 + "Вот."
PROSE = "The image was taken in two planes, and the report is ready. " * 11 + "So."


def clean(text: str) -> Parsed:
    found = cleaned(Parsed(canonical(text), "", "test"))
    assert found.markdown == applied(canonical(text), found.removals)
    return found


def rules(text: str) -> list[str]:
    return [one.rule for one in clean(text).removals]


def paper(title: str, authors: str, abstract: str) -> str:
    return f"# {title}\n\n{authors}\n\n## {abstract}\n\n{FILLER}"


@pytest.mark.parametrize(
    "entries",
    [
        "Введение ........ 3\n\nДозы ........ 5\n\nВыводы ........ 12",
        "- Введение\n- Дозы\n- Выводы",
        "1. Введение 3\n2. Дозы 5\n3. Выводы 12",
        "Введение… 3\nДозы…… 5\nВыводы…… 12",
    ],
)
@pytest.mark.parametrize("title", ["Содержание", "ОГЛАВЛЕНИЕ", "Table of contents", "Contents"])
def test_contents_go_with_their_title(title: str, entries: str) -> None:
    body = "\n\n".join(f"# {name}\n\n{FILLER}" for name in ("Введение", "Дозы", "Выводы"))
    found = clean(f"# {title}\n\n{entries}\n\n{body}")
    assert found.markdown == canonical(body)
    assert {one.rule for one in found.removals} == {"contents"}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("contents", f"СОДЕРЖАНИЕ\nВведение ..... 3\nДозы ..... 5\n\n{FILLER}"),
        ("contents", f"{FILLER}\n\nДозы ..... 3\nВыводы ..... 5\nСписок ..... 7\n"),
        ("contents", f"{PROSE}\n\n# Index\n\naorta 3, 5\n\nbone 12–14\n\nheart 7\n"),
        ("references", f"{FILLER}\n\n# Список литературы\n\n1. Иванов И.И. Лучевая диагностика. М., 2019. "
                       "С. 12.\n2. Петров П.П. Томография // Радиология. 2020. № 3.\n"),
        ("references", f"{PROSE}\n\n## References\n\n[1] Smith J, Jones K. MRI. Radiology. 2019;12:3.\n\n"
                       "[2] Brown A. CT dose. doi:10.1000/1\n"),
        ("references", f"{PROSE}\n\nREFERENCES\n\n1. Smith J, et al. MR. 2019\n2. Roe A, et al. CT. 2020\n"),
        ("authors", paper("МРТ сердца", "Иванов И.И., Петров П.П.\n\nНИИ кардиологии, университет, Томск",
                          "Аннотация")),
        ("authors", paper("Cardiac MRI", "John Smith¹, Mary Ann Jones²\n\n¹ University of Oslo\n\njs@uio.no",
                          "Abstract")),
        ("acknowledgements", f"# A\n\n{PROSE}\n\n## Acknowledgements\n\nWe thank all.\n\n## Next\n\n{PROSE}"),
        ("acknowledgements", f"# A\n\n{FILLER}\n\nБлагодарности. Авторы благодарят коллег.\n"),
        ("page_number", f"{FILLER}\n\n— 1 —\n\n{FILLER}\n\n— 2 —\n\n{FILLER}\n\n— 3 —\n"),
        ("page_number", f"{PROSE}\n\nPage 4 of 9\n\n{PROSE}\n\nPage 5 of 9\n\n{PROSE}\n\nPage 6 of 9\n"),
        ("letters", "РџСЂРёРІРµС‚, РјРёСЂ: СЃРЅРёРјРѕРє РіРѕС‚РѕРІ.\n"),
        ("letters", "The patientâ€™s dose was low.\n"),
        ("hyphenation", "Это томо-\nграфия, и томография готова.\n"),
        ("blanks", "Два  слова   и\n\n\n\nещё.\n"),
    ],
)  # fmt: skip
def test_each_rule_takes_out_its_own(rule: str, text: str) -> None:
    assert set(rules(text)) == {rule}


def test_lines_beside_page_numbers_that_return_go_with_them() -> None:
    text = "".join(f"{FILLER}\n\nСтр. {n} из 3\n\nПротокол КТ\n\n" for n in (1, 2, 3)) + FILLER
    assert rules(text) == ["page_number", "running_line"] * 3
    assert clean(text).markdown == canonical("\n\n".join([FILLER] * 4))


REFERENCE_TABLE = "| Автор | Год |\n| --- | --- |\n| Иванов И.И. | 2019 |\n| Петров П.П. | 2020 |"


@pytest.mark.parametrize(
    "text",
    [
        # Numbered recommendations and legal sections, whatever their titles look like.
        f"{FILLER}\n\n# Рекомендации\n\n1. Рекомендуется КТ (УДД 2, 2019).\n2. Показана МРТ (УДД 1, 2020).",
        f"{PROSE}\n\n# Recommendations\n\n1. CT is recommended (2019).\n2. MRI is recommended (2020).",
        f"{FILLER}\n\n# 2. Нормативные ссылки\n\n1. Приказ Минздрава от 31.07.2020 № 789н.\n2. ГОСТ Р 2019.",
        f"{FILLER}\n\n# Источники излучения\n\n1. Трубка, 2019.\n2. Ускоритель, 2020.",
        f"{PROSE}\n\n# Normative references\n\n1. Regulation 2016/679.\n2. Directive 2013/59.",
        "# ПРИКАЗ\n\nот 31.07.2020 № 789н\n\nИванов И.И., Петров П.П.\n\nИнститут\n\n# Введение\n\n" + FILLER,
        "# Order 12\n\nJohn Smith, Mary Jones\n\nUniversity of Oslo\n\n# Introduction\n\n" + PROSE,
        # Titles of apparatus above something else.
        f"# Содержание\n\nЙод 370\n\nГадолиний 1\n\nБарий 200\n\n# Дальше\n\n{FILLER}",
        f"# Contents\n\nFive syringes\n\nOne catheter\n\n# More\n\n{PROSE}",
        f"{FILLER}\n\n# Литература\n\n{REFERENCE_TABLE}",
        f"{FILLER}\n\n# Литература\n\nО роли книги в обучении врача написано много.",
        f"# Содержание\n\n{REFERENCE_TABLE}\n\n# Автор\n\n{FILLER}",
        f"# Acknowledgements\n\n| Name | Year |\n| --- | --- |\n| A | 1 |\n\n# Next\n\n{PROSE}",
        # Repetition alone is no running head: grades repeat. Numbers alone need not be pages.
        "".join(f"{FILLER}\n\nУровень убедительности рекомендаций A\n\n" for _ in range(5)),
        f"{FILLER}\n\n12\n\n{FILLER}\n\n7\n\n{FILLER}\n\n30\n",
        "Шаг\n\n1\n\nВзять\n\n2\n\nДать\n\n3\n\nКонец\n",
        # Compounds, ranges and tables keep their hyphens and their blanks.
        "| a  b | c   d |\n| --- | --- |\n| 1  2 | 3  4 |",
        "```\na  b\n\n\n\nc-\nd\n```",
        f"Согласие на обработку\n\nАдрес ______\nПодпись ______\nСрок действия ______\n\n{FILLER}",
        "“Quotes” and ‘these’ stay, № 5 too: ±5 °C, 10⁻³ µSv.",
        "# Magnetic Resonance Imaging\n\nJohn Smith Method\n\n## Introduction\n\n" + PROSE,
    ],
)
def test_what_only_looks_like_apparatus_stays(text: str) -> None:
    assert clean(text).markdown == canonical(text)


@pytest.mark.parametrize(
    ("parted", "whole"),
    [
        ("Это МРТ-\nисследование. МРТ-исследование.", "Это МРТ-исследование. МРТ-исследование."),
        ("Скажи кому-\nто другому.", "Скажи кому-то другому."),
        ("Доза 10-\n15 мГр.", "Доза 10-15 мГр."),
        ("A follow-\nup scan, a follow-up.", "A follow-up scan, a follow-up."),
        ("The tomo-\n  graphy room.", "The tomography room."),
    ],
)
def test_a_line_end_is_taken_out_of_a_word_and_only_its_own_hyphen_stays(parted: str, whole: str) -> None:
    assert clean(parted).markdown == whole + "\n"


def test_a_repair_is_recorded_for_the_words_it_touched_alone() -> None:
    (one,) = clean("Был РџСЂРёРІРµС‚, и всё.").removals
    assert (one.rule, one.start, one.end, one.text) == ("letters", 4, 17, "Привет,")
    (one,) = clean("The ﬁrst and last.").removals
    assert (one.start, one.end, one.text) == (4, 8, "first")


def test_a_soft_hyphen_at_a_line_end_parts_no_word() -> None:
    assert canonical("томо\u00ad\n  графия") == "томография\n"


@pytest.fixture
def no_collections() -> Iterator[None]:
    """A collection of garbage goes through all that the whole test run holds, whatever the length here."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("entry", ["Part {n} {n}", "Part {n}x"], ids=["by-pages", "by-headings"])
def test_long_contents_are_found_in_a_time_in_proportion_to_their_length(
    entry: str, no_collections: None
) -> None:
    def seconds(entries: int) -> float:
        lines = [entry.format(n=n) for n in range(entries)]
        listed = "\n\n".join("\n".join(lines[at : at + 3]) for at in range(0, entries, 3))
        rest = "\n\n".join(f"# Part {n}x\n\nWhat it says." for n in range(entries))
        began = process_time()
        text = cleaned(Parsed(f"# Contents\n\n{listed}\n\n{rest}\n", "", "text")).markdown
        assert text.startswith("# Part 0x\n")
        return process_time() - began

    few = min(seconds(300), seconds(300))
    assert seconds(2400) < 24 * few  # eight times as long; in proportion to the square it was 64


def test_a_text_of_nothing_but_references_stays() -> None:
    text = canonical("# Литература\n\n1. Иванов И.И. Дозы. М., 2019.\n2. Петров П.П. Дозы. М., 2020.")
    assert clean(text).markdown == text


def test_pages_and_what_the_reader_wants_out_follow_the_text() -> None:
    raw = "Один\n\n1\n\nдва\n\n# Содержание\n\nА ..... 1\n\nБ ..... 2\n\n# А\n\nконец\n"
    head = Removal("running_head", raw.index("\n\n1"), raw.index("два"), " ")
    pages = (PageRange(0, raw.index("два"), 1), PageRange(raw.index("два"), len(raw), 2))
    found = cleaned(Parsed(raw, "", "test", pages, removals=(head,)))
    assert found.markdown == "Один два\n\n# А\n\nконец\n"
    assert found.pages == (PageRange(0, 5, 1), PageRange(5, len(found.markdown), 2))
    assert [one.rule for one in found.removals] == ["running_head", "contents"]


def test_a_list_of_references_goes_whole_though_a_running_foot_stands_in_it() -> None:
    cited = "1. Иванов И.И. Дозы. М., 2019.\n\n12\n\n2. Ким А.А. КТ. М., 2020.\n\n13"
    raw = f"{FILLER}\n\n# Литература\n\n{cited}\n"
    feet = tuple(Removal("running_foot", at := raw.index(f"\n\n{n}\n"), at + 4) for n in (12, 13))
    found = cleaned(Parsed(raw, "", "test", removals=feet))
    assert found.markdown == f"{FILLER}\n"
    assert {one.rule for one in found.removals} == {"references"}


APPARATUS = st.sampled_from(
    [
        "# Содержание",
        "# References",
        "Доза ..... 3\nСнимок ..... 5\nПечень ..... 9",
        "1. Иванов И.И. Дозы. М., 2019.",
        "[2] Smith J, et al. CT. doi:1",
        "— 2 —",
        "Acknowledgements. We thank all.",
        "РџСЂРёРІРµС‚  РјРёСЂ",
        "томо-\nграфия  и\t\tдозы ",
        "cafe-\n\u0301x-\n5",
    ]
)


# What a reader wants out: where it starts, how long it is, what takes its place.
MARKS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(1, 20), st.sampled_from(["", " ", "\n"])), max_size=4
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(BLOCKS, APPARATUS), min_size=1, max_size=10), BREAKS, MARKS)
def test_outside_the_recorded_ranges_the_text_is_untouched(
    blocks: list[str], joint: str, marks: list[tuple[int, int, str]]
) -> None:
    raw = canonical(joint.join(blocks))
    middle = len(raw) // 2
    pages = (PageRange(0, middle, 1), PageRange(middle, len(raw), 2))
    heads = [
        Removal("head", at, min(at + long, len(raw)), put) for at, long, put in marks if at < len(raw) - 1
    ]
    heads = [one for one in distinct(heads) if "|" not in raw[one.start : one.end]]
    if applied(raw, heads) != canonical(applied(raw, heads)):
        heads = []
    found = cleaned(Parsed(raw, "", "test", pages, removals=tuple(heads)))
    assert found.markdown == applied(raw, found.removals) == canonical(found.markdown)
    assert all(one.end <= other.start for one, other in pairwise(found.removals))
    for one in found.removals:
        assert 0 <= one.start < one.end <= len(raw)
        assert raw[one.start : one.end] != one.text
    assert all("|" not in raw[one.start : one.end] for one in found.removals)
    assert found.pages[0].start == 0
    assert found.pages[-1].end == len(found.markdown)
    assert all(one.end == other.start for one, other in pairwise(found.pages))
