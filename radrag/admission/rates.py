"""What one caller may ask for: so many calls a second with some in one go, and so many a day.

Each process counts for itself: with two gateways behind one address a caller has twice as much.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from time import time

from radrag import telemetry
from radrag.errors import Overloaded

MOST_CALLERS = 10_000  # remembered; the one that has been away longest is forgotten first
DAY = 86_400


@dataclass
class Spent:
    """One caller's: what is left of the burst, and the calls of the day."""

    tokens: float
    at: float
    day: int
    calls: int = 0


@dataclass
class Rates:
    """`per_second` refills a burst of `burst` calls; `per_day` is counted from midnight UTC. 0: no limit."""

    per_second: float = 0.0
    burst: int = 20
    per_day: int = 0
    clock: Callable[[], float] = time
    _spent: "OrderedDict[str, Spent]" = field(default_factory=OrderedDict)

    def take(self, subject: str) -> None:
        """Counts one call. Raises Overloaded with the seconds after which the next one will be taken."""
        if not (self.per_second or self.per_day):
            return
        now = self.clock()
        mine = self._of(subject, now)
        if self.per_day and mine.calls >= self.per_day:
            raise refused("quota", f"more than {self.per_day} calls a day", DAY - now % DAY)
        if self.per_second:
            mine.tokens = min(self.burst, mine.tokens + max(0.0, now - mine.at) * self.per_second)
            mine.at = now
            if mine.tokens < 1:
                wait = (1 - mine.tokens) / self.per_second
                raise refused("rate", f"more than {self.per_second:g} calls a second", wait)
            mine.tokens -= 1
        mine.calls += 1

    def _of(self, subject: str, now: float) -> Spent:
        today = int(now // DAY)
        mine = self._spent.pop(subject, None) or Spent(float(self.burst), now, today)
        if mine.day != today:
            mine.day, mine.calls = today, 0
        self._spent[subject] = mine
        if len(self._spent) > MOST_CALLERS:
            self._spent.popitem(last=False)
        return mine


def refused(reason: str, message: str, retry_after: float) -> Overloaded:
    """The refusal, counted."""
    telemetry.REJECTED.labels(reason).inc()
    return Overloaded(message, retry_after, f"OVERLOADED_{reason.upper()}")
