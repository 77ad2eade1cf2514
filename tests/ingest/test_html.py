"""A page becomes Markdown: its main content, its structure, nothing of its frame."""

import re
from collections import Counter
from time import process_time, sleep

import pytest
from bs4.element import PageElement

from ingest.document import Parsed
from ingest.html.inline import inline_of
from ingest.html.judge import judged, words_of
from ingest.html.page import parse_html
from ingest.load import Source
from ingest.parse import TEXT_PARSERS, parser
from radrag.errors import InvalidArgument


def parsed(html: str, encoding: str = "utf-8") -> Parsed:
    return parse_html(Source("page.html", "html", html.encode(encoding)))


def markdown(body: str) -> str:
    return parsed(f"<html><body>{body}</body></html>").markdown


def test_headings_paragraphs_and_title() -> None:
    page = parsed("<title>Site</title><h1>Дозы</h1><p>Одна\n  строка.</p><h2>КТ</h2><p>a<br>b</p>")
    assert page.markdown == "# Дозы\n\nОдна строка.\n\n## КТ\n\na\nb\n"
    assert page.title == "Дозы"


def test_lists_stay_nested_and_numbered() -> None:
    html = "<ol start=3><li>a<ul><li>b</li><li>c<p>d</p></li></ul></li><li>e</li></ol>"
    assert markdown(html) == "3. a\n   - b\n   - c\n     d\n4. e\n"


def test_spans_of_a_table_are_expanded_into_every_cell() -> None:
    html = (
        "<table><caption>T</caption><tr><th rowspan=2>A</th><th colspan=2>B</th></tr>"
        "<tr><th>x</th><th>y</th></tr>"
        "<tr><td rowspan=2>1</td><td>2</td><td>3|4</td></tr>"
        "<tr><td colspan=2>5<ul><li>6</ul></td></tr></table>"
    )
    assert markdown(html) == (
        "T\n\n| A | B / x | B / y |\n| --- | --- | --- |\n| 1 | 2 | 3\\|4 |\n| 1 | 5 6 | 5 6 |\n"
    )


def test_a_table_that_lays_out_a_page_is_text() -> None:
    assert markdown("<table role=presentation><tr><td><p>a</p></td><td>b</td></tr></table>") == "a\n\nb\n"


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        "<p aria-hidden='true'>x</p>",
        "<p style='display: none'>x</p>",
        "<div style='visibility:hidden'>x</div>",
        "<script>x</script>",
        "<!-- x -->",
        "<nav>x</nav>",
        "<div class='cookie-banner'>x</div>",
        "<div role='dialog'>x</div>",
        "<footer>x</footer>",
    ],
)
def test_what_no_reader_sees_or_needs_is_gone(hidden: str) -> None:
    text = "Рентгенография выполняется в двух проекциях. " * 5
    assert markdown(f"<p>{text}</p>{hidden}") == text.strip() + "\n"


def test_powers_and_indices_keep_their_meaning() -> None:
    html = "<p>10<sup>-3</sup> m<sup>2</sup>, CO<sub>2</sub>, T<sub>max</sub>, a<sup>b</sup></p>"
    assert markdown(html) == "10⁻³ m², CO₂, Tmax, a^b\n"


def test_code_keeps_its_lines_and_links_leave_their_text() -> None:
    html = "<pre>a\n\n  b</pre><p>see <a href='/x'>the page</a> and <code>kV</code></p>"
    assert markdown(html) == "```\na\n\n  b\n```\n\nsee the page and `kV`\n"


def test_the_main_element_wins_over_the_rest() -> None:
    main = "<main><h1>T</h1><p>" + "Основной текст. " * 20 + "</p></main>"
    assert "link" not in markdown(f"<div><a href=x>link one</a><a href=y>link two</a></div>{main}")


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r", "utf-16"])
@pytest.mark.parametrize("declared", ["", "<meta charset='iso-8859-1'>", "<meta charset='utf-8'>"])
def test_cyrillic_survives_wrong_and_missing_declarations(encoding: str, declared: str) -> None:
    page = parsed(
        f"<html><head>{declared}</head><body><p>Описание снимка грудной клетки</p></body></html>", encoding
    )
    assert page.markdown == "Описание снимка грудной клетки\n"


