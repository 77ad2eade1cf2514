"""The public service: a handler reads the request, asks the answer path, and replies. No more."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from grpc import aio

from gateway import feedback, records, replies
from gateway.answer import Finish, Sources, Text
from gateway.counts import Counted
from gateway.feedback import Feedback
from gateway.index import Index
from gateway.questions import Question, Request, Rules
from gateway.replies import Replies
from radrag import account, call, telemetry
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1 import assistant_pb2_grpc
from radrag.errors import RadragError

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
        reply = self.replies.search(evidence, recording.stages)
        records.found(evidence.outcome, reply.manifest)
        return reply

    async def Prompt(self, request: wire.PromptRequest, context: object) -> wire.PromptResponse:  # noqa: N802
        """Evidence and the finished prompt."""
        question, recording = self._read(request)
        prompted = await self.answers.write(question)
        reply = self.replies.prompt(prompted, recording.stages)
        records.found(prompted.evidence.outcome, reply.manifest)
        return reply

    async def Generate(self, request: wire.GenerateRequest, context: object) -> wire.GenerateResponse:  # noqa: N802
        """A checked answer in one reply: the streamed one, collected."""
        question, recording = self._read(request)
        text = ""
        async with aclosing(self.answers.answer(question)) as events:
            async for event in events:
                if isinstance(event, Text):
                    text += event.text
                elif isinstance(event, Finish):
                    reply = self.replies.answer(text, event, recording.stages)
                    records.answered(event, text, reply.manifest)
                    if event.error:
                        raise event.error
                    return reply
        raise AssertionError("an answer ends with a finish")

    async def GenerateStream(  # noqa: N802
        self, request: wire.GenerateStreamRequest, context: object
    ) -> AsyncIterator[wire.GenerateStreamResponse]:
        """A checked answer as it is written."""
        question, recording = self._read(request)
        text = ""
        async with aclosing(self.answers.answer(question)) as events:
            async for event in events:
                if isinstance(event, Sources):
                    yield replies.sources(event)
                elif isinstance(event, Text):
                    text += event.text
                    yield wire.GenerateStreamResponse(text=event.text)
                else:
                    yield await self._finished(event, text, recording)

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
            topics=filter(call.current().caller.has_topic, self.rules.topics),
            limits=wire.Limits(**vars(self.rules.limits)),
            max_question_characters=self.rules.max_characters,
            index_generation=index.generation,
            index_revision=index.revision,
            settings_sha256=self.replies.settings_sha256,
        )

    async def _finished(
        self, finish: Finish, text: str, recording: telemetry.Recording
    ) -> wire.GenerateStreamResponse:
        """The last frame, once the call's record is durable: a caller who saw the end can be shown it."""
        frame = self.replies.finish(finish, recording.stages)
        records.answered(finish, text, frame.finish.manifest)
        try:
            await account.current().settle()
        except RadragError as error:
            account.current().failure = error
            return self.replies.finish(replace(finish, error=error), recording.stages)
        return frame

    def _read(self, request: Request) -> tuple[Question, telemetry.Recording]:
        question, recording = self.rules.read(request), telemetry.record_stages()
        records.asked(question)
        return question, recording

    def add_to(self, server: aio.Server) -> None:
        """Registers the service."""
        assistant_pb2_grpc.add_AssistantServiceServicer_to_server(self, server)
