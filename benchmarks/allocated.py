"""Runs a process of ours under tracemalloc: when a signal asks, it tells what it holds or what a call takes.

SIGUSR1 asks for bytes and blocks held by file and line, SIGUSR2 for the most held at once since the SIGUSR2
before, over what was held then; garbage is collected first. Seen is what Python's allocators and numpy's gave
out: not gRPC's own memory, messages inside protobuf, or the engine's. Texts are never told, only places in
the code. Run by benchmarks.gateway_profile: python -m benchmarks.allocated FOLDER gateway
"""

import asyncio
import gc
import json
import os
import runpy
import signal
import sys
import sysconfig
import tracemalloc
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from typing import TypeAlias

from benchmarks.record import ROOT

Lines: TypeAlias = Mapping[str, Sequence[int]]
"""Bytes and blocks held, by file and line."""

MOST = 25  # lines of a list
SECONDS = 60.0  # to answer a signal: a snapshot of half a million blocks takes some
PLACES = (*(sysconfig.get_path(kind) for kind in ("purelib", "platlib", "stdlib")), str(ROOT))


def listening(folder: Path) -> None:
    """Answers every signal with the next file: held_0.json, held_1.json and so on, peak_0.json and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    helds, peaks, floor = count(), count(), [tracemalloc.get_traced_memory()[0]]

    def tell_held(*_: object) -> None:
        _write(folder / f"held_{next(helds)}.json", held())

    def tell_peak(*_: object) -> None:
        most = tracemalloc.get_traced_memory()[1] - floor[0]
        gc.collect()
        tracemalloc.reset_peak()
        floor[0] = tracemalloc.get_traced_memory()[0]
        _write(folder / f"peak_{next(peaks)}.json", most)  # last: the next signal may come at once

    signal.signal(signal.SIGUSR1, tell_held)
    signal.signal(signal.SIGUSR2, tell_peak)


def held() -> dict[str, list[int]]:
    """What this process holds now, less what looking at it takes."""
    gc.collect()
    found = tracemalloc.take_snapshot().statistics("lineno")
    places = ((one.traceback[0], one) for one in found)
    return {
        f"{named(place.filename)}:{place.lineno}": [one.size, one.count]
        for place, one in places
        if place.filename not in {__file__, tracemalloc.__file__}
    }


def named(file: str) -> str:
    """A file's name within the checkout, the installed packages or Python's library."""
    inside = next((place for place in PLACES if file.startswith(place + os.sep)), "")
    return file[len(inside) :].lstrip(os.sep) if inside else file


def _write(path: Path, said: object) -> None:
    """Whole or not at all, for somebody waits for it."""
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(said), encoding="utf-8")
    aside.replace(path)


class Told:
    """What a process under tracemalloc tells, from outside."""

    def __init__(self, pid: int, folder: Path) -> None:
        self._pid, self._folder = pid, folder
        self._helds, self._peaks = count(), count()

    async def held(self) -> Lines:
        """What it holds, by line. Raises TimeoutError."""
        lines: Lines = json.loads(await self._answer(signal.SIGUSR1, f"held_{next(self._helds)}.json"))
        return lines

    async def peak(self) -> int:
        """The most bytes since it was last asked, over those held then. Raises TimeoutError."""
        return int(await self._answer(signal.SIGUSR2, f"peak_{next(self._peaks)}.json"))

    async def _answer(self, number: signal.Signals, name: str) -> str:
        os.kill(self._pid, number)
        async with asyncio.timeout(SECONDS):
            while not (self._folder / name).exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
        return (self._folder / name).read_text(encoding="utf-8")


def text(marks: Mapping[int, Lines], peaks: Sequence[int]) -> str:
    """The page: held by number of calls, what grew from the first mark to the last, and who holds most."""
    (first, before), *_, (last, after) = marks.items()
    grown = {line: _less(after.get(line, (0, 0)), before.get(line, (0, 0))) for line in {**before, **after}}
    dearest = sorted(grown, key=lambda line: -abs(grown[line][0]))[:MOST]
    largest = sorted(after, key=lambda line: -after[line][0])[:MOST]
    return "\n".join(
        [
            f"A call holds at its peak over what was held before it, of {len(peaks)} calls: median "
            f"{_kb(median(peaks))} kB, {_kb(min(peaks))} to {_kb(max(peaks))}",
            "",
            *_totals(marks),
            "",
            f"Grown from call {first} to {last}, a call: bytes, blocks; kB held at the end",
            *(_grown(line, grown[line], after.get(line, (0, 0)), last - first) for line in dearest),
            "",
            f"Held after call {last}: kB, blocks",
            *(f"{_kb(after[line][0]):>10} {after[line][1]:>8}  {line}" for line in largest),
            "",
        ]
    )


def _totals(marks: Mapping[int, Lines]) -> list[str]:
    sums = {calls: [sum(one) for one in zip(*held.values(), strict=True)] for calls, held in marks.items()}
    said = ["Held after so many calls: kB, blocks; grown since the row above, a call: bytes, blocks"]
    calls, before = next(iter(sums.items()))
    for now, (size, blocks) in sums.items():
        by = [one / max(now - calls, 1) for one in _less((size, blocks), before)]
        said.append(f"{now:>6}: {_kb(size):>10} {blocks:>8} {by[0]:>+10.1f} {by[1]:>+8.2f}")
        calls, before = now, [size, blocks]
    return said


def _grown(line: str, by: Sequence[int], after: Sequence[int], calls: int) -> str:
    return f"{by[0] / calls:>+10.1f} {by[1] / calls:>+8.2f} {_kb(after[0]):>9}  {line}"


def _less(after: Sequence[int], before: Sequence[int]) -> list[int]:
    return [one - other for one, other in zip(after, before, strict=True)]


def _kb(size: float) -> str:
    return f"{size / 1000:.1f}"


def main(folder: Path, module: str) -> None:
    """Runs the module as a program."""
    tracemalloc.start()
    listening(folder)
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
