"""Groups lines into blocks: paragraphs, headings and items, column by column."""

from ingest.docling.survey import Survey
from ingest.docling.textline import TextLine

SENTENCE_END = '.:;!?»")'


def blocks_of(lines: list[TextLine], survey: Survey) -> list[list[TextLine]]:
    """The blocks, by their first lines from the top."""
    opened: list[list[TextLine]] = []
    done: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.top, line.left)):
        above = [block for block in opened if stands_above(block[-1], line)]
        block = max(above, key=lambda block: block[-1].bottom, default=None)
        if block is not None and continues(block, line, survey):
            block.append(line)
            continue
        if block is not None:
            opened.remove(block)
            done.append(block)
        opened.append([line])
    return sorted([*done, *opened], key=lambda block: (block[0].top, block[0].left))


def stands_above(upper: TextLine, line: TextLine) -> bool:
    overlap = min(line.right, upper.right) - max(line.left, upper.left)
    narrower = min(line.right - line.left, upper.right - upper.left)
    return overlap > 0.3 * narrower and upper.bottom - 0.5 * upper.height <= line.top


def continues(block: list[TextLine], line: TextLine, survey: Survey) -> bool:
    """Whether a line goes on with a block rather than opening one."""
    last = block[-1]
    if not same_style(block, line, survey) or line.is_item:
        return False
    if line.mono:
        return True
    if block[0].is_item:
        hangs = line.left > block[0].left + 0.5 * last.height
        return hangs or (len(block) > 1 and line.left >= block[1].left - 1)
    return not opens_paragraph(block, line) and not closed_by_short_line(block)


def same_style(block: list[TextLine], line: TextLine, survey: Survey) -> bool:
    last = block[-1]
    widest = max(1.45 * survey.leading + 1, 0.25 * last.height) * max(last.height / survey.size, 1)
    if line.top - last.bottom > widest or not as_tall(block, line):
        return False
    all_bold = all(other.bold for other in block)
    return line.mono == last.mono and not (line.bold != last.bold and (all_bold or line.bold))


def as_tall(block: list[TextLine], line: TextLine) -> bool:
    """Whether a line is of the block's size; a bullet may make an item's first line look taller."""
    last = block[-1]
    slack = 0.3 if last.is_item else 0.16
    return abs(line.height - last.height) <= slack * max(last.height, line.height)


def opens_paragraph(block: list[TextLine], line: TextLine) -> bool:
    """An indented first line after a finished sentence."""
    indented = line.left > min(other.left for other in block) + 0.7 * block[-1].height
    hanging = abs(line.left - block[0].left) < 40
    return len(block) >= 2 and indented and hanging and block[-1].text[-1:] in SENTENCE_END


def closed_by_short_line(block: list[TextLine]) -> bool:
    """A paragraph's last line ends its sentence well before the right edge."""
    left, right = min(line.left for line in block), max(line.right for line in block)
    short = block[-1].right < right - 0.25 * (right - left)
    return len(block) >= 2 and short and block[-1].text[-1:] in ".:;!?"
