"""A vision model behind an OpenAI-compatible server, as DeepSeek-OCR on vLLM: a picture in, Markdown out.

One call a page, with the model's own prompt: Docling's pipeline for such models replaces every other stage,
imports torch, and reports neither how sure the model was nor which page failed.
"""

import asyncio
import base64
import json
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Any

import httpx

from ingest.ocr.grounding import markdown_in
from ingest.ocr.page import OcrFailed, PageRead
from ingest.ocr.prepared import Prepared
from ingest.ocr.tesseract import png
from ingest.textlayer import TextLayer

MOST_TOKENS = 8192  # DeepSeek-OCR's window
LONGEST_REPLY = 4_000_000  # bytes; no page has as much
LEAST_QUALITY = 0.5  # a reply whose letters are no language's is not the page
MOST_REPEATED = 20  # times one line may come in a row: a model that lost its way repeats itself


@dataclass(frozen=True)
class Vision:
    """`url` is the server's, up to and with /v1. `seconds` are for one page in all."""

    url: str
    model: str
    prompt: str
    key_file: str = ""
    seconds: float = 120.0

    @property
    def name(self) -> str:
        return f"vision:{self.model}"

    def check(self) -> None:
        """Raises OcrFailed naming the setting that is missing."""
        for setting, value in (("RADRAG_VISION_URL", self.url), ("RADRAG_VISION_MODEL", self.model)):
            if not value:
                raise OcrFailed(f"{setting} must be set for the engine vision")
        self._key()

    def _key(self) -> str:
        """Raises OcrFailed when the file cannot be read; the message names the setting alone."""
        try:
            return Path(self.key_file).read_text(encoding="utf-8").strip() if self.key_file else ""
        except (OSError, UnicodeDecodeError) as error:
            raise OcrFailed("the file of RADRAG_VISION_API_KEY_FILE cannot be read") from error

    def read(self, page: Prepared) -> PageRead:
        """Reads a page. Raises OcrFailed; the reply itself is never in the message."""
        self.check()
        choice = self._asked(page)
        text = member(choice, "message", "content")
        if not isinstance(text, str) or not text.strip():
            raise OcrFailed("its reply has no text")
        if choice.get("finish_reason") == "length":
            raise OcrFailed("its reply was cut off at the token limit")
        markdown = markdown_in(text)
        quality = TextLayer(markdown).quality
        if quality < LEAST_QUALITY or is_stuck(markdown):
            raise OcrFailed("its reply is no text of a page")
        return PageRead(self.name, certainty(choice, quality), markdown=markdown)

    def _asked(self, page: Prepared) -> dict[str, Any]:
        try:
            reply = asyncio.run(self._posted(page))
            choice = json.loads(reply)["choices"][0]
        except TimeoutError as error:
            raise OcrFailed(f"no reply within {self.seconds:g} s (RADRAG_OCR_SECONDS)") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise OcrFailed(f"the server at RADRAG_VISION_URL failed ({type(error).__name__})") from error
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise OcrFailed("its reply is not that of an OpenAI-compatible server") from error
        if not isinstance(choice, dict):
            raise OcrFailed("its reply is not that of an OpenAI-compatible server")
        return choice

    async def _posted(self, page: Prepared) -> bytes:
        """The reply's body, read no further than its limit. Raises TimeoutError after `seconds` in all."""
        key = self._key()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        asked = (f"{self.url.rstrip('/')}/chat/completions", self._request(page))
        async with asyncio.timeout(self.seconds):
            return await replied(*asked, headers)

    def _request(self, page: Prepared) -> dict[str, object]:
        picture = "data:image/png;base64," + base64.b64encode(png(page.whole)).decode()
        content = [
            {"type": "image_url", "image_url": {"url": picture}},
            {"type": "text", "text": self.prompt},
        ]
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
            "max_tokens": MOST_TOKENS,
            "logprobs": True,
            "skip_special_tokens": False,  # the places come as special tokens; other servers ignore it
        }


async def replied(address: str, request: dict[str, object], headers: dict[str, str]) -> bytes:
    """The body of a reply. Raises OcrFailed for another status than 200."""
    async with (
        httpx.AsyncClient(timeout=None, headers=headers) as client,  # noqa: S113  # the caller has one over all
        client.stream("POST", address, json=request) as response,
    ):
        if response.status_code != httpx.codes.OK:
            raise OcrFailed(f"the server at RADRAG_VISION_URL answered {response.status_code}")
        return await body_of(response)


async def body_of(response: httpx.Response) -> bytes:
    """Raises OcrFailed as soon as it is longer than a page can be."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LONGEST_REPLY:
            raise OcrFailed(f"its reply has more than {LONGEST_REPLY:,} bytes")
    return bytes(body)


def certainty(choice: dict[str, Any], quality: float) -> float:
    """The mean probability of the reply's tokens; where the server tells none, how likely its letters are."""
    tokens = member(choice, "logprobs", "content")
    said = [one.get("logprob") for one in tokens if isinstance(one, dict)] if isinstance(tokens, list) else []
    known = [one for one in said if isinstance(one, int | float)]
    return exp(sum(known) / len(known)) if known else quality


def member(holder: dict[str, Any], outer: str, inner: str) -> object:
    """What the server put there; None where it put something of another shape."""
    found = holder.get(outer)
    return found.get(inner) if isinstance(found, dict) else None


def is_stuck(text: str) -> bool:
    lines, same = text.splitlines(), 0
    for before, line in pairwise(lines):
        same = same + 1 if line and line == before else 0
        if same >= MOST_REPEATED:
            return True
    return False