def test_a_declared_language_is_kept() -> None:
    assert parsed("<html lang='ru-RU'><body><p>x</p></body></html>").language == "ru"


PROSE = "The dose of an examination depends on the protocol, on the patient and on the scanner. "
MENU = "<nav><ul>" + "".join(f"<li><a href='/{n}'>Menu entry {n}</a></li>" for n in range(30)) + "</ul></nav>"


def article(body: str) -> str:
    page = f"<div id='page'><h1>Dose</h1>{body}</div>"
    return f"<html><body>{MENU}{page}<footer>Imprint of us</footer></body></html>"


def test_a_form_around_the_whole_page_does_not_hide_it() -> None:
    text = markdown(f"<form>{article(f'<p>{PROSE * 8}</p>')}</form>")
    assert PROSE.strip() in text
    assert "Menu entry" not in text


def test_answers_of_a_forum_are_content_though_their_class_says_comment() -> None:
    answers = "".join(f"<div class='comment'><p>Answer {n}: {PROSE * 3}</p></div>" for n in range(6))
    assert all(f"Answer {n}:" in markdown(article(answers)) for n in range(6))


def test_a_table_between_two_paragraphs_of_the_main_text_stays_a_table() -> None:
    table = "<table><tr><th>Organ</th><th>mSv</th></tr><tr><td>Liver</td><td>7</td></tr></table>"
    text = markdown(article(f"<p>{PROSE * 6}</p>{table}<p>{PROSE * 5}End.</p>"))
    assert "| Organ | mSv |\n| --- | --- |\n| Liver | 7 |" in text
    assert "Menu entry" not in text
    assert "Imprint" not in text


def test_an_entry_of_a_menu_that_repeats_a_heading_goes_the_heading_stays() -> None:
    menu, rest = ["Section one", "Section two"], ["Section two", PROSE.upper(), "Imprint of us all"]
    page = [*menu, "Section one", PROSE, *rest]
    main = f"Section one\n{PROSE}\nSection two\n{PROSE}"
    kept = judged([words_of(text) for text in page], main)
    assert kept == [False, False, True, True, True, True, False]


def test_links_leave_their_text_wherever_they_point() -> None:
    links = "<a href='../a.html'>up</a>, <a href='//host/b'>across</a>, <a href='#c'>here</a>"
    assert markdown(f"<p>See {links} and <a>nowhere</a>.</p>") == "See up, across, here and nowhere.\n"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<!DOCTYPE html><html><frameset><frame src=a></frameset></html>", ""),
        ("<!DOCTYPE html><html><body></body></html>", ""),
        ("<!DOCTYPE html><html><body><p>a<?php echo 1 ?>b<!-- c --></p></body></html>", "ab\n"),
    ],
)
def test_declarations_are_no_text(page: str, text: str) -> None:
    assert parsed(page).markdown.strip() == text.strip()


def test_spans_that_would_fill_any_memory_leave_the_text_of_their_table() -> None:
    cells = "".join(f'<tr><td colspan="100" rowspan="100">Доза {n}</td></tr>' for n in range(400))
    began = process_time()
    found = markdown(f"<main><p>{'Текст о дозах. ' * 20}</p><table>{cells}</table></main>")
    assert process_time() - began < 20
    assert "Доза 399" in found
    assert len(found) < 50_000


@pytest.mark.parametrize("nested", ["div", "ul><li"])
async def test_a_page_nested_beyond_reason_is_refused_with_the_reason(nested: str) -> None:
    page = f"<!DOCTYPE html><html><body>{f'<{nested}>' * 3000}Доза</body></html>"
    with pytest.raises(InvalidArgument, match=r"deep\.html: its elements are nested deeper than 200"):
        await parser(unasked)(Source("deep.html", "html", page.encode()))


