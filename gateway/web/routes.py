"""Which path is which RPC: the only list of what HTTP offers. Messages are those of the contracts."""

from dataclasses import dataclass

from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from radrag.assistant.v1 import assistant_pb2
from radrag.knowledge.v1 import knowledge_pb2

ASSISTANT = assistant_pb2.DESCRIPTOR.services_by_name["AssistantService"]
KNOWLEDGE = knowledge_pb2.DESCRIPTOR.services_by_name["KnowledgeService"]


@dataclass(frozen=True)
class Rpc:
    """One RPC: how it is called, what goes in, what comes out."""

    method: MethodDescriptor

    @property
    def service(self) -> str:
        """The service's full name."""
        return str(self.method.containing_service.full_name)

    @property
    def path(self) -> str:
        """Its path in gRPC."""
        return f"/{self.service}/{self.method.name}"

    @property
    def request(self) -> type[Message]:
        """The class of its request."""
        return message_factory.GetMessageClass(self.method.input_type)

    @property
    def reply(self) -> type[Message]:
        """The class of its reply, or of one frame of it."""
        return message_factory.GetMessageClass(self.method.output_type)


@dataclass(frozen=True)
class Route:
    """A path: the RPC that answers with one JSON object, the one that answers with events, or both."""

    path: str
    unary: Rpc | None = None
    streamed: Rpc | None = None
    verb: str = "POST"

    @property
    def rpc(self) -> Rpc:
        """The RPC whose request the path takes; where there are two, they take the same fields."""
        found = self.unary or self.streamed
        assert found is not None
        return found


def _assistant(method: str) -> Rpc:
    return Rpc(ASSISTANT.methods_by_name[method])


def _knowledge(method: str) -> Rpc:
    return Rpc(KNOWLEDGE.methods_by_name[method])


ROUTES = (
    Route("/v1/search", _assistant("Search")),
    Route("/v1/prompt", _assistant("Prompt")),
    Route("/v1/generate", _assistant("Generate"), _assistant("GenerateStream")),
    Route("/v1/feedback", _assistant("SubmitFeedback")),
    Route("/v1/info", _assistant("GetInfo"), verb="GET"),
    Route("/v1/documents/list", _knowledge("ListDocuments")),
    Route("/v1/documents/get", _knowledge("GetDocument")),
    Route("/v1/documents/review", _knowledge("ReviewDocument")),
    Route("/v1/documents/publish", _knowledge("PublishDocument")),
    Route("/v1/documents/retire", _knowledge("RetireDocument")),
    Route("/v1/documents/retry", _knowledge("RetryDocument")),
    Route("/v1/documents/delete", _knowledge("DeleteDocument")),
    Route("/v1/jobs/watch", streamed=_knowledge("WatchJob")),
)
