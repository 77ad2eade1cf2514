"""What a server admits, from its settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from radrag.admission.gate import Gate
from radrag.admission.rates import Rates
from radrag.call import Call
from radrag.settings import SettingError


class Wanted(Protocol):
    """The settings this reads; see radrag.settings for what they mean."""

    @property
    def max_in_flight(self) -> int:
        """Calls of one method at once."""

    @property
    def max_waiting(self) -> int:
        """Calls of one method in line."""

    @property
    def rate_per_second(self) -> float:
        """Calls a second of one caller."""

    @property
    def rate_burst(self) -> int:
        """In one go."""

    @property
    def quota_per_day(self) -> int:
        """Calls a day of one caller."""


@dataclass(frozen=True)
class Limits:
    """For each method: `in_flight` calls at once, `waiting` in line. For each caller: `rates`."""

    in_flight: int = 64
    waiting: int = 0
    rates: Rates = field(default_factory=Rates)


@dataclass
class Admission:
    """The gates of one server; every method has its own, so that none starves the others."""

    limits: Limits
    _gates: dict[str, Gate] = field(default_factory=dict)

    @asynccontextmanager
    async def admitted(self, method: str, call: Call, left: float | None) -> AsyncIterator[None]:
        """Held while the call runs. Raises Overloaded.

        A call that a process of ours hands on was counted for its caller where it came in.
        """
        if not call.via:
            self.limits.rates.take(call.caller.subject)
        gate = self._gates.setdefault(method, Gate(self.limits.in_flight, self.limits.waiting))
        async with gate.passed(left):
            yield


def of(settings: Wanted) -> Limits:
    """The limits that the settings want. Raises SettingError."""
    least = {"max_in_flight": 1, "max_waiting": 0, "rate_per_second": 0, "rate_burst": 1, "quota_per_day": 0}
    for name, value in least.items():
        if getattr(settings, name) < value:
            raise SettingError(f"RADRAG_{name.upper()} must be {value} or more")
    rates = Rates(settings.rate_per_second, settings.rate_burst, settings.quota_per_day)
    return Limits(settings.max_in_flight, settings.max_waiting, rates)
