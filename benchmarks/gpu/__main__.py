"""Sweeps batch and length over FRIDA and Qwen3-Reranker-0.6B, full-size, and prints a table.

    .venv-models/bin/python -m benchmarks.gpu [--size tiny] [--device cpu] [--seconds 1] [--out FILE]

Weights are random and full-size: speed does not depend on training. It calls the model files directly, so
Triton's own share is not in it. It stops by itself after `limit` seconds and
prints what it has.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path

from benchmarks.gpu import random_models
from benchmarks.gpu.measure import Case, Result, measured, result, table
from benchmarks.gpu.sizes import FRIDA, RERANKER, TINY_FRIDA, TINY_RERANKER, Size, peak

# After the models, which put the product's files on the path.
import torch  # isort: skip
from local_model import CannotLoad, Place  # isort: skip
from qwen3_prompt import Row  # isort: skip

SWEEPS = {
    "full": ((1, 8, 32, 128), (16, 128, 512), (128, 512, 2048)),
    "tiny": ((1, 4), (16, 64), (96, 160)),
}
BUDGET = 16_384
# The template and a question of some 35 tokens, which the passages of one reranking share.
SHARED = 80

Call = Callable[[], object]


def main() -> int:
    given = arguments()
    place = Place(given.device, given.precision)
    device = torch.cuda.get_device_name() if place.device.type == "cuda" else platform.machine()
    results, end = [], time.monotonic() + given.limit
    for case, size, call in cases(given.size, place):
        if time.monotonic() > end:
            print(f"stopped after {given.limit:.0f} s, before {case}")
            break
        times = measured(case, call, given.seconds)
        results.append(result(case, times, size, peak(device), BUDGET))
        print(table(results[-1:]).splitlines()[-1], flush=True)
    report(given, place, device, results)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.gpu")
    parser.add_argument("--size", choices=sorted(SWEEPS), default="full")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--seconds", type=float, default=1.0, help="per case")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds in all")
    parser.add_argument("--out", type=Path, help="where to write the results as JSON")
    return parser.parse_args()


def cases(size: str, place: Place) -> Iterator[tuple[Case, Size, Call]]:
    rows, texts, pairs = SWEEPS[size]
    frida, reranker = (FRIDA, RERANKER) if size == "full" else (TINY_FRIDA, TINY_RERANKER)
    encoder = random_models.frida(frida, place, BUDGET)
    for count, length in product(rows, texts):
        yield Case("frida", count, length), frida, embedding(encoder, tokens(count, length, frida))
    del encoder
    for share in (False, True):
        model = random_models.reranker(reranker, place, BUDGET, share=share)
        name = "qwen3_reranker, question shared" if share else "qwen3_reranker"
        for count, length in product(rows, pairs):
            yield Case(name, count, length), reranker, judging(model, tokens(count, length, reranker))


def tokens(rows: int, length: int, size: Size) -> list[list[int]]:
    """Random tokens; the first of all rows are the same, as template and question are."""
    shared = torch.randint(1, size.vocabulary, (SHARED,)).tolist()
    drawn = torch.randint(1, size.vocabulary, (rows, length)).tolist()
    return [(shared + row[SHARED:])[:length] for row in drawn]


def embedding(encoder: "random_models.FridaEncoder", rows: list[list[int]]) -> Call:
    # Vectors come back to the host, which waits for the device.
    return lambda: encoder._run(rows, first_only=True)


def judging(model: "random_models.Reranker", rows: list[list[int]]) -> Call:
    ready = [Row(row, SHARED, truncated=False) for row in rows]
    return lambda: model.margins(ready)


def report(given: argparse.Namespace, place: Place, device: str, results: list[Result]) -> None:
    print(
        f"\n{device}, {place.precision}, PyTorch {torch.__version__}, {given.size} size\n\n{table(results)}"
    )
    if given.out:
        content = {
            "device": device,
            "precision": place.precision,
            "torch": torch.__version__,
            "size": given.size,
            "results": [asdict(one) for one in results],
        }
        given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except CannotLoad as error:
        raise SystemExit(str(error)) from None
