"""Where things lie in the checkout: environments, models, run-time state.

Relative settings mean the checkout when they are defaults, and the current folder when somebody gave them.
"""

from collections.abc import Mapping
from pathlib import Path

from radrag.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
MODEL_REPOSITORY = ROOT / "model_repository"
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def home(settings: Settings, environ: Mapping[str, str]) -> Path:
    """The absolute folder of run-time state."""
    return (Path.cwd() if "RADRAG_HOME" in environ else ROOT) / settings.home


def tokenizer(settings: Settings, environ: Mapping[str, str]) -> Path:
    """The embedder's tokenizer.json."""
    given = "RADRAG_EMBEDDER_TOKENIZER" in environ
    return (Path.cwd() if given else ROOT) / settings.embedder_tokenizer


def index(settings: Settings, environ: Mapping[str, str]) -> Path:
    """The absolute folder of the index: below the home unless it has a setting of its own."""
    return (
        Path.cwd() / settings.index_path
        if "RADRAG_INDEX_PATH" in environ
        else home(settings, environ) / "index"
    )
