"""Reading pages through a vision model's server: its reply becomes Markdown, what goes wrong is named."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from time import perf_counter
from types import ModuleType

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ingest.ocr.easy import EasyOcr
from ingest.ocr.engine import Chain
from ingest.ocr.grounding import markdown_in
from ingest.ocr.page import Line, OcrFailed, PageRead, Word
from ingest.ocr.prepared import Prepared, prepared
from ingest.ocr.vision import Vision
from tests.ingest.fake_vision import FakeVision, chat, serving

REPLY = """<|ref|>header<|/ref|><|det|>[[100, 10, 900, 30]]<|/det|>
Клинические рекомендации

<|ref|>title<|/ref|><|det|>[[100, 50, 900, 90]]<|/det|>
# Протокол исследования

<|ref|>text<|/ref|><|det|>[[100, 100, 900, 200]]<|/det|>
Исследование выполняют натощак в положении лёжа на спине.

<|ref|>sub_title<|/ref|><|det|>[[100, 210, 900, 240]]<|/det|>
## 1. Дозы

<|ref|>table<|/ref|><|det|>[[100, 250, 900, 400]]<|/det|>
<table><tr><td>Область</td><td colspan="2">Доза</td></tr><tr><td>Таз</td><td>15</td><td>мГр</td></tr></table>
"""
MARKDOWN = (
    "# Протокол исследования\n\nИсследование выполняют натощак в положении лёжа на спине.\n\n## 1. Дозы\n\n"
    "| Область | Доза | Доза |\n| --- | --- | --- |\n| Таз | 15 | мГр |\n"
)


@pytest.fixture(scope="module")
def server() -> Iterator[FakeVision]:
    with serving() as fake:
        yield fake


@pytest.fixture(scope="module")
def page() -> Prepared:
    image = Image.new("L", (400, 300), 255)
    ImageDraw.Draw(image).text((20, 20), "page", fill=0)
    return prepared(image, 200)


def vision(server: FakeVision, key_file: str = "", seconds: float = 5.0) -> Vision:
    return Vision(server.url, "deepseek-ai/DeepSeek-OCR", "Convert.", key_file, seconds)


def test_a_grounded_reply_becomes_our_markdown(server: FakeVision, page: Prepared) -> None:
    server.reply = (200, chat(REPLY, logprobs=[log(0.9)] * 3), 0.0)
    read = vision(server).read(page)
    assert read.markdown == MARKDOWN
    assert read.confidence == pytest.approx(0.9)
    assert read.engine == "vision:deepseek-ai/DeepSeek-OCR"


def test_the_page_goes_as_a_picture_with_the_prompt_and_the_key(
    server: FakeVision, page: Prepared, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("secret\n")
    server.reply = (200, chat(REPLY), 0.0)
    vision(server, str(tmp_path / "key")).read(page)
    picture, prompt = server.asked[-1]["messages"][0]["content"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert prompt["text"] == "Convert."
    assert server.asked[-1]["path"] == "/v1/chat/completions"
    assert server.asked[-1]["temperature"] == 0
    assert {k.lower(): v for k, v in server.headers[-1].items()}["authorization"] == "Bearer secret"


def test_without_probabilities_the_letters_say_how_sure_it_is(server: FakeVision, page: Prepared) -> None:
    server.reply = (200, chat(REPLY), 0.0)
    assert 0.6 < vision(server).read(page).confidence < 1


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, b"secret page text", "answered 500"),
        (404, b"", "answered 404"),
        (200, b"<html>secret page text", "not that of an OpenAI-compatible server"),
        (200, {"choices": []}, "not that of an OpenAI-compatible server"),
        (200, {"choices": ["secret page text"]}, "not that of an OpenAI-compatible server"),
        (200, {"choices": [{"message": "secret page text"}]}, "no text"),
        (200, chat(""), "no text"),
        (200, chat(None), "no text"),
        (200, chat("secret page text", finish="length"), "cut off at the token limit"),
        (200, chat("zxq wvk qqj xzkw " * 30), "no text of a page"),
        (200, chat("Печень не увеличена.\n" * 40), "no text of a page"),
    ],
)
def test_what_goes_wrong_is_named_and_nothing_of_the_page_is_told(
    server: FakeVision, page: Prepared, status: int, body: object, said: str
) -> None:
    server.reply = (status, body, 0.0)
    with pytest.raises(OcrFailed, match=said) as failure:
        vision(server).read(page)
    assert "secret" not in str(failure.value)


def test_a_server_too_slow_ends_at_the_limit_which_is_named(server: FakeVision, page: Prepared) -> None:
    server.reply = (200, chat(REPLY), 1.0)
    with pytest.raises(OcrFailed, match=r"no reply within 0.2 s \(RADRAG_OCR_SECONDS\)"):
        vision(server, seconds=0.2).read(page)


def test_a_reply_that_trickles_in_ends_at_the_limit_for_the_whole_page(
    server: FakeVision, page: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece comes in time, all together do not."""
    server.reply = (200, b" " * 3_000_000, 0.0)
    monkeypatch.setattr(server, "pause", 0.1)
    began = perf_counter()
    with pytest.raises(OcrFailed, match=r"no reply within 0.5 s"):
        vision(server, seconds=0.5).read(page)
    assert perf_counter() - began < 1.5


