"""Says what a block of lines is: heading, item, code, caption, formula, footnote or plain text."""

import re
from statistics import median

from docling_core.types.doc.labels import DocItemLabel as Label

from ingest.docling.survey import Survey
from ingest.docling.textline import TextLine, font_of

NUMBERED_HEADING = re.compile(
    r"(\d{1,2}(\.\d{1,3}){0,4}\.?|[IVX]{1,5}\.|[A-ZА-Я]\.|"
    r"(Глава|Раздел|Часть|Приложение|Chapter|Part|Appendix|Section)\s+[\dA-ZА-ЯIVX]+[.:]?)\s+\S"
)
CAPTION = re.compile(
    r"(Figure|Fig\.|Table|Tab\.|Рис\.|Рисунок|Таблица|Табл\.|Листинг|Listing)\s*[\d.IVX]+", re.I
)
FORMULA_FONT = re.compile(r"cmmi|cmsy|cmex|msbm|math", re.I)
CODE_MARK = re.compile(r"[_<>=;{}\\]|\w\(|\*\w")
NOTE_MARK = re.compile(r"(\d{1,2}|[*†‡])\s?\S")
LONGEST_HEADING = 160  # characters
BIGGER, SMALLER = 1.12, 0.86  # than the body's size: a heading, a note


def label_of(block: list[TextLine], survey: Survey) -> Label:
    text = " ".join(line.text for line in block)
    if CAPTION.match(text) and len(text) < 400:
        return Label.CAPTION
    if all(line.mono for line in block):
        return Label.CODE
    if is_formula(block, text):
        return Label.FORMULA
    if is_heading(block, text, survey):
        return Label.SECTION_HEADER
    if block[0].is_item:
        return Label.LIST_ITEM
    small = median(line.height for line in block) < SMALLER * survey.size
    return Label.FOOTNOTE if small and NOTE_MARK.match(text) else Label.TEXT


def is_formula(block: list[TextLine], text: str) -> bool:
    cells = [cell for line in block for cell in line.cells]
    mathematical = sum(len(cell.text) for cell in cells if FORMULA_FONT.search(font_of(cell)))
    return mathematical > 0.35 * len(text) and len(text) < 200


def is_heading(block: list[TextLine], text: str, survey: Survey) -> bool:
    """Short, and larger than the body, or bold, or in capitals; an item only if numbered like one."""
    if not could_be_heading(block, text) or (block[0].is_item and not NUMBERED_HEADING.match(text)):
        return False
    if min(line.height for line in block) > BIGGER * survey.size:
        return True
    if ends_like_sentence(text) or CODE_MARK.search(text):
        return False
    bold = all(line.bold for line in block) and len(block) <= 2
    return bold or (in_capitals(text) and len(block) == 1 and len(text.split()) >= 2)


def could_be_heading(block: list[TextLine], text: str) -> bool:
    letters = sum(letter.isalpha() for letter in text)
    allowed = 2 if NUMBERED_HEADING.match(text) else 1  # questions as headings are long, and numbered
    short = len(block) <= 3 * allowed and len(text) < LONGEST_HEADING * allowed
    return short and letters >= 3 and not text[:1].islower()


def ends_like_sentence(text: str) -> bool:
    return text.rstrip().endswith((".", ";", ",", ":")) and not NUMBERED_HEADING.match(text)


def in_capitals(text: str) -> bool:
    return text.isupper() and sum(letter.isalpha() for letter in text) > 5
