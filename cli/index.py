"""What the index holds, asked of the retrieval service; for `status`."""

import grpc

from radrag import call, errors
from radrag.access import channels
from radrag.access.channels import Files
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub


async def describe(address: str, tls: Files | None = None, seconds: float = 5.0) -> pb.DescribeResponse:
    """Generation, revision and counts. Raises RadragError."""
    async with channels.channel(address, tls) as channel:
        stub = RetrievalServiceStub(channel)
        try:
            reply: pb.DescribeResponse = await stub.Describe(
                pb.DescribeRequest(), timeout=call.time_left(seconds), metadata=call.outgoing_metadata()
            )
        except grpc.RpcError as error:
            raise errors.from_rpc(error) from None
    return reply
