"""Sweeps batch and length over FRIDA, Qwen3-Reranker-0.6B and Qwen3's mixture of experts, and prints a table.

    .venv-models/bin/python -m benchmarks.gpu [--size tiny] [--device cpu] [--through files] [--out FILE]

Weights are random and full-size: speed does not depend on training. Each model is measured behind a real
Triton and by its files alone; where Triton is not ready in time, that is said and the files are measured. It
stops by itself after `limit` seconds and prints what it has.
"""

import argparse
import json
import platform
import time
from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path

from benchmarks.gpu import direct, served
from benchmarks.gpu.busy import Busy
from benchmarks.gpu.measure import Case, Result, measured, result, table
from benchmarks.gpu.plan import BUDGET, PLANS, Call, Plan, fitted
from benchmarks.gpu.sizes import Size, peak
from cli.triton_server import TritonNotReady

# After the models, which put the product's files on the path.
import torch  # isort: skip
from local_model import CannotLoad, Place  # isort: skip

# What the mixture of experts may take of the device's free memory: caches and two more models need some.
SHARE = 0.75


def main() -> int:
    given = arguments()
    place = Place(given.device, given.precision)
    device = torch.cuda.get_device_name() if place.device.type == "cuda" else platform.machine()
    plan = fitted(PLANS[given.size], free(place))
    results, end = [], time.monotonic() + given.limit
    with closing(cases(given, plan, place)) as found:
        for case, size, call in found:
            if time.monotonic() > end:
                print(f"stopped after {given.limit:.0f} s, before {case}")
                break
            with Busy() as busy:
                times = measured(case, call, given.seconds)
            results.append(result(case, times, size, peak(device), BUDGET, busy=busy.share))
            print(table(results[-1:]).splitlines()[-1], flush=True)
    report(given, place, device, plan, results)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.gpu")
    parser.add_argument("--size", choices=sorted(PLANS), default="full")
    parser.add_argument("--through", choices=("triton", "files", "both"), default="both")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--seconds", type=float, default=1.0, help="per case")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds in all")
    parser.add_argument("--start", type=float, default=60.0, help="seconds in which Triton must be ready")
    parser.add_argument("--out", type=Path, help="where to write the results as JSON")
    return parser.parse_args()


def free(place: Place) -> float | None:
    """Bytes for the mixture of experts; None on a CPU, where only the tiny one is of use."""
    return SHARE * torch.cuda.mem_get_info(place.device)[0] if place.device.type == "cuda" else None


def cases(given: argparse.Namespace, plan: Plan, place: Place) -> Generator[tuple[Case, Size, Call]]:
    """Behind Triton, which ends, then the files; the files alone where Triton does not start."""
    if given.through != "files":
        with ExitStack() as running:
            try:
                started = running.enter_context(served.server(plan, place, given.start))
            except TritonNotReady as error:
                print(f"{error}\nmeasured without Triton: the models' files alone", flush=True)
                given.through = "both"
            else:
                yield from served.cases(plan, *started)
    if given.through != "triton":
        yield from direct.cases(plan, place)


def report(given: argparse.Namespace, place: Place, device: str, plan: Plan, results: list[Result]) -> None:
    print(
        f"\n{device}, {place.precision}, PyTorch {torch.__version__}, {given.size} size,"
        f" {plan.moe.layers} layers of the mixture of experts\n\n{table(results)}"
    )
    if given.out:
        content = {
            "device": device,
            "precision": place.precision,
            "torch": torch.__version__,
            "size": given.size,
            "moe_layers": plan.moe.layers,
            "results": [asdict(one) for one in results],
        }
        given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except CannotLoad as error:
        raise SystemExit(str(error)) from None
