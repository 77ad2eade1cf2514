"""Reads the prompt that an LLM would get: the numbered sources in it, and the question."""

import re
from typing import NamedTuple

# The gateway writes these lines, and takes their marks out of everything it did not write itself.
_SOURCE = re.compile(
    r'^<source number="(?P<number>\d+)"(?P<rest>[^\n]*)>\n(?P<body>.*?)^</source>$', re.MULTILINE | re.DOTALL
)
_QUESTION = re.compile(
    r'^<question(?: language="(?P<language>[^"\n]*)")?[^\n>]*>\n(?P<body>.*?)^</question>$',
    re.MULTILINE | re.DOTALL,
)
_CONTEXT = re.compile(r"\A<context>\n(?P<context>.*?)^</context>$\n?", re.MULTILINE | re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"\n]*)"')


class Source(NamedTuple):
    """A source as numbered. title and section: where it stands. header: header rows of a table that `text`
    continues."""

    number: int
    title: str
    section: str
    header: str
    text: str


class Prompt(NamedTuple):
    """question: empty where there is none. language: of the answer's framing, "ru" or another."""

    sources: list[Source]
    question: str
    language: str


def read(prompt: str) -> Prompt:
    """What of a prompt is asked and what it may be answered from. Text outside the marks is not looked at."""
    questions = list(_QUESTION.finditer(prompt))
    if not questions:
        return Prompt([], "", "")
    question = questions[-1]
    sources = [_source(found) for found in _SOURCE.finditer(prompt, 0, question.start())]
    return Prompt(sources, question["body"].strip(), question["language"] or "")


def _source(found: re.Match[str]) -> Source:
    attributes = dict(_ATTRIBUTE.findall(found["rest"]))
    body = found["body"].removesuffix("\n")
    context = _CONTEXT.match(body)
    text = body[context.end() :] if context else body
    header = context["context"].removesuffix("\n") if context else ""
    return Source(
        int(found["number"]), attributes.get("title", ""), attributes.get("section", ""), header, text
    )
