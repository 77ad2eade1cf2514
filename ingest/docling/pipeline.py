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
from ingest.docling.survey import Survey
from ingest.docling.tables import RuleTableModel, RuleTableOptions
from ingest.reading import Reading

# Shapes are computed only for pages that are rendered; a tiny picture keeps them and costs nothing.
TINY = 0.05


class RulePdfPipeline(StandardPdfPipeline):
    """The standard pipeline with our assembly, and without pictures of pages, which no rule looks at."""

    engine = "docling-rules"

    def _init_models(self) -> None:
        super()._init_models()
        self.preprocessing_model = Unrendered(self.preprocessing_model.options)
        self.assemble_model = LineAssembler(self.rules)

    @property
    def rules(self) -> RuleLayoutModel:
        """The layout stage."""
        assert isinstance(self.layout_model, RuleLayoutModel)
        return self.layout_model

    @property
    def headings(self) -> Sequence[Heading]:
        """The headings of the document in work."""
        return self.rules.headings

    def begin(self, survey: Survey) -> None:
        """Takes up a document, of which `survey` tells; its windows are then executed one by one."""
        self.rules.begin(survey)


class Unrendered(PagePreprocessingModel):
    """Reads a page's cells and leaves its picture alone."""

    def _populate_page_images(self, page: Page) -> Page:
        return page


@cache
def pdf_pipeline(reading: Reading) -> RulePdfPipeline:
    """Made once: setting up the stages takes a second."""
    return RulePdfPipeline(pdf_options())


def rendering(reading: Reading) -> ThreadedDoclingParseBackendOptions:
    """How pages are opened for the pipeline."""
    return ThreadedDoclingParseBackendOptions.model_validate({"parser_threads": 1, "render_scale": TINY})


def pdf_options() -> ThreadedPdfPipelineOptions:
    """Our layout and tables; OCR went before; headings with levels."""
    register_rules()
    options = {
        "do_ocr": False,
        "allow_external_plugins": True,
        "generate_parsed_pages": True,  # heading levels look at fonts
        # Stages hand pages on at once: rules gain nothing from batches.
        "batch_polling_interval_seconds": 0.01,
        "layout_batch_size": 1,
        "table_batch_size": 1,
        "layout_options": RuleLayoutOptions(),
        "table_structure_options": RuleTableOptions(),
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
