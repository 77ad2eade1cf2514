"""An answer path whose parts give obvious answers: two passages, a reranker that counts words."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import date

from gateway import messages, scope
from gateway.answer import Prompt
from gateway.passage import Document, Found, MatchedChild, Passage, QueryVector, Scores
from gateway.pipeline import Pipeline
from gateway.prompt import PromptWriter
from gateway.questions import Limits, Question
from gateway.shipped import ROOT
from gateway.sufficiency import Judge
from gateway.templates import TEMPLATES
from gateway.thresholds import Degraded, Thresholds
from gateway.verify import verify
from radrag.errors import ModelUnavailable
from radrag.telemetry import traced
from radrag.triton import Piece, Score

TODAY = date(2026, 12, 1)
WORKERS = "The annual dose limit for workers is 20 mSv. It is averaged over five years."
PUBLIC = "The annual dose limit for the public is 1 mSv."
LENS = "Предел эквивалентной дозы для хрусталика глаза составляет 20 мЗв в год."
ANSWER = "According to the sources:\n- “The annual dose limit for workers is 20 mSv.” [1]\n"
GATES = scope.load(ROOT / "gateway/scope.yaml")
MESSAGES = messages.load(ROOT / "gateway/messages.json", GATES.deferrals)
THRESHOLDS = Thresholds(True, {"counting": 0.5}, {"constant": Degraded(0.6, 0.8)})


def document(name: str, language: str = "en") -> Document:
    return Document(
        name, "0123456789abcdef", f"Title of {name}", f"file:{name}", "safety", "regulatory", 1, language,
        "2024-05-01",
    )  # fmt: skip


def passage(name: str, text: str, *, language: str = "en", start: int = 100, dense: float | None = 0.9,
            fused: float = 0.03, context: str = "") -> Passage:  # fmt: skip
    scores = Scores(dense, 7.0, fused)
    child = MatchedChild(f"child-{name}", start, start + len(text), scores)
    return Passage(
        f"parent-{name}", document(name, language), ("Limits",), text, context, start, start + len(text),
        (3,), (child,), scores,
    )  # fmt: skip


PASSAGES = (passage("public", PUBLIC, fused=0.032), passage("workers", WORKERS, fused=0.03))


def question(text: str = "What is the annual dose limit for workers?", **more: object) -> Question:
    return Question(text, "en", TODAY, **more)  # type: ignore[arg-type]


async def in_scope(text: str) -> str:
    return GATES.stops(text)


def near_scope(vector: QueryVector) -> str | None:
    return ""


async def embed(text: str) -> QueryVector:
    return QueryVector((1.0, 0.0), "constant", "ff", "g1")


async def search(asked: Question, vector: QueryVector | None) -> Found:
    return Found(PASSAGES, () if vector else ("dense",), "g1", 7)


async def rerank(asked: str, passages: Sequence[str]) -> list[Score]:
    """The part of the question's words that stand in the passage."""
    words = set(asked.lower().strip("?").split())
    return [Score(len(words & set(text.lower().split())) / len(words), False) for text in passages]


async def write(asked: Question, passages: Sequence[Passage]) -> Prompt:
    return await PromptWriter(TEMPLATES["plain"]).write(asked, passages)


async def ready() -> bool:
    return True


async def nothing() -> None:
    return None


def saying(*pieces: str, finish: str = "stop") -> Callable[[str, int], AsyncGenerator[Piece, None]]:
    """A generator that writes these pieces; one token each."""

    async def generate(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        for number, text in enumerate(pieces, 1):
            await asyncio.sleep(0)
            yield Piece(text, finish if number == len(pieces) else "", 100, 1)

    return generate


def down(role: str) -> Callable[..., Awaitable[object]]:
    async def stage(*args: object) -> object:
        raise ModelUnavailable(role)

    return stage


async def no_generator(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
    raise ModelUnavailable("generator")
    yield  # makes it a generator


PIPELINE = Pipeline(
    traced("scope", in_scope), near_scope, traced("embed", embed), traced("search", search),
    traced("rerank", rerank),
    traced("prompt", write), traced("generate", saying(ANSWER)), traced("verify", verify), ready, nothing,
    Judge(THRESHOLDS, "counting"), MESSAGES,
)  # fmt: skip
LIMITS = Limits()
