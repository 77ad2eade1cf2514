"""What of the reranker's start needs PyTorch: one of a verified folder, with its known answers right."""

from collections.abc import Mapping
from pathlib import Path

from local_model import Place
from model_settings import choice, whole
from qwen3_golden import Golden, check
from qwen3_prompt import Prompts
from qwen3_reranker import Reranker, Timing

SHARE = ("measured", "always", "never")
READOUTS = ("two_logits", "one_logit")
# What the ways to share the question are measured on: as many passages as a reranking has, of some length.
PASSAGES, REPEATS = 16, 12


def started_reranker(folder: Path, settings: Mapping[str, str], gpu: int) -> tuple[Reranker, Timing | None]:
    """settings: config.pbtxt's parameters. With the timing of sharing, where asked. Raises Refused."""
    sharing = choice(settings, "share_question", SHARE)
    one_logit = choice(settings, "readout", READOUTS) == "one_logit"
    place = Place(settings["device"], settings["precision"], gpu)
    golden = Golden.read(folder / "golden.json")
    prompts = Prompts.load(folder / "tokenizer.json", settings["instruction"], whole(settings, "context"))
    reranker = Reranker.load(folder, place, prompts, one_logit=one_logit)
    reranker.budget = whole(settings, "pass_tokens")
    reranker.share = sharing != "never"
    check(reranker, golden, place.precision)
    return reranker, measured(reranker, golden) if sharing == "measured" else None


def measured(reranker: Reranker, golden: Golden) -> Timing:
    query, passage = golden.pairs[0]
    return reranker.measure([reranker.prompts.row(query, " ".join([passage] * REPEATS))] * PASSAGES)
