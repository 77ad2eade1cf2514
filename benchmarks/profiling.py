"""Where a search's processor time and memory go, without services. Run: python -m benchmarks.profiling

An index of made-up children, the searcher in this process, every question once to warm and then again: CPU of
the event loop's thread and of all threads, Python functions entered, the most memory a search holds at once,
and the dearest functions. Writes benchmarks/profiles/cpu_search.txt. A running
process is profiled by `python -m benchmarks.profiled FILE gateway` in its place.
"""

import argparse
import asyncio
import cProfile
import pickle
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.index_made import Kept, made
from benchmarks.loops import ms
from benchmarks.profiled import PROFILES, keep, text
from benchmarks.record import commit, machine
from benchmarks.searching import question, searcher
from retrieval.edge_store import EdgeStore
from retrieval.question import Question

PROFILE = PROFILES / "cpu_search.txt"
Search = Callable[[Question], Awaitable[object]]


async def profiled(folder: Path, children: int, dimension: int) -> str:
    """The page."""
    await made(folder, children, dimension, 40)
    kept: Kept = pickle.loads((folder / "kept.pickle").read_bytes())
    store = EdgeStore(folder / "edge")
    try:
        search, asked = searcher(store, kept).search, [question(one, "public") for one in kept.asked]
        await _all(search, asked)
        loop, whole = time.thread_time(), time.process_time()
        await _all(search, asked)
        loop, whole = time.thread_time() - loop, time.process_time() - whole
        held = await _held(search, asked)
        profile = cProfile.Profile(time.thread_time)
        profile.enable()
        await _all(search, asked)
        profile.disable()
    finally:
        await store.close()
    head = (
        f"{children} children of {dimension}, 7 collections; {len(asked)} searches\n"
        f"commit {commit()}; {machine()}\n"
        f"CPU of a search: {ms(whole / len(asked))} ms, {ms(loop / len(asked))} of it in the loop's thread; "
        f"at most {held // 1000} kB held at once"
    )
    return text(profile, head)


async def _all(search: Search, asked: Sequence[Question]) -> None:
    for one in asked:
        await search(one)


async def _held(search: Search, asked: Sequence[Question]) -> int:
    """The most bytes of Python's own memory that one search held."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        await search(asked[0])
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def main() -> None:
    """Profiles and writes the page."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--children", type=int, default=2000)
    given.add_argument("--dimension", type=int, default=384)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = asyncio.run(profiled(Path(folder), asked.children, asked.dimension))
    keep(PROFILE, page)
    print(page)


if __name__ == "__main__":
    main()
