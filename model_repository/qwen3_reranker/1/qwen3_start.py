"""What of the reranker's start needs PyTorch: one of a verified folder, with its known answers right."""

from collections.abc import Mapping
from pathlib import Path

from local_model import CannotLoad, Place
from qwen3_golden import Golden, check
from qwen3_prompt import Prompts
from qwen3_reranker import Reranker, Timing

SHARE = ("measured", "always", "never")
# What the ways to share the question are measured on: as many passages as a reranking has, of some length.
PASSAGES, REPEATS = 16, 12


def started_reranker(folder: Path, settings: Mapping[str, str], gpu: int) -> tuple[Reranker, Timing | None]:
    """settings: config.pbtxt's parameters. With the timing of sharing, where asked. Raises Refused."""
    if settings["share_question"] not in SHARE:
        raise CannotLoad(f"share_question is {settings['share_question']!r}, known are {', '.join(SHARE)}")
    place = Place(settings["device"], settings["precision"], gpu)
    golden = Golden.read(folder / "golden.json")
    prompts = Prompts.load(folder / "tokenizer.json", settings["instruction"], int(settings["context"]))
    reranker = Reranker.load(folder, place, prompts, one_logit=settings["readout"] == "one_logit")
    reranker.budget = int(settings["pass_tokens"])
    reranker.share = settings["share_question"] != "never"
    check(reranker, golden, place.precision)
    return reranker, measured(reranker, golden) if settings["share_question"] == "measured" else None


def measured(reranker: Reranker, golden: Golden) -> Timing:
    query, passage = golden.pairs[0]
    return reranker.measure([reranker.prompts.row(query, " ".join([passage] * REPEATS))] * PASSAGES)
