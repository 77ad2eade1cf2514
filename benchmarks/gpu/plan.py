"""What is measured: sizes, batches, lengths. Knows no PyTorch."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.gpu import sizes
from benchmarks.gpu.measure import Case
from benchmarks.gpu.sizes import Size

# Padded tokens of one pass, as config.pbtxt has them.
BUDGET = 16_384

Call = Callable[[], object]


@dataclass(frozen=True)
class Plan:
    """rows: texts, pairs or prompts in one call; lengths in tokens; written: tokens behind a prompt."""

    frida: Size
    reranker: Size
    moe: Size
    rows: tuple[int, ...]
    texts: tuple[int, ...]
    pairs: tuple[int, ...]
    prompts: tuple[int, ...]
    written: tuple[int, ...]

    def cases(self, model: str, through: str) -> Iterator[Case]:
        lengths = {"frida": self.texts, "qwen3_moe": self.prompts}.get(model, self.pairs)
        written = self.written if model == "qwen3_moe" else (0,)
        for rows, length, count in product(self.rows, lengths, written):
            yield Case(model, rows, length, count, through)


# One written token is what reading the prompt takes; the tokens behind it are a pass each.
PLANS = {
    "full": Plan(
        sizes.FRIDA, sizes.RERANKER, sizes.MOE,
        (1, 8, 32, 128), (16, 128, 512), (128, 512, 2048), (512, 2048), (1, 33),
    ),
    "tiny": Plan(
        sizes.TINY_FRIDA, sizes.TINY_RERANKER, sizes.TINY_MOE, (1, 4), (16, 64), (96, 160), (32,), (1, 5)
    ),
}  # fmt: skip


def fitted(plan: Plan, room: float | None) -> Plan:
    """With as many of the mixture's layers as fit into `room` bytes; all of them where nobody knows."""
    return plan if room is None else replace(plan, moe=sizes.fitting(plan.moe, room))
