"""Qwen3's mixture of experts with random weights, and the plainest writer on it: greedy, all rows in step.

vLLM, which serves the real one, batches answers as they come and is faster: this says what the weights cost.
Imports nothing of ours but the sizes, so that a model folder of Triton can take it.
"""

import torch
from transformers import DynamicCache, Qwen3MoeConfig, Qwen3MoeForCausalLM

from benchmarks.gpu.sizes import Size


class Writer:
    """The model on one device, in bf16 there and in fp32 on a CPU. For one thread at a time."""

    def __init__(self, size: Size, device: torch.device, dtype: torch.dtype) -> None:
        config = Qwen3MoeConfig(
            vocab_size=size.vocabulary,
            hidden_size=size.width,
            intermediate_size=size.inner,
            moe_intermediate_size=size.inner,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.key_heads,
            head_dim=size.head_width,
            num_experts=size.experts,
            num_experts_per_tok=size.chosen,
            max_position_embeddings=40_960,
            attn_implementation="sdpa",
        )
        before = torch.get_default_dtype()
        # Made in its own precision: thirty billion numbers do not fit twice.
        torch.set_default_dtype(dtype)
        try:
            with device:
                self.model = Qwen3MoeForCausalLM(config).eval()
        finally:
            torch.set_default_dtype(before)

    @torch.inference_mode()
    def write(self, rows: list[list[int]], count: int) -> list[list[int]]:
        """Reads prompts of one length and writes `count` tokens, at least one, behind each."""
        ids = torch.tensor(rows, device=self.model.device)
        cache, written = DynamicCache(), []
        for _ in range(count):
            found = self.model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
            ids = found.logits[:, -1:].argmax(dim=-1)
            written.append(ids)
        answers: list[list[int]] = torch.cat(written, dim=1).tolist()
        return answers
