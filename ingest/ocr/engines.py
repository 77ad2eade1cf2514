"""Makes the chain of engines that the settings want."""

from collections.abc import Callable
from functools import cache

from ingest.ocr.easy import EasyOcr
from ingest.ocr.engine import Chain, Engine
from ingest.ocr.page import OcrFailed
from ingest.ocr.tesseract import Tesseract
from ingest.ocr.vision import Vision
from ingest.reading import Reading

ENGINES: dict[str, Callable[[Reading], Engine]] = {
    "tesseract": lambda reading: Tesseract(reading.languages, reading.page_seconds),
    "easyocr": lambda reading: EasyOcr(reading.easyocr_models, reading.languages),
    "vision": lambda reading: Vision(
        reading.vision_url,
        reading.vision_model,
        reading.vision_prompt,
        reading.vision_api_key_file,
        reading.page_seconds,
    ),
}


@cache
def chain_of(reading: Reading) -> Chain:
    """The engines in the order of the settings, made once: some load a model.

    Raises OcrFailed for a name that is none.
    """
    for name in reading.engines:
        if name not in ENGINES:
            raise OcrFailed(f"RADRAG_OCR_ENGINES: {name!r} is none of {', '.join(ENGINES)}")
    engines = [ENGINES[name](reading) for name in reading.engines]
    return Chain(engines, reading.least_confidence, Tesseract((), reading.page_seconds).turn)
