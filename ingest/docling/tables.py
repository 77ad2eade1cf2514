"""The table stage without a model: cells from ruled lines, or from gaps in the text where there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from docling.datamodel.accelerator_options import AcceleratorOptions
from docling.datamodel.base_models import Cluster, Page, Table, TableStructurePrediction
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import BaseTableStructureOptions
from docling.models.base_table_model import BaseTableStructureModel
from docling_core.types.doc.base import BoundingBox
from docling_core.types.doc.items.table.table_data import TableCell
from docling_core.types.doc.labels import DocItemLabel
from docling_core.types.doc.page import TextCell

from ingest.docling.frame import Frame, Span, frame_of, spans_of
from ingest.docling.rules import rules_of
from ingest.docling.textline import font_of, is_bold, lines_of
from ingest.docling.words import Word, text_of


class RuleTableOptions(BaseTableStructureOptions):
    """Chooses the rule-based table structure."""

    kind: ClassVar[str] = "rule_table"


class RuleTableModel(BaseTableStructureModel):
    """Docling's table stage."""

    def __init__(
        self,
        enabled: bool,
        artifacts_path: Path | None,
        options: RuleTableOptions,
        accelerator_options: AcceleratorOptions,
        enable_remote_services: bool = False,
    ) -> None:
        self.enabled = enabled
        self.options = options

    @classmethod
    def get_options_type(cls) -> type[RuleTableOptions]:
        return RuleTableOptions

    def predict_tables(
        self, conv_res: ConversionResult, pages: Sequence[Page]
    ) -> list[TableStructurePrediction]:
        return [predicted(page) for page in pages]


def predicted(page: Page) -> TableStructurePrediction:
    prediction = TableStructurePrediction()
    layout = page.predictions.layout
    for cluster in layout.clusters if layout else []:
        if cluster.label == DocItemLabel.TABLE:
            prediction.table_map[cluster.id] = table_of(page, cluster)
        elif cluster.label == DocItemLabel.DOCUMENT_INDEX:
            prediction.table_map[cluster.id] = index_of(page, cluster)
    return prediction


@dataclass(frozen=True)
class Content:
    """A span of the grid with the words that stand in it."""

    span: Span
    box: BoundingBox
    words: list[Word]

    @property
    def bold(self) -> bool:
        return all(is_bold(word.font) for word in self.words)


def table_of(page: Page, cluster: Cluster) -> Table:
    words = words_in(page, cluster)
    frame = frame_of(words, rules_of(page).within(cluster.bbox), cluster.bbox)
    contents = [content_of(span, frame, words) for span in spans_of(frame)]
    heads = header_rows(contents, frame.height)
    return Table(
        otsl_seq=[],
        num_rows=frame.height,
        num_cols=frame.width,
        table_cells=[cell_of(content, heads) for content in contents],
        id=cluster.id,
        page_no=page.page_no,
        cluster=cluster,
        label=cluster.label,
    )


def index_of(page: Page, cluster: Cluster) -> Table:
    """Contents as a table of one column: Docling has no other place for their lines."""
    lines = [line.text for line in lines_of(cluster.cells)]
    cells = [
        TableCell(
            start_row_offset_idx=row, end_row_offset_idx=row + 1,
            start_col_offset_idx=0, end_col_offset_idx=1, text=text,
        )
        for row, text in enumerate(lines)
    ]  # fmt: skip
    return Table(
        otsl_seq=[],
        num_rows=len(lines),
        num_cols=1,
        table_cells=cells,
        id=cluster.id,
        page_no=page.page_no,
        cluster=cluster,
        label=cluster.label,
    )


def words_in(page: Page, cluster: Cluster) -> list[Word]:
    cells: list[TextCell] = list(page.parsed_page.word_cells) if page.parsed_page else []
    words = [
        Word(cell.rect.to_bounding_box(), cell.text, font_of(cell)) for cell in cells if cell.text.strip()
    ]
    inside = [word for word in words if word.box.intersection_over_self(cluster.bbox) > 0.5]
    return inside or [Word(c.rect.to_bounding_box(), c.text, font_of(c)) for c in cluster.cells]


def content_of(span: Span, frame: Frame, words: list[Word]) -> Content:
    box = frame.box(span)
    inside = [w for w in words if box.l <= w.across < box.r and box.t <= w.middle < box.b]
    return Content(span, box, inside)


def header_rows(contents: list[Content], height: int) -> int:
    """The first row, and those below it that are bold throughout as it is; the last row is never one."""
    bold: dict[int, bool] = {}
    for content in contents:
        if content.words:
            bold[content.span.top] = bold.get(content.span.top, True) and content.bold
    heads = 1 if height > 1 else 0
    while 0 < heads < height - 1 and bold.get(heads) and bold.get(heads - 1):
        heads += 1
    return heads


def cell_of(content: Content, heads: int) -> TableCell:
    span = content.span
    return TableCell(
        bbox=content.box,
        row_span=span.bottom - span.top,
        col_span=span.right - span.left,
        start_row_offset_idx=span.top,
        end_row_offset_idx=span.bottom,
        start_col_offset_idx=span.left,
        end_col_offset_idx=span.right,
        text=text_of(content.words),
        column_header=span.top < heads,
    )
