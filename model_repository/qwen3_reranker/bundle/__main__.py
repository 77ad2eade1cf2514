"""Makes a folder of Qwen3-Reranker's files a bundle: golden.json and manifest.json beside the weights.

    python model_repository/qwen3_reranker/bundle FOLDER [SOURCE] [--least-margin 0.5]

The known scores come from the published computation, written out here with transformers alone, in fp32 on the
CPU, pair by pair: none of the server's own code but the template. A converted folder (`python one_logit`)
takes the known scores of the folder it was made from.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "1"))

import torch
from local_model import CannotLoad, Place, architecture, load
from qwen3_prompt import DOCUMENT, INSTRUCTION, PREFIX, QUESTION, SUFFIX
from qwen3_reranker import CAUSAL
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM
from weights_manifest import write

# The first is answered, the second is not; then the same in Russian.
CASES = [
    (
        "What is the annual effective dose limit for staff?",
        "The effective dose limit for occupational exposure is 20 mSv per year averaged over five years.",
    ),
    (
        "What is the annual effective dose limit for staff?",
        "The parking lot behind the museum opens at nine.",
    ),
    (
        "Какова норма диаметра корня аорты на КТ?",
        "В норме диаметр корня аорты на уровне синусов Вальсальвы составляет до 40 мм у мужчин.",
    ),
    ("Какова норма диаметра корня аорты на КТ?", "Рецепт пирога: смешайте муку, яйца и сахар."),
]


def reference(folder: Path) -> list[float]:
    """softmax over the logits of no and yes at the last position."""
    model = load(Qwen3ForCausalLM, folder, Place("cpu", "fp32"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    answers = [tokenizer.convert_tokens_to_ids(answer) for answer in ("no", "yes")]
    scores = []
    for query, passage in CASES:
        body = (QUESTION + DOCUMENT).format(instruction=INSTRUCTION, query=query, document=passage)
        parts = [tokenizer.encode(part, add_special_tokens=False) for part in (PREFIX, body, SUFFIX)]
        with torch.inference_mode():
            logits = model(torch.tensor([[token for part in parts for token in part]])).logits[0, -1]
        scores.append(float(torch.softmax(logits[answers], dim=0)[1]))
    return scores


def bundle(folder: Path, source: str, least_margin: float) -> None:
    file = folder / "golden.json"
    if architecture(folder, (CAUSAL, "Qwen3ForSequenceClassification")) == CAUSAL:
        pairs = zip(CASES, reference(folder), strict=True)
        cases = [{"query": query, "passage": text, "score": score} for (query, text), score in pairs]
        content = {"cases": cases, "least_margin": least_margin}
        file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    elif not file.is_file():
        raise CannotLoad(f"{file} is absent: convert a folder that is a bundle already")
    write(folder, "qwen3_reranker", source)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        prog="bundle", description=__doc__.splitlines()[0] if __doc__ else None
    )
    arguments.add_argument("folder", type=Path)
    arguments.add_argument(
        "source", nargs="?", default="", help="where the weights came from, with a revision"
    )
    arguments.add_argument(
        "--least-margin", type=float, default=0.5, help="between the best and the worst case"
    )
    given = arguments.parse_args()
    try:
        bundle(given.folder, given.source, given.least_margin)
    except CannotLoad as error:
        sys.exit(str(error))
