"""The least a gateway can be: bare grpc.aio processes that pass the same messages on and decide nothing.

Run by benchmarks.path: python -m benchmarks.relays ROLE FOLDER ADDRESS. FOLDER holds the messages, as they
went over the wire in a real call. `back` answers a search with the stored reply. `hops` asks it and answers
with the gateway's stored reply: two hops. `path` makes a Prompt's three outgoing calls, parses their replies,
and answers with the stored prompt; its streams pass the generator's pieces on, a frame each or as many to a
frame as the caller's metadata asks for.
"""

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvloop
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message
from grpc import aio

import radrag.triton  # noqa: F401  its client brings the messages of Triton's protocol
from radrag.assistant.v1 import assistant_pb2 as assistant
from radrag.assistant.v1 import assistant_pb2_grpc
from radrag.retrieval.v1 import retrieval_pb2 as retrieval
from radrag.retrieval.v1 import retrieval_pb2_grpc

TRITON = "/inference.GRPCInferenceService/"
ROLES = ("back", "hops", "path")
PIECES = "pieces-a-frame"


def message(name: str) -> type[Message]:
    """The class of a message of Triton's protocol."""
    return message_factory.GetMessageClass(
        descriptor_pool.Default().FindMessageTypeByName(f"inference.{name}")
    )


class Kept:
    """The messages of a real call, and where its servers are, one to a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str, kind: Callable[[], Message]) -> Any:
        """One message."""
        one = kind()
        one.ParseFromString((self.folder / name).read_bytes())
        return one

    def address(self, name: str) -> str:
        """host:port."""
        return (self.folder / f"{name}.address").read_text(encoding="ascii")

    def keep(self, name: str, said: Message) -> None:
        """Stores one."""
        (self.folder / name).write_bytes(said.SerializeToString())

    def place(self, name: str, address: str) -> None:
        """Stores where a server is."""
        (self.folder / f"{name}.address").write_text(address, encoding="ascii")


class Back(retrieval_pb2_grpc.RetrievalServiceServicer):
    """Answers a search at once."""

    def __init__(self, kept: Kept) -> None:
        self._reply: retrieval.SearchResponse = kept.read("found", retrieval.SearchResponse)

    async def Search(self, request: retrieval.SearchRequest, context: object) -> retrieval.SearchResponse:  # noqa: N802
        return self._reply


class Hops(assistant_pb2_grpc.AssistantServiceServicer):
    """One call in, one out."""

    def __init__(self, kept: Kept) -> None:
        self._asked = kept.read("search", retrieval.SearchRequest)
        self._reply: assistant.SearchResponse = kept.read("evidence", assistant.SearchResponse)
        channel = aio.insecure_channel(kept.address("back"))
        self._next = retrieval_pb2_grpc.RetrievalServiceStub(channel)

    async def Search(self, request: assistant.SearchRequest, context: object) -> assistant.SearchResponse:  # noqa: N802
        await self._next.Search(self._asked)
        return self._reply


class Plain(assistant_pb2_grpc.AssistantServiceServicer):
    """One call in, three out, one reply; and streams as they come."""

    def __init__(self, kept: Kept) -> None:
        self._reply: assistant.PromptResponse = kept.read("prompted", assistant.PromptResponse)
        self._search = kept.read("search", retrieval.SearchRequest)
        self._asked = {
            name: kept.read(name, message("ModelInferRequest")) for name in ("embed", "rerank", "write")
        }
        self._index = retrieval_pb2_grpc.RetrievalServiceStub(aio.insecure_channel(kept.address("retrieval")))
        triton = aio.insecure_channel(kept.address("triton"))
        self._infer = triton.unary_unary(
            TRITON + "ModelInfer",
            message("ModelInferRequest").SerializeToString,
            message("ModelInferResponse").FromString,
        )
        self._stream = triton.stream_stream(
            TRITON + "ModelStreamInfer",
            message("ModelInferRequest").SerializeToString,
            message("ModelStreamInferResponse").FromString,
        )

    async def Prompt(self, request: assistant.PromptRequest, context: object) -> assistant.PromptResponse:  # noqa: N802
        await self._infer(self._asked["embed"])
        await self._index.Search(self._search)
        await self._infer(self._asked["rerank"])
        return self._reply

    async def GenerateStream(  # noqa: N802
        self, request: assistant.GenerateStreamRequest, context: Any
    ) -> AsyncIterator[assistant.GenerateStreamResponse]:
        most, held = int(dict(context.invocation_metadata()).get(PIECES, 1)), list[str]()
        pieces = self._stream(_once(self._asked["write"]))
        try:
            async for piece in pieces:
                held.append(piece.infer_response.raw_output_contents[0][4:].decode())  # 4 bytes say how long
                if len(held) == most:
                    yield assistant.GenerateStreamResponse(text="".join(held))
                    held.clear()
            if held:
                yield assistant.GenerateStreamResponse(text="".join(held))
        finally:
            pieces.cancel()


async def _once(request: Message) -> AsyncIterator[Message]:
    yield request  # with this side ended, Triton ends the other after its last piece, and not before


async def serve(role: str, folder: Path, address: str) -> None:
    """Serves until it is killed."""
    kept, server = Kept(folder), aio.server()
    if role == "back":
        retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(Back(kept), server)
    else:
        front = Hops(kept) if role == "hops" else Plain(kept)
        assistant_pb2_grpc.add_AssistantServiceServicer_to_server(front, server)
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
