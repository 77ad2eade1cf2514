"""Watches the event loop: how much later than asked it wakes a sleeper is how long a call may be held up."""

import asyncio
from time import perf_counter

from radrag.telemetry.metrics import EVENT_LOOP_LAG

EVERY_SECONDS = 0.25


async def watch_event_loop(seconds: float = EVERY_SECONDS) -> None:
    """Measures until it is cancelled."""
    while True:
        asleep = perf_counter()
        await asyncio.sleep(seconds)
        EVENT_LOOP_LAG.observe(max(0.0, perf_counter() - asleep - seconds))
