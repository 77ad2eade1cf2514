"""FRIDA and Qwen3-Reranker with random weights, in the product's own classes: speed needs no training."""

import sys
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "model_repository"
sys.path += [str(MODELS / model / "1") for model in ("frida", "qwen3_reranker")]

import torch  # noqa: E402 - the product's files are found from here on
from frida_encoder import FridaEncoder  # noqa: E402
from local_model import Place  # noqa: E402
from qwen3_reranker import Reranker  # noqa: E402
from transformers import Qwen3Config, Qwen3ForCausalLM, T5Config, T5EncoderModel  # noqa: E402

from benchmarks.gpu.sizes import Size  # noqa: E402


@dataclass(frozen=True)
class Padding:
    """All that a row of ready tokens needs of a tokenizer."""

    pad: int = 0


def encoder(size: Size) -> T5EncoderModel:
    config = T5Config(
        vocab_size=size.vocabulary,
        d_model=size.width,
        d_kv=size.head_width,
        d_ff=size.inner,
        num_layers=size.layers,
        num_heads=size.heads,
        feed_forward_proj="gated-gelu",
        is_encoder_decoder=False,
        use_cache=False,
        attn_implementation="sdpa",
    )
    return T5EncoderModel(config).eval()


def causal(size: Size) -> Qwen3ForCausalLM:
    config = Qwen3Config(
        vocab_size=size.vocabulary,
        hidden_size=size.width,
        intermediate_size=size.inner,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.key_heads,
        head_dim=size.head_width,
        max_position_embeddings=40_960,
        tie_word_embeddings=True,
        attn_implementation="sdpa",
    )
    return Qwen3ForCausalLM(config).eval()


def frida(size: Size, place: Place, budget: int) -> FridaEncoder:
    with torch.device(place.device):
        model = encoder(size).to(place.dtype)
    return FridaEncoder(model, Padding(), budget=budget)  # type: ignore[arg-type]


def reranker(size: Size, place: Place, budget: int, *, share: bool) -> Reranker:
    with torch.device(place.device):
        model = causal(size).model.to(place.dtype)
    answers = torch.randn(2, size.width, device=place.device)
    return Reranker(model, answers, Padding(), budget, share)  # type: ignore[arg-type]
