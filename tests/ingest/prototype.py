"""Prints a PDF's Markdown as the prototype of the layout rules makes it, for `radrag eval markdown --peer`.

Run: python -m tests.ingest.prototype FOLDER FILE, where FOLDER holds the package `docling_rule_layout`.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

from docling.backend.docling_parse_backend import ThreadedDoclingParseDocumentBackend
from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling.datamodel.pipeline_options import HeadingHierarchyOptions, ThreadedPdfPipelineOptions
from docling.models.factories import get_layout_factory, get_table_structure_factory
from docling.pipeline.standard_pdf_pipeline import StandardPdfPipeline

PACKAGE = "docling_rule_layout"


def pipeline(folder: Path) -> StandardPdfPipeline:
    """Its stages in Docling's pipeline, as its own `direct.py` sets them up for files with their own text."""
    sys.path.insert(0, str(folder))
    layout, table = (importlib.import_module(f"{PACKAGE}.{name}") for name in ("layout", "table"))
    importlib.import_module(PACKAGE).allow_without_torch()
    get_layout_factory(allow_external_plugins=True).register(layout.RuleLayoutModel, "prototype", PACKAGE)
    get_table_structure_factory(allow_external_plugins=True).register(
        table.RuleTableModel, "prototype", PACKAGE
    )
    options: dict[str, Any] = {
        "do_ocr": False,
        "layout_options": layout.RuleLayoutOptions(),
        "table_structure_options": table.RuleTableOptions(),
        "allow_external_plugins": True,
        "heading_hierarchy_options": HeadingHierarchyOptions.model_validate({"enabled": True}),
        "generate_parsed_pages": True,
    }
    return StandardPdfPipeline(ThreadedPdfPipelineOptions.model_validate(options))


def markdown(made: StandardPdfPipeline, file: Path) -> str:
    """As Docling itself writes it."""
    source = InputDocument(
        file,
        format=InputFormat.PDF,
        backend=ThreadedDoclingParseDocumentBackend,
        backend_options=ThreadedDoclingParseBackendOptions.model_validate({"parser_threads": 1}),
    )
    return made.execute(source, raises_on_error=True).document.export_to_markdown()


if __name__ == "__main__":
    sys.stdout.write(markdown(pipeline(Path(sys.argv[1])), Path(sys.argv[2])))
