"""Makes the prompt: our rules, the numbered sources, the question; what others wrote is fenced as data.

The layout of the user part is a contract with the generators: blocks `<source …>`, `<context>`,
`<question …>`. In every string that is not ours the `<` of such a mark, and of a model's control string,
becomes `‹`: one character for one, so that offsets in a source stay true.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.answer import Kind, Notice, Prompt
from gateway.passage import Passage
from gateway.questions import Question
from gateway.templates import Template

# Our own blocks; ChatML and its kin; think and tool marks; Gemma's; sentence-piece's.
_CONTROL = re.compile(
    r"<(?=\s*+(?:\||/?+\s*+(?:source|context|question|think|tool_call|tool_response|tools?|start_of_|end_of_|unused\d"
    r"|bos\b|eos\b|pad\b|unk\b|mask\b|s>|image|audio|tts_)))",
    re.IGNORECASE,
)

RULES = {
    language: Path(__file__).with_name(f"rules_{language}.txt").read_text(encoding="utf-8").strip()
    for language in ("en", "ru")
}


@dataclass(frozen=True)
class PromptWriter:
    """Writes prompts for one family of models, with sources of at most `characters` in all."""

    template: Template
    characters: int = 60_000

    async def write(self, question: Question, passages: Sequence[Passage]) -> Prompt:
        """The prompt for the best passages. Sources that do not fit are left out whole, the last first."""
        blocks = [_source(number, passage) for number, passage in enumerate(passages, 1)]
        kept = _fitting([len(block) for block in blocks], self.characters)
        user = "\n\n".join([*blocks[:kept], _question(question)])
        text = self.template.render(RULES[question.language], user)
        left_out = (Notice(Kind.TRUNCATED, "prompt"),) if kept < len(blocks) else ()
        return Prompt(text, tuple(passages[:kept]), left_out)


def neutral(text: str) -> str:
    """`text` with control strings broken, character for character."""
    return _CONTROL.sub("‹", text)


def _fitting(lengths: Sequence[int], room: int) -> int:
    """How many of the first blocks fit; the first always goes in, there is no answer without one."""
    kept = len(lengths)
    while kept > 1 and sum(lengths[:kept]) > room:
        kept -= 1
    return kept


def _source(number: int, passage: Passage) -> str:
    document = passage.document
    attributes = {
        "number": str(number),
        "title": document.title,
        "section": " > ".join(passage.heading_path),
        "document": document.document_id,
        "version": document.version,
        "date": document.valid_from,
        "category": document.category,
        "tier": str(document.tier),
        "language": document.language,
    }
    opening = " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes.items())
    context = f"<context>\n{neutral(passage.context)}\n</context>\n" if passage.context else ""
    return f"<source {opening}>\n{context}{neutral(passage.text)}\n</source>"


def _question(question: Question) -> str:
    return f'<question language="{question.language}">\n{neutral(question.text)}\n</question>'


def _attribute(value: str) -> str:
    return neutral(" ".join(value.splitlines()).replace('"', "'"))
