"""What fails fails alone, and says why without a word of what was asked. Without PyTorch and Triton."""

import logging
import re
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

log = logging.getLogger("radrag.models")

# What NVIDIA's libraries say of a fault. It quotes no input, as the text of any other exception might.
PHRASE = re.compile(r"CUDA error: [a-z][A-Za-z ()-]{0,80}|CU[A-Z]{2,8}_STATUS_[A-Z_]+|out of memory")

Row = TypeVar("Row")
Found = TypeVar("Found")


class DeviceLost(Exception):
    """The device answers this process no more. The message says why, in NVIDIA's words and no one else's."""


def cause(error: BaseException) -> str:
    """The class of an exception, where it was raised, and NVIDIA's words where there are any: never more."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    phrase = PHRASE.search(str(error))
    return f"{type(error).__name__}{place}{f': {phrase[0].strip()}' if phrase else ''}"


def noted(error: Exception, rows: int) -> None:
    """Logs why so many rows failed. Raises DeviceLost if that is what it is."""
    if isinstance(error, DeviceLost):
        raise error
    log.warning("%d rows failed together: %s", rows, cause(error))


def halved(
    forward: Callable[[Sequence[Row]], list[Found]],
    rows: Sequence[Row],
    failed: Callable[[Row], Found],
    judge: Callable[[Exception, int], None] = noted,
) -> list[Found]:
    """What `forward` finds for its rows. When it fails, as where memory is short, it is repeated in halves
    until what fails is alone: `failed` stands for that row only. `judge` raises where that is useless."""
    try:
        return forward(rows)
    except Exception as error:  # noqa: BLE001 - also a fault nobody foresaw costs its own row only
        judge(error, len(rows))
    # Here and not above: until the exception is gone, what the failed pass took of the device is not free.
    if len(rows) == 1:
        return [failed(rows[0])]
    middle = len(rows) // 2
    return [one for half in (rows[:middle], rows[middle:]) for one in halved(forward, half, failed, judge)]
