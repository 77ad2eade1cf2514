"""The layout stage without a model: rules on fonts, gaps and ruled lines say what stands where on a page."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from docling.datamodel.accelerator_options import AcceleratorOptions
from docling.datamodel.base_models import Cluster, LayoutPrediction, Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import BaseLayoutOptions
from docling.models.base_layout_model import BaseLayoutModel
from docling_core.types.doc.base import BoundingBox
from docling_core.types.doc.labels import DocItemLabel as Label

from ingest.docling.blocks import blocks_of
from ingest.docling.furniture import furniture_of
from ingest.docling.headings import Heading, heading_of
from ingest.docling.labels import label_of
from ingest.docling.regions import aligned_tables, contents_of, ruled_tables, stands_in
from ingest.docling.rules import rules_of
from ingest.docling.survey import Survey
from ingest.docling.textline import TextLine, lines_of

SMALLEST_PICTURE = 40  # points
CONFIDENCE = 0.9  # of a rule; Docling wants a number


class RuleLayoutOptions(BaseLayoutOptions):
    """Chooses the rule-based layout."""

    kind: ClassVar[str] = "rule_layout"


class RuleLayoutModel(BaseLayoutModel):
    """Docling's layout stage. It keeps our cells and their order: no post-processing."""

    requires_layout_postprocessing = False

    def __init__(
        self,
        options: RuleLayoutOptions,
        artifacts_path: Path | None = None,
        accelerator_options: AcceleratorOptions | None = None,
        enable_remote_services: bool = False,
    ) -> None:
        self.options = options
        self.headings: list[Heading] = []  # of the document in work
        self._survey = Survey()

    @classmethod
    def get_options_type(cls) -> type[RuleLayoutOptions]:
        return RuleLayoutOptions

    def begin(self, survey: Survey) -> None:
        """Takes up a document, of which `survey` tells."""
        self._survey, self.headings = survey, []

    def survey(self, result: ConversionResult) -> Survey:
        """The survey of the document in work, whichever of its windows this is."""
        return self._survey

    def predict_layout(self, conv_res: ConversionResult, pages: Sequence[Page]) -> list[LayoutPrediction]:
        survey = self.survey(conv_res)
        return [self._predicted(page, survey) for page in pages]

    def _predicted(self, page: Page, survey: Survey) -> LayoutPrediction:
        if page._backend is None or not page._backend.is_valid():
            return LayoutPrediction()
        sheet = sheet_of(page, survey)
        self.headings += [heading_of(page.page_no, lines) for lines in sheet.headings]
        return LayoutPrediction(clusters=sheet.clusters)


def sheet_of(page: Page, survey: Survey) -> "Sheet":
    """Everything on the page, each line once, labelled."""
    assert page.size is not None
    words = page.parsed_page.word_cells if page.parsed_page else ()
    furniture = furniture_of(lines_of(page.cells, words), survey, page.size.height)
    sheet = Sheet(furniture.body)
    for line in furniture.heads:
        sheet.place(Label.PAGE_HEADER, [line])
    for line in furniture.feet:
        sheet.place(Label.PAGE_FOOTER, [line])
    place_body(sheet, page, survey)
    return sheet


def place_body(sheet: "Sheet", page: Page, survey: Survey) -> None:
    """Tables with rules, tables without, pictures, contents; what is left is text."""
    assert page.size is not None
    assert page._backend is not None
    for box in list(ruled_tables(sheet.lines, rules_of(page), page.size.width, page.size.height)):
        if len(inside := [line for line in sheet.lines if stands_in(line, box)]) >= 2:
            sheet.place(Label.TABLE, inside, box)
    for table in list(aligned_tables(sheet.lines, survey.size)):
        sheet.place(Label.TABLE, table)
    for box in page._backend.get_bitmap_rects():
        if is_picture(box, page.size.width * page.size.height):
            sheet.place(Label.PICTURE, [], box)
    if contents := contents_of(sheet.lines):
        sheet.place(Label.DOCUMENT_INDEX, contents)
    for block in blocks_of(sheet.lines, survey):
        sheet.place(label_of(block, survey), block)


def is_picture(box: BoundingBox, page_area: float) -> bool:
    large = box.r - box.l > SMALLEST_PICTURE and box.b - box.t > SMALLEST_PICTURE
    return large and box.area() < 0.9 * page_area


def box_around(lines: Sequence[TextLine]) -> BoundingBox:
    return BoundingBox(
        l=min(line.left for line in lines),
        t=min(line.top for line in lines),
        r=max(line.right for line in lines),
        b=max(line.bottom for line in lines),
    )


class Sheet:
    """A page being sorted: lines not placed yet, and the clusters made so far."""

    def __init__(self, lines: list[TextLine]) -> None:
        self.lines = lines
        self.clusters: list[Cluster] = []
        self.headings: list[list[TextLine]] = []

    def place(self, label: Label, lines: Iterable[TextLine], box: BoundingBox | None = None) -> None:
        """Makes a cluster of lines and takes them from those left."""
        taken = list(lines)
        if label == Label.SECTION_HEADER:
            self.headings.append(taken)
        self.lines = [line for line in self.lines if line not in taken]
        self.clusters.append(
            Cluster(
                id=len(self.clusters),
                label=label,
                confidence=CONFIDENCE,
                bbox=box or box_around(taken),
                cells=[cell for line in taken for cell in line.cells],
            )
        )
