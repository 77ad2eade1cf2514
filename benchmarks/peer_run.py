"""One peer in a process of its own: builds its index, answers the questions, prints what it took as JSON.

Run by benchmarks.peers: python -m benchmarks.peer_run NAME FILE. FILE holds documents, questions, and where
Triton is.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.peer_triton import Embedder

Search = Callable[[str], list[str]]
"""A question's documents, best first, each once."""
AT_ONCE = 8


def measured(name: str, task: dict[str, object]) -> dict[str, object]:
    """Seconds to build, seconds of each question alone, questions per second of eight threads, and ranks."""
    build: Callable[[object, Embedder], Search] = importlib.import_module(f"benchmarks.peer_{name}").built
    began = time.perf_counter()
    search = build(task["documents"], Embedder(str(task["triton"]), str(task["model"])))
    built = time.perf_counter() - began
    asked = task["questions"]
    if not isinstance(asked, list):
        raise TypeError("questions must be a list")
    ranks, times = {}, []
    for question in asked:
        began = time.perf_counter()
        ranks[question["id"]] = search(question["text"])[:10]
        times.append(time.perf_counter() - began)
    began = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda question: search(question["text"]), asked))
    rate = len(asked) / (time.perf_counter() - began)
    return {"build_s": built, "times": times, "per_second": rate, "memory_mb": _memory(), "rankings": ranks}


def distinct(documents: Sequence[str]) -> list[str]:
    """Each document once, in the order of its best chunk."""
    return list(dict.fromkeys(documents))


def _memory() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("RssAnon"))) / 1000


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))))
