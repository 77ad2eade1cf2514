"""Bundles of FRIDA and Qwen3-Reranker with random weights, as their servers on Triton want them.

The vocabulary is a list of words, `w0 w1 …`: a text of n words has n tokens. Golden answers, limits and
manifest are the product's own programs' (`model_repository/*/bundle`), run on the CPU.
"""

import subprocess
import sys
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

from benchmarks.gpu.random_models import MODELS, causal, encoder
from benchmarks.gpu.sizes import Size

SPECIALS = ["<pad>", "<s>", "</s>", "<unk>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "yes", "no"]
OPTIONS = {"frida": [], "qwen3_reranker": ["--least-margin", "0"]}


def bundle(name: str, size: Size, folder: Path, dtype: torch.dtype) -> Path:
    """Makes it, by the model's own program."""
    folder.mkdir(parents=True)
    make = encoder if name == "frida" else causal
    make(size).to(dtype).save_pretrained(folder)
    vocabulary(size.vocabulary, framed=name == "frida").save(str(folder / "tokenizer.json"))
    command = [sys.executable, str(MODELS / name / "bundle"), str(folder), *OPTIONS[name]]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def vocabulary(count: int, *, framed: bool) -> Tokenizer:
    """`count` words, the special ones first; framed by <s> and </s> where position 0 is what is read."""
    words = SPECIALS + [f"w{number}" for number in range(count - len(SPECIALS))]
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens([AddedToken(word, special=True) for word in SPECIALS if "|" in word])
    if framed:
        made.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 1))
    return made