async def test_a_page_nested_as_deep_as_allowed_is_read() -> None:
    page = f"<!DOCTYPE html><html><body>{'<div>' * 190}<p>Доза</p>{'</div>' * 190}</body></html>"
    assert (await parser(unasked)(Source("deep.html", "html", page.encode()))).markdown == "Доза\n"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<table><tr><td>Орган {}</td><td>", "</td></tr></table>"),
        ("<table><tr><td>", "</td></tr><tr><td>Орган {}</td></tr></table>"),
        ("<dl><dt>Орган {}</dt><dd>", "</dd></dl>"),
        ("<ul><li>Орган {}</li><li>", "</li></ul>"),
        ("<blockquote><p>Орган {}</p>", "</blockquote>"),
    ],
)
def test_what_is_nested_in_its_kind_is_written_once(opening: str, closing: str) -> None:
    """Twice at each level would be four thousand times here, and no end at the depth that is allowed."""
    nested = "".join(opening.format(level) for level in range(12))
    found = markdown(f"<main>{nested}Доза хрусталика{closing * 12}</main>".format(*range(12)))
    for text in [*(f"Орган {level}" for level in range(12)), "Доза хрусталика"]:
        assert len(re.findall(rf"{text}\b", found)) == 1


@pytest.mark.parametrize("depth", [4, 12])
def test_a_cell_is_written_as_often_as_the_page_is(monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    asked = Counter[str]()

    def counted(node: PageElement) -> str:
        asked[str(node)] += 1
        return inline_of(node)

    monkeypatch.setattr("ingest.html.blocks.inline_of", counted)
    tables = f"{'<table><tr><td>Орган</td><td>' * depth}Доза{'</td></tr></table>' * depth}"
    assert "Доза" in markdown(f"<main>{tables}</main>")
    assert asked["Доза"] <= 2  # the page is read once as it is, and once more where it is judged


async def test_a_page_that_takes_too_long_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(source: Source) -> Parsed:
        sleep(0.5)
        return Parsed("", "", "")

    monkeypatch.setitem(TEXT_PARSERS, "html", slow)
    with pytest.raises(InvalidArgument, match=r"a\.html: it took longer than 0.1 s"):
        await parser(unasked, seconds=0.1)(Source("a.html", "html", b"<p>"))


async def unasked(source: Source) -> Parsed:
    raise AssertionError(source.name)


def test_a_page_that_the_judge_stumbles_over_is_read_by_our_rules_and_flagged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stumble(*page: object, **options: object) -> str:
        raise ValueError("text of the page")

    page = "<html><body><nav>Menu</nav><main><h1>Дозы</h1><p>Предел для хрусталика.</p></main></body></html>"
    monkeypatch.setattr("trafilatura.extract", stumble)
    assert parsed(page).markdown == "# Дозы\n\nПредел для хрусталика.\n"
    assert parsed(page).flags == ("judge_failed",)
    monkeypatch.undo()
    assert parsed(page).flags == ()


def test_a_rowspan_that_reaches_beyond_the_table_and_wild_numbers_do_no_harm() -> None:
    rows = "<tr><th>a</th><th>b</th></tr><tr><td rowspan='9'>x</td><td colspan='0'>y</td></tr>"
    assert markdown(f"<table>{rows}<tr><td colspan='-1'>z</td></tr></table>") == (
        "| a | b |\n| --- | --- |\n| x | y |\n| x | z |\n"
    )


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("declared", [True, False])
def test_each_encoding_is_read_declared_or_not(encoding: str, declared: bool) -> None:
    said = f"<meta charset='{encoding.removesuffix('-sig')}'>" if declared else ""
    text = "Снимок органов грудной клетки выполняется в прямой проекции."
    page = parsed(f"<html><head>{said}</head><body><p>{text}</p></body></html>", encoding)
    assert page.markdown == text + "\n"
