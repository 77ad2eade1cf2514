"""Who writes answers for an evaluation: the service, the generator alone, or it from given sources."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from cli import evaluate_service
from evaluation.functional import unsupported
from evaluation.written import Asked, Shown, Written
from gateway.answer import Kind, Prompt
from gateway.models import Generator
from gateway.openai_generator import OpenAIGenerator, Target, configured
from gateway.passage import Document, Passage, Scores
from gateway.prompt import PromptWriter, neutral
from gateway.questions import Question, language_of
from gateway.refusals import is_refusal
from gateway.templates import MESSAGES, TEMPLATES, Template
from gateway.verify import Verification, verify
from radrag.access import channels
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.errors import RadragError
from radrag.settings import Settings
from radrag.triton import ModelServer, Piece

Write = Callable[[Asked], Awaitable[Written]]
ALONE = "You are a reference service for radiologists. Answer the question from what you know, briefly."
"""What the model is told when it has no sources."""


@asynccontextmanager
async def by_service(settings: Settings) -> AsyncIterator[Write]:
    """The running service, as a caller meets it."""
    async with evaluate_service.running(settings) as running:

        async def write(asked: Asked) -> Written:
            try:
                return _of_reply(asked, await running.generate(asked.question))
            except RadragError as failure:
                return Written(asked, "", error=type(failure).__name__)

        yield write


def _of_reply(asked: Asked, reply: pb.GenerateResponse) -> Written:
    shown = tuple(_shown(parent) for parent in reply.ranked_parents)
    return Written(
        asked,
        reply.text,
        tuple(one.readable for one in shown),
        pb.Outcome.Name(reply.outcome).removeprefix("OUTCOME_"),
        len(reply.citations),
        sum(citation.verified for citation in reply.citations),
        unsupported(reply.warnings),
        shown,
    )


def _shown(parent: pb.RankedParent) -> Shown:
    named = parent.document
    heading = tuple(parent.heading_path)
    return Shown(named.document_id, named.title, heading, parent.context, parent.text, named.language)


@dataclass(frozen=True)
class Writer:
    """The generator behind its prompts; `settings` say which it is and how it samples."""

    settings: Settings
    template: Template
    generate: Callable[[str, int], AsyncGenerator[Piece, None]]

    async def alone(self, asked: Asked) -> Written:
        """The model's own answer: no sources, so no citations and no checks."""
        prompt = self.template.render(ALONE, neutral(asked.question))
        try:
            async with aclosing(self.generate(prompt, self.settings.max_tokens)) as pieces:
                text = "".join([piece.text async for piece in pieces]).strip()
        except RadragError as failure:
            return Written(asked, "", error=type(failure).__name__)
        return Written(asked, text, outcome="INSUFFICIENT_EVIDENCE" if is_refusal(text) else "")

    async def from_sources(self, frozen: Written, contexts: int, cap: int) -> Written:
        """An answer from the first `contexts` sources, `cap` characters of each (0: all), checked as ever."""
        shown = [_capped(one, cap) for one in frozen.passages[:contexts]]
        asked = _question(frozen.asked.question)
        prompt = await PromptWriter(self.template, self.settings.prompt_characters).write(
            asked, [_passage(number, one) for number, one in enumerate(shown)]
        )
        answer = Verification(prompt, asked.language, self.settings.unsupported)
        sources = tuple(one.readable for one in shown[: len(prompt.sources)])
        try:
            await self._verified(answer, prompt)
        except RadragError as failure:
            return Written(frozen.asked, "", sources, error=type(failure).__name__)
        flagged = [one for one in answer.warnings if one.kind is Kind.UNSUPPORTED_SENTENCE]
        return Written(
            frozen.asked,
            answer.text,
            sources,
            answer.outcome.name,
            len(answer.citations),
            sum(one.verified for one in answer.citations),
            len(flagged),
            tuple(shown),
        )

    async def _verified(self, answer: Verification, prompt: Prompt) -> None:
        if not prompt.sources:
            return
        pieces = self.generate(prompt.text, self.settings.max_tokens)
        async with aclosing(verify(answer, pieces)) as released:
            async for _ in released:
                pass


@asynccontextmanager
async def by_generator(settings: Settings) -> AsyncIterator[Writer]:
    """The generator that the settings name: on Triton, or behind an OpenAI-compatible server."""
    openai = _openai(settings)
    server = ModelServer(settings.generator_url, "generator")
    template = MESSAGES if openai else TEMPLATES[settings.generator_template]
    sampling = _sampling(settings) | ({"stop": list(template.stop)} if template.stop else {})
    try:
        generator = openai or Generator(server, settings.generator_model, sampling)
        yield Writer(settings, template, generator.generate)
    finally:
        await server.close()
        if openai:
            await openai.close()


def _openai(settings: Settings) -> OpenAIGenerator | None:
    if settings.generator_kind == "triton":
        return None
    channels.refuse_plaintext(
        settings, "RADRAG_OPENAI_API_KEY_FILE", settings.openai_api_key_file, settings.openai_url
    )
    target = Target(settings.openai_url, settings.openai_model, settings.openai_api_key_file)
    return configured(target, settings.openai_body, _sampling(settings), settings.generate_seconds)


def _sampling(settings: Settings) -> dict[str, object]:
    return {"temperature": settings.temperature, "top_p": settings.top_p, "seed": settings.seed}


def _question(text: str) -> Question:
    return Question(text, language_of(text), datetime.now(UTC).date())


def _capped(one: Shown, cap: int) -> Shown:
    return replace(one, text=one.text[:cap]) if cap else one


def _passage(number: int, one: Shown) -> Passage:
    document = Document(one.document, "", one.title, "", "", "", 0, one.language, "")
    name = f"{one.document}/{number}"
    place = (0, len(one.text))
    return Passage(name, document, one.heading, one.text, one.context, *place, (), (), Scores())
