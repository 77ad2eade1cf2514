"""Keeps the health of the service and of what it needs, in the background: a load of calls never touches it.

The service waits for everything it needs at first, but not for ever: from then on it takes calls as long as
the index answers, since every model may be missing without making it useless. `live` is always serving while
the process runs.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

log = logging.getLogger(__name__)

INDEX = "retrieval"
LIVE = "live"

Check = Callable[[], Awaitable[bool]]
Report = Callable[[str, bool], Awaitable[None]]


@dataclass
class Readiness:
    """`checks` by name of the part: may it be used? `report` takes a health name and whether it serves.

    `patience` is how many seconds after the start a missing model may keep the service from taking calls.
    """

    checks: Mapping[str, Check]
    report: Report
    service: str
    patience: float = 60.0
    clock: Callable[[], float] = time.monotonic
    _began: float = 0.0
    _complete: bool = False
    _waiting: frozenset[str] = field(default_factory=frozenset)

    async def once(self) -> bool:
        """Asks every part, reports each and the service; returns whether the service takes calls."""
        names = list(self.checks)
        answers = await asyncio.gather(*(self.checks[name]() for name in names))
        state = dict(zip(names, answers, strict=True))
        for name, there in state.items():
            await self.report(name, there)
        self._began = self._began or self.clock()
        patient = self.clock() - self._began < self.patience
        self._complete = self._complete or all(answers) or not patient
        serving = self._complete and state.get(INDEX, True)
        await self.report(self.service, serving)
        self._say(frozenset(name for name, there in state.items() if not there))
        return serving

    async def forever(self, seconds: float = 2.0) -> None:
        """Asks again every few seconds until cancelled."""
        await self.report(LIVE, True)
        while True:
            await self.once()
            await asyncio.sleep(seconds)

    def _say(self, waiting: frozenset[str]) -> None:
        if waiting != self._waiting:
            log.warning("missing: %s", ", ".join(sorted(waiting)) or "nothing")
            self._waiting = waiting
