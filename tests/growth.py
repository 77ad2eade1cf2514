"""Whether a reading of a text takes time in proportion to its length."""

from collections.abc import Callable
from time import process_time

# Four times the text in so many times the time is a square or worse: that would be sixteen times.
MOST_GROWTH = 11
SHORTEST = 0.02  # seconds below which nothing is said: the clock is too coarse


def grows(function: Callable[[str], object], made: Callable[[int], str], size: int) -> bool:
    """Whether four times the text takes far more than four times the time: three looks must say so."""
    for _ in range(3):
        after = spent(function, made(4 * size))
        if after < SHORTEST or after < MOST_GROWTH * spent(function, made(size)):
            return False
    return True


def spent(function: Callable[[str], object], text: str) -> float:
    """Seconds of processor time."""
    start = process_time()
    function(text)
    return process_time() - start
