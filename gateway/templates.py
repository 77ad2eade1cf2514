"""Renders {system, user} as the one text a generator reads: a renderer per family of models.

Model servers never template; an OpenAI-compatible server does, and gets MESSAGES. Sources: the Qwen3 and
Gemma 3 chat templates. The untrusted strings are already without control strings when they come here.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """How a family of models is addressed, and the strings at which it must stop writing."""

    render: Callable[[str, str], str]
    stop: tuple[str, ...] = ()


def _plain(system: str, user: str) -> str:
    return f"{system}\n\n{user}"


def _chatml(system: str, user: str) -> str:
    # The empty think block is how Qwen3 is told not to reason aloud.
    return _chatml_instruct(system, user) + "<think>\n\n</think>\n\n"


def _chatml_instruct(system: str, user: str) -> str:
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"
    )


def _gemma(system: str, user: str) -> str:
    # Gemma has no system turn: the rules open the user's.
    return f"<start_of_turn>user\n{system}\n\n{user}<end_of_turn>\n<start_of_turn>model\n"


def _messages(system: str, user: str) -> str:
    roles = {"system": system, "user": user}
    return json.dumps([{"role": role, "content": text} for role, text in roles.items()], ensure_ascii=False)


MESSAGES = Template(_messages)
TEMPLATES = {
    "plain": Template(_plain),
    "chatml": Template(_chatml, ("<|im_end|>",)),
    # Qwen3's Instruct-2507, which never thinks.
    "chatml_instruct": Template(_chatml_instruct, ("<|im_end|>",)),
    "gemma": Template(_gemma, ("<end_of_turn>",)),
}
