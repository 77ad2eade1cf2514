"""The public service: a handler reads the request, asks the answer path, and replies. No more."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from grpc import aio

from gateway import feedback, replies
from gateway.answer import Finish, Sources, Text
from gateway.counts import Counted
from gateway.feedback import Feedback
from gateway.index import Index
from gateway.questions import Question, Request, Rules
from gateway.replies import Replies
from radrag import telemetry
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1 import assistant_pb2_grpc

NAME = "radrag.assistant.v1.AssistantService"


@dataclass(frozen=True)
class AssistantService(assistant_pb2_grpc.AssistantServiceServicer):
    """Answers over gRPC."""

    answers: Counted
    rules: Rules
    replies: Replies
    index: Callable[[], Awaitable[Index]]
    record_feedback: Callable[[Feedback], Awaitable[str]] = feedback.not_configured
    version: str = ""

    async def Search(self, request: wire.SearchRequest, context: object) -> wire.SearchResponse:  # noqa: N802
        """Evidence only."""
        question, recording = self._read(request)
        evidence = await self.answers.find(question)
        return self.replies.search(evidence, recording.stages)

    async def Prompt(self, request: wire.PromptRequest, context: object) -> wire.PromptResponse:  # noqa: N802
        """Evidence and the finished prompt."""
        question, recording = self._read(request)
        prompted = await self.answers.write(question)
        return self.replies.prompt(prompted, recording.stages)

    async def Generate(self, request: wire.GenerateRequest, context: object) -> wire.GenerateResponse:  # noqa: N802
        """A checked answer in one reply: the streamed one, collected."""
        question, recording = self._read(request)
        text = ""
        async with aclosing(self.answers.answer(question)) as events:
            async for event in events:
                if isinstance(event, Text):
                    text += event.text
                elif isinstance(event, Finish):
                    if event.error:
                        raise event.error
                    return self.replies.answer(text, event, recording.stages)
        raise AssertionError("an answer ends with a finish")

    async def GenerateStream(  # noqa: N802
        self, request: wire.GenerateStreamRequest, context: object
    ) -> AsyncIterator[wire.GenerateStreamResponse]:
        """A checked answer as it is written."""
        question, recording = self._read(request)
        async with aclosing(self.answers.answer(question)) as events:
            async for event in events:
                if isinstance(event, Sources):
                    yield replies.sources(event)
                elif isinstance(event, Text):
                    yield wire.GenerateStreamResponse(text=event.text)
                else:
                    yield self.replies.finish(event, recording.stages)

    async def SubmitFeedback(  # noqa: N802
        self, request: wire.SubmitFeedbackRequest, context: object
    ) -> wire.SubmitFeedbackResponse:
        """Checks a rating and hands it on."""
        rating = feedback.read(request)
        return wire.SubmitFeedbackResponse(feedback_id=await self.record_feedback(rating))

    async def GetInfo(self, request: wire.GetInfoRequest, context: object) -> wire.GetInfoResponse:  # noqa: N802
        """What stands behind the service."""
        index = await self.index()
        return wire.GetInfoResponse(
            version=self.version,
            models=[replies.model(one) for one in self.replies.models()],
            topics=self.rules.topics,
            limits=wire.Limits(**vars(self.rules.limits)),
            max_question_characters=self.rules.max_characters,
            index_generation=index.generation,
            index_revision=index.revision,
            settings_sha256=self.replies.settings_sha256,
        )

    def _read(self, request: Request) -> tuple[Question, telemetry.Recording]:
        return self.rules.read(request), telemetry.record_stages()

    def add_to(self, server: aio.Server) -> None:
        """Registers the service."""
        assistant_pb2_grpc.add_AssistantServiceServicer_to_server(self, server)
