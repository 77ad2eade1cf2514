"""The generator role on an OpenAI-compatible server: vLLM, NIM, Ollama, llama.cpp's own.

The contract is that of `gateway.models.Generator`. The prompt is `templates.MESSAGES`: system and user as
two messages, which the server's own chat template renders.
"""

import asyncio
import json
import logging
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import httpx

from gateway.openai_events import Malformed, pieces
from radrag import call, telemetry
from radrag.errors import DeadlineExceeded, ModelUnavailable, Overloaded, RadragError
from radrag.settings import SettingError
from radrag.triton import Piece

log = logging.getLogger(__name__)

ROLE = "generator"
# A server that takes longer to accept a connection is not there.
CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class Target:
    """url: up to and with /v1. key_file: what it holds is sent as a bearer token, where one is named."""

    url: str
    model: str
    key_file: str = ""

    def headers(self) -> dict[str, str]:
        """Raises OSError when the key cannot be read, ValueError when it is no key."""
        if not self.key_file:
            return {}
        key = Path(self.key_file).read_text(encoding="utf-8").strip()
        if not re.fullmatch("[!-~]+", key):
            raise ValueError(self.key_file)
        return {"Authorization": f"Bearer {key}"}


class OpenAIGenerator:
    """Prompt → pieces of an answer. `body` goes to the server with every prompt: sampling, and its own."""

    def __init__(self, target: Target, body: Mapping[str, object], seconds: float = 120.0) -> None:
        self.name = target.model
        self._body, self._seconds = body, seconds
        self._client = httpx.AsyncClient(
            base_url=target.url.rstrip("/") + "/",
            headers=target.headers(),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            # A proxy of the surroundings has no business with questions; certificates are the system's.
            trust_env=False,
            verify=ssl.create_default_context(),
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def generate(self, prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        """The pieces as they are written; leaving early closes the connection, which stops the server.

        Raises ModelUnavailable, Overloaded, DeadlineExceeded.
        """
        end = asyncio.get_running_loop().time() + call.time_left(self._seconds)
        body = {**self._body, "model": self.name, "messages": json.loads(prompt), "max_tokens": max_tokens}
        streamed = body | {"stream": True, "stream_options": {"include_usage": True}}
        async with aclosing(self._streamed(streamed)) as written:
            while (piece := await _before(end, written)) is not None:
                yield piece

    async def ready(self) -> bool:
        """Whether the server would take a prompt now: it answers, and lists the model."""
        return await self._lists(0.5)

    async def is_there(self) -> bool:
        """As `ready`, for the health check, with more patience."""
        return await self._lists(2.0)

    def weights_sha256(self) -> str:
        """Empty: these servers do not say which weights they hold."""
        return ""

    async def _streamed(self, body: dict[str, object]) -> AsyncGenerator[Piece, None]:
        headers = dict(telemetry.propagated())
        try:
            async with self._client.stream("POST", "chat/completions", json=body, headers=headers) as reply:
                if reply.status_code != httpx.codes.OK:
                    raise _refused(reply)
                async for piece in pieces(reply.aiter_bytes()):
                    yield piece
        except httpx.TimeoutException:
            raise DeadlineExceeded(f"the {ROLE} did not answer in time") from None
        except (httpx.HTTPError, Malformed) as error:
            # Its text may quote what was sent.
            log.warning("the generator's stream broke: %s", type(error).__name__)
            raise ModelUnavailable(ROLE) from None

    async def _lists(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                reply = await self._client.get("models")
            known = reply.json()["data"]
            return any(one["id"] == self.name for one in known)
        except (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError, RecursionError):
            return False


def configured(target: Target, body: str, sampling: Mapping[str, object], seconds: float) -> OpenAIGenerator:
    """The generator of the settings; `body` is JSON. Raises SettingError, naming the variable."""
    if not target.model:
        raise SettingError("RADRAG_OPENAI_MODEL is missing: the model's name as its server lists it")
    if not _is_url(target.url):
        raise SettingError("RADRAG_OPENAI_URL must be http:// or https://, a host, and the path up to /v1")
    own = _object(body)
    try:
        return OpenAIGenerator(target, {**own, **sampling}, seconds)
    except OSError as error:
        raise SettingError(f"RADRAG_OPENAI_API_KEY_FILE cannot be read: {error.strerror}") from None
    except ValueError:
        raise SettingError("RADRAG_OPENAI_API_KEY_FILE must hold one line of ASCII, without blanks") from None


def _is_url(text: str) -> bool:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        return False
    return url.scheme in {"http", "https"} and bool(url.host) and " " not in text


def _object(body: str) -> dict[str, object]:
    def refused(constant: str) -> float:  # NaN and Infinity, which are no JSON and could not be sent
        raise ValueError(constant)

    try:
        own = json.loads(body, parse_constant=refused)
    except (ValueError, RecursionError):
        own = None
    if not isinstance(own, dict):
        raise SettingError("RADRAG_OPENAI_BODY must be a JSON object")
    return own


async def _before(end: float, written: AsyncIterator[Piece]) -> Piece | None:
    """The next piece, None after the last. Raises DeadlineExceeded when the loop's clock reaches `end`."""
    try:
        async with asyncio.timeout_at(end):
            return await anext(written, None)
    except TimeoutError:
        raise DeadlineExceeded(f"the {ROLE} did not answer in time") from None


def _refused(reply: httpx.Response) -> RadragError:
    """What a status other than 200 means for the caller; the body is not read, it may quote the prompt."""
    log.warning("the generator refused with HTTP status %d", reply.status_code)
    if reply.status_code == httpx.codes.TOO_MANY_REQUESTS:
        telemetry.REJECTED.labels("model_queue").inc()
        return Overloaded(f"the {ROLE}'s queue is full", _retry_after(reply), "MODEL_QUEUE_FULL")
    if reply.status_code in {httpx.codes.REQUEST_TIMEOUT, httpx.codes.GATEWAY_TIMEOUT}:
        return DeadlineExceeded(f"the {ROLE} did not answer in time")
    return ModelUnavailable(ROLE)


def _retry_after(reply: httpx.Response) -> float:
    """The hint in seconds, 1 where there is none or it is a date."""
    text = reply.headers.get("Retry-After", "")
    return min(float(text), 3600.0) if text.isdecimal() else 1.0
