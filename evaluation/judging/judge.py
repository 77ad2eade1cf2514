"""The judge's side of a conversation: a prompt and a schema go out, an object of that schema comes back."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping

import httpx

from evaluation.judging.outcomes import NONSENSE, TIMEOUT, UNAVAILABLE, JudgeFailure

Complete = Callable[[str, Mapping[str, object] | None], Awaitable[str]]
"""Prompt and JSON schema (None: free text) → what the model wrote."""

_THOUGHT = re.compile(r"<think>.*?</think>", re.S)


class Endpoint:
    """A judge behind an OpenAI-compatible server. `url`: up to and with /v1; `seconds`: for one reply."""

    def __init__(self, url: str, model: str, key: str = "", seconds: float = 120.0) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # A proxy of the surroundings has no business with answers.
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/") + "/", headers=headers, timeout=seconds, trust_env=False
        )
        self.name, self._seconds = model, seconds

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def complete(self, prompt: str, schema: Mapping[str, object] | None = None) -> str:
        """What the model writes. Raises JudgeFailure."""
        body: dict[str, object] = {
            "model": self.name,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
        }
        if schema is not None:
            named = {"name": "reply", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self._client.post("chat/completions", json=body)
        except (TimeoutError, httpx.TimeoutException):
            raise JudgeFailure(TIMEOUT) from None
        except httpx.HTTPError:
            raise JudgeFailure(UNAVAILABLE) from None
        if reply.is_error:
            raise JudgeFailure(UNAVAILABLE)
        return _content(reply)


def object_in(text: str) -> dict[str, object]:
    """The JSON object a model wrote, thoughts and framing words apart. Raises JudgeFailure."""
    bare = _THOUGHT.sub("", text)
    start, end = bare.find("{"), bare.rfind("}")
    try:
        value = json.loads(bare[start : end + 1])
    except json.JSONDecodeError:
        raise JudgeFailure(NONSENSE) from None
    if not isinstance(value, dict):
        raise JudgeFailure(NONSENSE)
    return value


def _content(reply: httpx.Response) -> str:
    try:
        text = reply.json()["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise JudgeFailure(NONSENSE) from None
    if not isinstance(text, str):
        raise JudgeFailure(NONSENSE)
    return text
