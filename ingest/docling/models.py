"""Which stages find layout and tables: rules, Docling's models from a folder, or its layout on a server."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from docling.datamodel.object_detection_engine_options import ApiKserveV2ObjectDetectionEngineOptions
from docling.datamodel.pipeline_options import (
    BaseLayoutOptions,
    BaseTableStructureOptions,
    LayoutObjectDetectionOptions,
    TableStructureOptions,
)

from ingest.docling.layout import RuleLayoutOptions
from ingest.docling.tables import RuleTableOptions
from ingest.reading import Reading

HERON = "layout_heron_default"  # Docling's name for its layout model
LAYOUT_FOLDER = "docling-project--docling-layout-heron"
TABLE_FOLDER = "docling-project--docling-models"
SERVED_AS = "layout"  # the model's name on the server
EXTRA = "pip install 'radrag[ingest-models]'"


class ModelsMissing(Exception):
    """Models are set that cannot be used here; the message names the setting and the cure."""


@dataclass(frozen=True)
class Stages:
    """The stages, and their names for the record."""

    layout: BaseLayoutOptions
    tables: BaseTableStructureOptions
    name: str

    @property
    def by_rules(self) -> bool:
        """Whether the layout is ours, which needs no pictures of pages."""
        return isinstance(self.layout, RuleLayoutOptions)


def stages_of(reading: Reading) -> Stages:
    """What the settings want. Raises ModelsMissing."""
    if not (reading.artifacts or reading.layout_url):
        return Stages(RuleLayoutOptions(), RuleTableOptions(), "docling-rules")
    require(reading.artifacts)
    tables = has_tables(reading.artifacts)
    structure = TableStructureOptions() if tables else RuleTableOptions()
    where = "@server" if reading.layout_url else ""
    name = f"docling-heron{where}+{'tableformer' if tables else 'rules'}"
    return Stages(layout_of(reading.layout_url), structure, name)


def layout_of(url: str) -> BaseLayoutOptions:
    found: BaseLayoutOptions
    if not url:
        found = LayoutObjectDetectionOptions.from_preset(HERON)
        return found
    address = url.removeprefix("http://")
    engine = ApiKserveV2ObjectDetectionEngineOptions(
        url=address, transport="http" if address != url else "grpc", model_name=SERVED_AS
    )
    found = LayoutObjectDetectionOptions.from_preset(HERON, engine_options=engine)
    return found


def require(artifacts: str) -> None:
    """A server has the weights; how pictures become its input stands in two small files beside them."""
    if find_spec("transformers") is None:
        raise ModelsMissing(f"RADRAG_DOCLING_ARTIFACTS and RADRAG_DOCLING_LAYOUT_URL need {EXTRA}")
    folder = Path(artifacts) / LAYOUT_FOLDER if artifacts else None
    if folder is None or not (folder / "preprocessor_config.json").is_file():
        wanted = f"{LAYOUT_FOLDER} with config.json and preprocessor_config.json"
        raise ModelsMissing(f"RADRAG_DOCLING_ARTIFACTS must name a folder that holds {wanted}")


def has_tables(artifacts: str) -> bool:
    return (Path(artifacts) / TABLE_FOLDER).is_dir() and find_spec("torch") is not None
