"""A gateway in this process whose answers are obvious: the question says how it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from radrag import call, errors, serving
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1 import assistant_pb2_grpc as wire

FAILURES: dict[str, errors.RadragError] = {
    "invalid": errors.InvalidArgument("filter.topics[0]", "not a topic the server knows"),
    "generator down": errors.ModelUnavailable("generator"),
    "late": errors.DeadlineExceeded("the deadline passed"),
    "overloaded": errors.Overloaded("too much at once", 2.5),
    "forbidden": errors.PermissionDenied("not yours"),
    "unknown": errors.NotFound("no such document"),
    "skewed": errors.FailedPrecondition("two fingerprints differ", "FINGERPRINT"),
    "broken": errors.Internal("our fault"),
}
OUTCOMES = {"insufficient": pb.OUTCOME_INSUFFICIENT_EVIDENCE, "off topic": pb.OUTCOME_OUT_OF_SCOPE}


def outcome(question: str) -> pb.Outcome:
    return OUTCOMES.get(question, pb.OUTCOME_ANSWERED)


def parent() -> pb.RankedParent:
    document = pb.Document(
        document_id="icrp-103",
        version="0123456789abcdef",
        title="Пределы доз",
        source_uri="https://www.icrp.org/",
        topic="regulation",
        language="ru",
    )
    return pb.RankedParent(
        rank=1,
        parent_id="p",
        document=document,
        heading_path=["Работники"],
        text="Предел дозы — 20 мЗв в год.",
        pages=[2, 3],
        scores=pb.Scores(rerank=0.9, fused=0.03),
    )


def stages() -> list[pb.Stage]:
    stage = pb.Stage(name="embed", outcome="ok")
    stage.start.FromMicroseconds(1_000)
    stage.duration.FromMicroseconds(12_500)
    return [stage]


WARNING = pb.Warning(kind=pb.Warning.KIND_DEGRADED, detail="reranker")
CITATION = pb.Citation(marker=1, quote="20 мЗв в год", verified=True)


class Assistant(wire.AssistantServiceServicer):
    """Answers with the question and one source; fails as the question says."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.requests: list[object] = []
        self.time_left = 0.0

    def _taken(self, request: object, question: str) -> None:
        self.requests.append(request)
        self.time_left = call.time_left(1e6)
        if question in FAILURES:
            raise FAILURES[question]

    async def Search(self, request: pb.SearchRequest, context: object) -> pb.SearchResponse:  # noqa: N802
        self._taken(request, request.question)
        return pb.SearchResponse(
            outcome=outcome(request.question), ranked_parents=[parent()], warnings=[WARNING], stages=stages()
        )

    async def Prompt(self, request: pb.PromptRequest, context: object) -> pb.PromptResponse:  # noqa: N802
        self._taken(request, request.question)
        return pb.PromptResponse(
            query=request.question, prompt=f"prompt: {request.question}", outcome=outcome(request.question)
        )

    async def Generate(self, request: pb.GenerateRequest, context: object) -> pb.GenerateResponse:  # noqa: N802
        self._taken(request, request.question)
        return pb.GenerateResponse(
            outcome=outcome(request.question),
            text=f"{request.question} [1]",
            citations=[CITATION],
            ranked_parents=[parent()],
            warnings=[WARNING],
            stages=stages(),
            manifest=pb.Manifest(index_revision=2**40),
            request_id="r1",
        )

    async def GenerateStream(  # noqa: N802
        self, request: pb.GenerateStreamRequest, context: object
    ) -> AsyncIterator[pb.GenerateStreamResponse]:
        self._taken(request, request.question)
        yield pb.GenerateStreamResponse(sources=pb.Sources(ranked_parents=[parent()]))
        try:
            for word in (request.question, " ", "[1]"):
                yield pb.GenerateStreamResponse(text=word)
            if request.question == "endless":
                await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        yield pb.GenerateStreamResponse(finish=self._finish(request.question))

    def _finish(self, question: str) -> pb.Finish:
        if question == "dies while writing":
            error = pb.Error(code=14, reason="GENERATOR_UNAVAILABLE", message="the generator does not answer")
            return pb.Finish(outcome=pb.OUTCOME_ANSWERED, error=error)
        return pb.Finish(outcome=outcome(question), citations=[CITATION], warnings=[WARNING], stages=stages())

    async def GetInfo(self, request: pb.GetInfoRequest, context: object) -> pb.GetInfoResponse:  # noqa: N802
        return pb.GetInfoResponse(version="0", topics=["regulation"])


@asynccontextmanager
async def running(assistant: Assistant | None = None) -> AsyncIterator[tuple[Assistant, str]]:
    """The service, this one or a new one, and its address."""
    assistant = assistant or Assistant()
    server = await serving.start(
        lambda one: wire.add_AssistantServiceServicer_to_server(assistant, one), "127.0.0.1:0"
    )
    try:
        yield assistant, f"127.0.0.1:{server.port}"
    finally:
        await server.stop()
