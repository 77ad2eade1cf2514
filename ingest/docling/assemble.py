"""Puts the lines of a block together: words parted at a line's end are joined, compounds and numbers are not.

Docling itself joins at every hyphen, so that "737-" above "9" becomes "7379", and it loses the lines of code.
"""

import re
from collections import Counter
from collections.abc import Iterable

from docling.datamodel.base_models import Page
from docling.datamodel.document import ConversionResult
from docling.models.stages.page_assemble.page_assemble_model import PageAssembleModel, PageAssembleOptions
from docling_core.types.doc.labels import DocItemLabel

from ingest.docling.layout import RuleLayoutModel
from ingest.hyphens import joins

# Stands at a line's end for "keep this end": private use, so no document means it.
KEPT, LINE_END = "\ue0fe", "\ue0ff"
PARTED = re.compile(r"([^\W_]+)-$")


class LineAssembler(PageAssembleModel):
    """Docling's assembly with the document's own words deciding on hyphens."""

    def __init__(self, layout: RuleLayoutModel) -> None:
        super().__init__(options=PageAssembleOptions())
        self._layout = layout
        self._words: Counter[str] = Counter()

    def __call__(self, conv_res: ConversionResult, page_batch: Iterable[Page]) -> Iterable[Page]:
        self._words = self._layout.survey(conv_res).words
        for page in page_batch:
            mark_code(page)
            yield from super().__call__(conv_res, [page])

    def sanitize_text(self, lines: list[str]) -> str:
        marked = [
            line + KEPT if keeps_hyphen(line, after, self._words) else line
            for line, after in zip(lines, [*lines[1:], ""], strict=True)
        ]
        text = super().sanitize_text(marked).replace(f"{KEPT} ", "").replace(KEPT, "")
        return re.sub(f"{LINE_END} ?", "\n", text).rstrip()


def mark_code(page: Page) -> None:
    """Marks the ends of lines of code, which would be joined by blanks, and restores their indentation."""
    layout = page.predictions.layout
    for cluster in layout.clusters if layout else []:
        if cluster.label == DocItemLabel.CODE:
            for cell in cluster.cells:
                cell.text = cell.text.rstrip() + LINE_END


def keeps_hyphen(line: str, after: str, words: Counter[str]) -> bool:
    """Whether the hyphen at the end of `line` belongs to the word that goes on in `after`."""
    head, tail = PARTED.search(line), re.match(r"[^\W_]+", after)
    return bool(head and tail and not joins(head.group(1), tail.group(), words))
