"""The models' files called in this process: Triton's own share is not in it."""

from collections.abc import Iterator

from benchmarks.gpu import random_models
from benchmarks.gpu.measure import Case
from benchmarks.gpu.plan import BUDGET, Call, Plan
from benchmarks.gpu.sizes import Size

# After the models, which put the product's files on the path.
import torch  # isort: skip
from frida_encoder import FridaEncoder  # isort: skip
from local_model import Place  # isort: skip
from qwen3_prompt import Row  # isort: skip
from qwen3_reranker import Reranker  # isort: skip
from benchmarks.gpu.moe import Writer  # isort: skip

# The template and a question of some 35 tokens, which the passages of one reranking share.
SHARED = 80


def cases(plan: Plan, place: Place) -> Iterator[tuple[Case, Size, Call]]:
    """One model at a time on the device."""
    encoder = random_models.frida(plan.frida, place, BUDGET)
    for case in plan.cases("frida", "files"):
        yield case, plan.frida, embedding(encoder, tokens(case, plan.frida))
    del encoder
    for share, name in ((False, "qwen3_reranker"), (True, "qwen3_reranker, question shared")):
        model = random_models.reranker(plan.reranker, place, BUDGET, share=share)
        for case in plan.cases(name, "files"):
            yield case, plan.reranker, judging(model, tokens(case, plan.reranker))
        del model
    writer = Writer(plan.moe, place.device, place.dtype)
    for case in plan.cases("qwen3_moe", "files"):
        yield case, plan.moe, writing(writer, tokens(case, plan.moe), case.written)


def tokens(case: Case, size: Size) -> list[list[int]]:
    """Random tokens; the first of all rows are the same, as template and question are."""
    shared = torch.randint(1, size.vocabulary, (SHARED,)).tolist()
    drawn = torch.randint(1, size.vocabulary, (case.rows, case.length)).tolist()
    return [(shared + row[SHARED:])[: case.length] for row in drawn]


def embedding(encoder: FridaEncoder, rows: list[list[int]]) -> Call:
    # Vectors come back to the host, which waits for the device.
    return lambda: encoder._run(rows, first_only=True)


def judging(model: Reranker, rows: list[list[int]]) -> Call:
    ready = [Row(row, SHARED, truncated=False) for row in rows]
    return lambda: model.margins(ready)


def writing(writer: Writer, rows: list[list[int]], count: int) -> Call:
    return lambda: writer.write(rows, count)
