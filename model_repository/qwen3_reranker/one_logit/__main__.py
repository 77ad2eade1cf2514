"""Converts a bundle of Qwen3-Reranker into the classifier with one logit: score.weight = yes - no.

    python model_repository/qwen3_reranker/one_logit FROM TO

Equal scores from a checkpoint that serving programs for classifiers load as it is. TO becomes a bundle with
the same known answers.
"""

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "1"))

import torch
from local_model import CannotLoad, Place, load
from qwen3_prompt import Prompts, WrongTokenizer
from qwen3_reranker import difference
from safetensors.torch import save_file
from transformers import Qwen3ForCausalLM
from weights_manifest import WrongBundle, verify, write


def convert(folder: Path, target: Path) -> None:
    manifest = verify(folder, "golden.json")
    prompts = Prompts.load(folder / "tokenizer.json")
    model = load(Qwen3ForCausalLM, folder, Place("cpu", "fp32"))
    score = difference(model.lm_head.weight[[prompts.no, prompts.yes]])
    target.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor for name, tensor in model.state_dict().items() if name != "lm_head.weight"}
    save_file(tensors | {"score.weight": score.contiguous()}, target / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {
        "architectures": ["Qwen3ForSequenceClassification"],
        "num_labels": 1,
        "pad_token_id": prompts.pad,
    }
    (target / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    for name in ("tokenizer.json", "golden.json"):
        shutil.copyfile(folder / name, target / name)
    write(target, manifest.name, f"{manifest.source} converted to one logit".strip())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    torch.set_grad_enabled(False)
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except (CannotLoad, WrongTokenizer, WrongBundle) as error:
        sys.exit(str(error))
