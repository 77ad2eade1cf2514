"""A gateway in a thread of its own, for clients that wait."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gateway.pipeline import Pipeline
from radrag import serving
from tests.gateway.channel import service
from tests.gateway.fakes import PIPELINE


@contextmanager
def served(pipeline: Pipeline = PIPELINE) -> Iterator[str]:
    """Its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    start = serving.start(service(pipeline).add_to, "127.0.0.1:0")
    server = asyncio.run_coroutine_threadsafe(start, loop).result()
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
