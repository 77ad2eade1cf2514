"""Prints an answer as it is written, then how it ended. Run: python examples/stream.py QUESTION"""

import asyncio
import os
import sys
from contextlib import aclosing

from radrag import AsyncClient
from radrag.assistant.v1 import assistant_pb2 as pb


async def main(question: str) -> None:
    """Closing the stream early would stop the work on the server."""
    address = os.environ.get("RADRAG_GATEWAY_ADDRESS", "127.0.0.1:50051")
    async with AsyncClient(address) as client, aclosing(client.stream(question)) as frames:
        async for frame in frames:
            if frame.HasField("text"):
                print(frame.text, end="", flush=True)
            if frame.HasField("finish"):
                print(f"\n{pb.Outcome.Name(frame.finish.outcome)}: {frame.finish.reason}")


asyncio.run(main(sys.argv[1]))
