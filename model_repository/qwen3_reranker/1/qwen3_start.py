"""What of the reranker's start needs PyTorch: one of a verified folder, with its known answers right."""

from collections.abc import Mapping
from pathlib import Path

from local_model import Place
from model_settings import WrongSetting, choice, whole
from qwen3_golden import Golden, check
from qwen3_prompt import Prompts
from qwen3_reranker import Reranker, Timing

SHARE = ("measured", "always", "never")
READOUTS = ("two_logits", "one_logit")
# What the ways to share the question are measured on: as many passages as a reranking has, of some length.
PASSAGES, REPEATS = 16, 12
# Tokens for the instruction, a question, and a document worth judging.
LEAST_ROOM = 256


def started_reranker(folder: Path, settings: Mapping[str, str], gpu: int) -> tuple[Reranker, Timing | None]:
    """settings: config.pbtxt's parameters. With the timing of sharing, where asked. Raises Refused."""
    sharing = choice(settings, "share_question", SHARE)
    one_logit = choice(settings, "readout", READOUTS) == "one_logit"
    place = Place(settings["device"], settings["precision"], gpu)
    golden = Golden.read(folder / "golden.json")
    prompts = Prompts.load(folder / "tokenizer.json", settings["instruction"], whole(settings, "context"))
    reranker = Reranker.load(folder, place, prompts, one_logit=one_logit)
    require_context(reranker)
    reranker.budget = whole(settings, "pass_tokens")
    reranker.share = sharing != "never"
    check(reranker, golden, place.precision)
    return reranker, measured(reranker, golden) if sharing == "measured" else None


def require_context(reranker: Reranker) -> None:
    """Raises WrongSetting where the template leaves no room, or the model was not made for so much."""
    prompts, most = reranker.prompts, int(reranker.model.config.max_position_embeddings)
    template = len(prompts.prefix) + len(prompts.suffix)
    least = template + LEAST_ROOM
    if not least <= template + prompts.room <= most:
        raise WrongSetting(f"context is {template + prompts.room}: it must be {least} to {most}")


def measured(reranker: Reranker, golden: Golden) -> Timing:
    query, passage = golden.pairs[0]
    return reranker.measure([reranker.prompts.row(query, " ".join([passage] * REPEATS))] * PASSAGES)
