"""Runs a process of ours that also writes how many asyncio tasks it has.

Run: python -m benchmarks.tasks ROOM FILE
"""

import asyncio
import runpy
import sys
from pathlib import Path

from radrag import telemetry

EVERY_SECONDS = 0.5


async def counting() -> None:
    """In place of the watch over the event loop, until it is cancelled."""
    file = Path(sys.argv[1])
    while True:
        await asyncio.to_thread(file.write_text, str(len(asyncio.all_tasks())), "utf-8")
        await asyncio.sleep(EVERY_SECONDS)


if __name__ == "__main__":
    telemetry.watch_event_loop = counting  # type: ignore[assignment]
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__")
