"""How a child process reads files: OCR, Docling's own models, page windows. It travels as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """Engines are tried in order: the next reads a page that the one before was not sure enough of.

    `least_confidence` is 0 to 1; below it a page is flagged, too. Paths and addresses are empty where there
    is no such thing. `window` pages at most are in work at once.
    """

    engines: tuple[str, ...] = ("tesseract",)
    languages: tuple[str, ...] = ("rus", "eng")
    least_confidence: float = 0.85  # clean scans gave .90 and more, one with a word in ten wrong .79
    page_seconds: float = 120.0
    easyocr_models: str = ""
    vision_url: str = ""
    vision_model: str = ""
    vision_prompt: str = "<|grounding|>Convert the document to markdown. "
    vision_api_key_file: str = ""
    artifacts: str = ""
    layout_url: str = ""
    window: int = 50

    def written(self) -> str:
        """As one argument of a command line. It holds no secret: keys stay in their files."""
        return json.dumps(asdict(self))


def reading_in(text: str) -> Reading:
    """What `written` wrote."""
    given: dict[str, Any] = json.loads(text)
    lists = {name: tuple(one) for name, one in given.items() if isinstance(one, list)}
    return Reading(**(given | lists))


DEFAULT = Reading()
