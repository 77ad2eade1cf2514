"""A pipeline behind the real protocol: server, interceptor, stubs; port 0."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from grpc import aio

from gateway.counts import Counted
from gateway.index import Index
from gateway.models import Model
from gateway.pipeline import Pipeline
from gateway.questions import Rules
from gateway.replies import Replies
from gateway.service import AssistantService
from radrag import serving
from radrag.account import Trail
from radrag.assistant.v1 import assistant_pb2_grpc
from radrag.assistant.v1.assistant_pb2 import (
    GenerateRequest,
    GenerateResponse,
    GenerateStreamRequest,
    GenerateStreamResponse,
    PromptRequest,
    PromptResponse,
    SearchRequest,
    SearchResponse,
)
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from tests.gateway.fakes import PIPELINE, TODAY

QUESTION = "What is the annual dose limit for workers?"
SECONDS = 10.0


async def index() -> Index:
    return Index("g1", 7, "constant")


def service(pipeline: Pipeline) -> AssistantService:
    rules = Rules(("safety", "physics"), today=lambda: TODAY)
    replies = Replies(lambda: [Model("embedder", "constant", "ff")], "abc")
    return AssistantService(Counted(pipeline), rules, replies, index)


@asynccontextmanager
async def asking(
    pipeline: Pipeline = PIPELINE, trail: Trail | None = None
) -> AsyncIterator[AssistantServiceStub]:
    """The stub of a running service over this pipeline."""
    server = await serving.start(service(pipeline).add_to, "127.0.0.1:0", trail=trail or Trail())
    try:
        async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            yield assistant_pb2_grpc.AssistantServiceStub(channel)
    finally:
        await server.stop()


async def search(pipeline: Pipeline, question: str = QUESTION, seconds: float = SECONDS) -> SearchResponse:
    async with asking(pipeline) as stub:
        reply: SearchResponse = await stub.Search(SearchRequest(question=question), timeout=seconds)
    return reply


async def prompt(pipeline: Pipeline, question: str = QUESTION, seconds: float = SECONDS) -> PromptResponse:
    async with asking(pipeline) as stub:
        reply: PromptResponse = await stub.Prompt(PromptRequest(question=question), timeout=seconds)
    return reply


async def generate(
    pipeline: Pipeline, question: str = QUESTION, seconds: float = SECONDS
) -> GenerateResponse:
    async with asking(pipeline) as stub:
        reply: GenerateResponse = await stub.Generate(GenerateRequest(question=question), timeout=seconds)
    return reply


async def stream(
    pipeline: Pipeline, question: str = QUESTION, seconds: float = SECONDS
) -> list[GenerateStreamResponse]:
    async with asking(pipeline) as stub:
        frames = stub.GenerateStream(GenerateStreamRequest(question=question), timeout=seconds)
        return [frame async for frame in frames]


def without(**stages: object) -> Pipeline:
    """The pipeline with other stages."""
    return replace(PIPELINE, **stages)  # type: ignore[arg-type]
