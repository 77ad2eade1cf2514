"""Docling's PDF pipeline with our stages in it, or with Docling's own models where these are at hand."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

import docling.models.plugins.defaults as builtin
from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions
from docling.datamodel.base_models import Page
from docling.datamodel.pipeline_options import HeadingHierarchyOptions, ThreadedPdfPipelineOptions
from docling.models.factories import get_layout_factory, get_table_structure_factory
from docling.models.stages.page_preprocessing.page_preprocessing_model import PagePreprocessingModel
from docling.pipeline.standard_pdf_pipeline import StandardPdfPipeline

from ingest.docling.assemble import LineAssembler
from ingest.docling.headings import Heading
from ingest.docling.layout import RuleLayoutModel, RuleLayoutOptions
from ingest.docling.models import Stages, stages_of
from ingest.docling.survey import Survey
from ingest.docling.tables import RuleTableModel
from ingest.reading import Reading

# Shapes are computed only for pages that are rendered; a tiny picture keeps them and costs nothing.
TINY = 0.05


class PdfPipeline(StandardPdfPipeline):
    """The standard pipeline with our assembly; our layout does without pictures of pages."""

    def __init__(self, stages: Stages, artifacts: str) -> None:
        self.engine = stages.name
        super().__init__(pdf_options(stages, artifacts))

    def _init_models(self) -> None:
        super()._init_models()
        if isinstance(self.layout_model, RuleLayoutModel):
            self._rules = self.layout_model
            self.preprocessing_model = Unrendered(self.preprocessing_model.options)
        else:
            self._rules = RuleLayoutModel(RuleLayoutOptions())  # keeps the survey for the assembly
        self.assemble_model = LineAssembler(self._rules)

    @property
    def headings(self) -> Sequence[Heading]:
        """The headings of the document in work as they look; none where a model finds them."""
        return self._rules.headings

    def begin(self, survey: Survey) -> None:
        """Takes up a document, of which `survey` tells; its windows are then executed one by one."""
        self._rules.begin(survey)


class Unrendered(PagePreprocessingModel):
    """Reads a page's cells and leaves its picture alone."""

    def _populate_page_images(self, page: Page) -> Page:
        return page


@cache
def pdf_pipeline(reading: Reading) -> PdfPipeline:
    """Made once: setting up the stages takes a second. Raises ModelsMissing."""
    register_rules()
    return PdfPipeline(stages_of(reading), reading.artifacts)


def rendering(reading: Reading) -> ThreadedDoclingParseBackendOptions:
    """How pages are opened for the pipeline."""
    options: dict[str, float] = {"parser_threads": 1}
    if stages_of(reading).by_rules:
        options["render_scale"] = TINY
    return ThreadedDoclingParseBackendOptions.model_validate(options)


def pdf_options(stages: Stages, artifacts: str) -> ThreadedPdfPipelineOptions:
    """Layout and tables as chosen; OCR went before; headings with levels."""
    options = {
        "do_ocr": False,
        "allow_external_plugins": True,
        "enable_remote_services": not stages.by_rules,
        "artifacts_path": artifacts or None,
        "generate_parsed_pages": True,  # heading levels look at fonts
        # Stages hand pages on at once: rules gain nothing from batches.
        "batch_polling_interval_seconds": 0.01,
        "layout_batch_size": 1,
        "table_batch_size": 1,
        "layout_options": stages.layout,
        "table_structure_options": stages.tables,
        "heading_hierarchy_options": HeadingHierarchyOptions.model_validate({"enabled": True}),
    }
    return ThreadedPdfPipelineOptions.model_validate(options)


@cache
def register_rules() -> None:
    """Makes our stages known to Docling, once a process."""
    if find_spec("torch") is None:
        # The built-in table stages import torch when they are listed, even if none is used.
        builtin.table_structure_engines = lambda: {"table_structure_engines": []}
    get_layout_factory(allow_external_plugins=True).register(RuleLayoutModel, "radrag", __name__)
    get_table_structure_factory(allow_external_plugins=True).register(RuleTableModel, "radrag", __name__)
