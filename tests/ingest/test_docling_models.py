"""Docling's own layout model: asked for on a server, and named where something for it is missing."""

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.load import Source
from ingest.reader import Reader
from ingest.reading import Reading
from radrag.errors import InvalidArgument
from tests.ingest import files

TRANSFORMERS = importlib.util.find_spec("transformers") is not None
LABELS = ["caption", "footnote", "formula", "list_item", "page_footer", "page_header", "picture"]
LABELS += ["section_header", "table", "text", "title"]
PAGE = files.pdf([files.heading("Протокол"), files.body("Печень не увеличена, контуры ровные. " * 12)])


@pytest.mark.skipif(TRANSFORMERS, reason="transformers is installed here")
async def test_without_the_package_for_models_the_extra_is_named() -> None:
    async with Reader(reading=Reading(layout_url="127.0.0.1:8001")) as reader:
        with pytest.raises(InvalidArgument, match=r"need pip install 'radrag\[ingest-models\]'"):
            await reader.parse(Source("a.pdf", "pdf", PAGE))


@pytest.mark.skipif(not TRANSFORMERS, reason="transformers is not installed: extra ingest-models")
async def test_without_its_folder_the_setting_is_named(tmp_path: Path) -> None:
    async with Reader(reading=Reading(artifacts=str(tmp_path))) as reader:
        with pytest.raises(InvalidArgument, match="RADRAG_DOCLING_ARTIFACTS must name a folder"):
            await reader.parse(Source("a.pdf", "pdf", PAGE))


@pytest.mark.skipif(not TRANSFORMERS, reason="transformers is not installed: extra ingest-models")
async def test_the_layout_comes_from_the_server_and_the_document_says_so(
    layout_server: str, tmp_path: Path
) -> None:
    """It answers that the top of the page is a heading and the rest text."""
    folder = tmp_path / "docling-project--docling-layout-heron"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({"model_type": "rt_detr_v2", "id2label": dict(enumerate(LABELS))})
    )
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    async with Reader(reading=Reading(artifacts=str(tmp_path), layout_url=layout_server)) as reader:
        parsed = await reader.parse(Source("a.pdf", "pdf", PAGE))
    assert parsed.engine == "docling-heron@server+rules"
    heading, body = parsed.markdown.strip().split("\n\n")
    assert heading.lstrip("# ") == "Протокол"
    assert heading.startswith("#")
    assert body.startswith("Печень не увеличена")


PREPROCESSOR = {
    "do_normalize": False,
    "do_pad": False,
    "do_rescale": True,
    "do_resize": True,
    "image_processor_type": "RTDetrImageProcessor",
    "rescale_factor": 1 / 255,
    "resample": 2,
    "size": {"height": 640, "width": 640},
}
METADATA = {
    "name": "layout",
    "versions": ["1"],
    "platform": "onnxruntime_onnx",
    "inputs": [
        {"name": "images", "datatype": "FP32", "shape": [-1, 3, 640, 640]},
        {"name": "orig_target_sizes", "datatype": "INT64", "shape": [-1, 2]},
    ],
    "outputs": [
        {"name": "labels", "datatype": "INT64", "shape": [-1, 300]},
        {"name": "boxes", "datatype": "FP32", "shape": [-1, 300, 4]},
        {"name": "scores", "datatype": "FP32", "shape": [-1, 300]},
    ],
}


@pytest.fixture
def layout_server() -> Iterator[str]:
    """A KServe v2 server (HTTP, binary tensors) with one model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Layout)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class Layout(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(json.dumps(METADATA).encode(), {})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        width, height = 595.0, 842.0
        boxes = [[40, 70, width - 40, 112], [40, 113, width - 40, height - 60]]
        tensors: list[tuple[str, str, np.ndarray[Any, Any]]] = [
            ("labels", "INT64", np.array([[7, 9]], np.int64)),
            ("boxes", "FP32", np.array([boxes], np.float32)),
            ("scores", "FP32", np.full((1, 2), 0.9, np.float32)),
        ]
        outputs = [
            {"name": n, "datatype": t, "shape": list(a.shape), "parameters": {"binary_data_size": a.nbytes}}
            for n, t, a in tensors
        ]
        head = json.dumps({"model_name": "layout", "outputs": outputs}).encode()
        body = head + b"".join(array.tobytes() for _, _, array in tensors)
        self.answer(body, {"Inference-Header-Content-Length": str(len(head))})

    def answer(self, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        kind = "application/octet-stream" if headers else "application/json"
        for name, value in {**headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: object) -> None:
        pass
