"""What Word shows of a DOCX is what its Markdown has: nothing lost, nothing hidden, no number changed."""

import pytest

from ingest.docling.convert import docx_document
from ingest.docling.markdown import pieces_of
from tests.ingest import files


def paragraph(text: str) -> str:
    return f'<w:p><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def run(text: str, about: str = "") -> str:
    return f'<w:r><w:rPr>{about}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cells(*texts: str) -> str:
    return "<w:tr>" + "".join(f"<w:tc>{text}</w:tc>" for text in texts) + "</w:tr>"


def table(*rows: str, grid: str = "<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>") -> str:
    return f"<w:tbl><w:tblPr/>{grid}{''.join(rows)}</w:tbl>"


def blocks(body: str) -> list[str]:
    """The Markdown blocks of a file whose first content is `body`."""
    data = files.with_part(files.word_file(), "word/document.xml", b"<w:body>", f"<w:body>{body}".encode())
    found = [piece.text for piece in pieces_of([docx_document("a.docx", data)])]
    assert found[-1].startswith("| Область | CTDIvol, мГр |"), "the rest of the document is gone"
    return found[: found.index("## Подготовка") - 1]


A, B, C, D = map(paragraph, "ABCD")
NUMBERED = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="99"/></w:numPr>'
ITEM = f"<w:p><w:pPr>{NUMBERED}</w:pPr><w:r><w:t>Пункт</w:t></w:r></w:p>"
TABLE = "| A | B |\n| --- | --- |\n| C | D |"
HIGH, LOW = (f'<w:vertAlign w:val="{place}script"/>' for place in ("super", "sub"))
PLUS_MINUS = '<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>'
SHOWN = '<w:vanish w:val="0"/>'
SYMBOL = '<w:rFonts w:ascii="Symbol"/>'


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (f"<w:p>{run('5 ')}{PLUS_MINUS}{run(' 2 мГр')}</w:p>", "5 ± 2 мГр"),
        (f"<w:p>{run('доза ')}{run(chr(0xF0A3), SYMBOL)}{run(' 20')}</w:p>", "доза ≤ 20"),
        (f"<w:p>{run('10')}{run('-3', HIGH)}{run(' Гр')}</w:p>", "10⁻³ Гр"),
        (f"<w:p>{run('H')}{run('2', LOW)}{run('O')}</w:p>", "H₂O"),
        (f"<w:p>{run('скрыто ', '<w:vanish/>')}{run('видно')}</w:p>", "видно"),
        (f"<w:p>{run('видно', SHOWN)}</w:p>", "видно"),
        (f"<w:p><w:ins w:id='1' w:author='a'>{run('внесено')}</w:ins></w:p>", "внесено"),
        (f"<w:p><w:moveTo w:id='1' w:author='a'>{run('сюда')}</w:moveTo></w:p>", "сюда"),
        (
            f"<w:p>{run('тут')}<w:del w:id='1' w:author='a'><w:r><w:delText>нет</w:delText></w:r></w:del>"
            f"<w:moveFrom w:id='2' w:author='a'>{run('нет')}</w:moveFrom></w:p>",
            "тут",
        ),
        (table(cells(A, B), cells(C, D), grid=""), TABLE),
        (
            table(cells(A + table(cells(C, D)) + paragraph(""), B), cells(C, D)),
            "| A C D | B |\n| --- | --- |\n| C | D |",
        ),
        (ITEM + table(cells(A, B), cells(C, D)) + ITEM, f"- Пункт\n\n{TABLE}\n\n- Пункт"),
        (f"<!-- made by --><?some program?>{paragraph('Текст.')}", "Текст."),
    ],
)  # fmt: skip
def test_what_word_shows_is_what_is_read(body: str, markdown: str) -> None:
    assert "\n\n".join(blocks(body)) == markdown