def test_a_reply_without_end_is_read_no_further_than_a_page_can_be(
    server: FakeVision, page: Prepared
) -> None:
    server.reply = (200, b" " * 60_000_000, 0.0)
    with pytest.raises(OcrFailed, match="more than 4,000,000 bytes"):
        vision(server, seconds=30.0).read(page)
    assert server.sent < 30_000_000  # what the sockets hold comes on top


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://127.0.0.1:port/v1"])
def test_no_server_at_all_is_named_by_its_setting(page: Prepared, url: str) -> None:
    with pytest.raises(OcrFailed, match="RADRAG_VISION_URL failed"):
        Vision(url, "m", "p").read(page)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_key_that_cannot_be_read_is_named_by_its_setting_before_the_first_page(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OcrFailed, match="the file of RADRAG_VISION_API_KEY_FILE cannot be read"):
        Vision("http://127.0.0.1:9/v1", "m", "p", str(path)).check()


@pytest.mark.parametrize("logprobs", ["x", {"content": 1}, {"content": [None, {"logprob": None}]}], ids=str)
def test_probabilities_of_another_shape_count_as_none(
    server: FakeVision, page: Prepared, logprobs: object
) -> None:
    reply = chat(REPLY)
    reply["choices"][0]["logprobs"] = logprobs
    server.reply = (200, reply, 0.0)
    assert 0.5 < vision(server).read(page).confidence < 1


def test_marks_of_type_go_and_signs_of_comparison_stay() -> None:
    reply = 'При a <b и c> d, если p <i и q> 1.\n\n<div align="center">H<sub>2</sub>O<br/></div>'
    assert markdown_in(reply) == "При a <b и c> d, если p <i и q> 1.\n\nH2O\n"


def test_a_fenced_reply_with_bare_labels_is_unwrapped() -> None:
    reply = "```markdown\ntitle[[10, 20, 30, 40]]\n# Доза\n\ntext[[1, 2, 3, 4]]\nТаз: 15 мГр.\n```"
    assert markdown_in(reply) == "# Доза\n\nТаз: 15 мГр.\n"


@dataclass
class Fixed:
    """An engine that reads the same on every page, or fails."""

    name: str
    confidence: float = 0.0
    failure: str = ""
    pages: list[tuple[int, int]] = field(default_factory=list)

    def check(self) -> None:
        return None

    def read(self, page: Prepared) -> PageRead:
        self.pages.append(page.whole.size)
        if self.failure:
            raise OcrFailed(self.failure)
        line = Line((Word("text", (0, 0, 9, 9), self.confidence),), 0, 9)
        return PageRead(self.name, self.confidence, (line,))


def chain(*engines: Fixed, turn: int = 0) -> Chain:
    return Chain(engines, 0.75, lambda image: turn)


def test_an_engine_that_is_sure_is_the_only_one_asked(page: Prepared) -> None:
    second = Fixed("second", 0.99)
    assert chain(Fixed("first", 0.9), second).read(page.whole, 200).read.engine == "first"
    assert second.pages == []


def test_a_page_read_poorly_goes_to_the_next_engine(page: Prepared) -> None:
    assert chain(Fixed("first", 0.5), Fixed("second", 0.8)).read(page.whole, 200).read.engine == "second"


def test_an_engine_that_fails_leaves_the_page_to_the_one_before_and_a_note(page: Prepared) -> None:
    read = chain(Fixed("first", 0.5), Fixed("second", failure="answered 500")).read(page.whole, 200).read
    assert (read.engine, read.confidence, read.notes) == ("first", 0.5, ("second: answered 500",))


def test_a_page_no_engine_can_read_says_why_for_each(page: Prepared) -> None:
    with pytest.raises(OcrFailed, match="first: crashed; second: answered 500"):
        chain(Fixed("first", failure="crashed"), Fixed("second", failure="answered 500")).read(
            page.whole, 200
        )


def test_only_a_page_read_poorly_is_tried_on_its_side(page: Prepared) -> None:
    sure, unsure = Fixed("sure", 0.9), Fixed("unsure", 0.5)
    chain(sure, turn=90).read(page.whole, 200)
    chain(unsure, turn=90).read(page.whole, 200)
    assert sure.pages == [(400, 300)]
    assert unsure.pages == [(400, 300), (300, 400)]


def test_easyocr_without_weights_names_its_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.ocr.easy.find_spec", lambda name: object())
    with pytest.raises(OcrFailed, match=r"RADRAG_EASYOCR_MODELS must name a folder with EasyOCR's weights"):
        EasyOcr(str(tmp_path)).check()


def test_easyocr_boxes_become_lines_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Prepared
) -> None:
    """Its package is absent here: the module below has its documented interface."""
    (tmp_path / "cyrillic_g2.pth").touch()
    given: dict[str, object] = {}

    class Reader:
        def __init__(self, languages: list[str], **options: object) -> None:
            given.update(options, languages=languages)

        def readtext(self, picture: "np.ndarray[tuple[int, int], np.dtype[np.uint8]]") -> list[object]:
            def box(left: int, top: int) -> list[list[int]]:
                return [[left, top], [left + 50, top], [left + 50, top + 20], [left, top + 20]]

            return [(box(10, 60), "Доза", 0.9), (box(120, 12), "таза", 0.8), (box(10, 10), "КТ", 0.7)]

    module = ModuleType("easyocr")
    module.Reader = Reader  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "easyocr", module)
    monkeypatch.setattr("ingest.ocr.easy.find_spec", lambda name: object())
    read = EasyOcr(str(tmp_path)).read(page)
    assert [line.text for line in read.lines] == ["КТ таза", "Доза"]
    assert read.confidence == pytest.approx((0.9 * 4 + 0.8 * 4 + 0.7 * 2) / 10)
    assert given["download_enabled"] is False
    assert given["languages"] == ["ru", "en"]


def test_what_only_begins_like_a_table_stays_as_it_is() -> None:
    assert markdown_in("<table-note>5 mSv</table>") == "<table-note>5 mSv</table>\n"
