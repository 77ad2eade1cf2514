"""A page becomes Markdown: its main content, its structure, nothing of its frame."""

import pytest

from ingest.document import Parsed
from ingest.html.page import parse_html
from ingest.load import Source


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
