"""The dimensions of the three models, full and tiny, and what one pass over them costs. Knows no PyTorch.

Full: the config.json of ai-forever/FRIDA, of Qwen3-Reranker-0.6B (Qwen3-0.6B's), and of Qwen3-30B-A3B.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Size:
    """width of the residual stream; inner of the gated feed-forward; key_heads fewer where shared (GQA);
    experts: feed-forwards of which each token takes `chosen`."""

    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    head_width: int
    vocabulary: int
    causal: bool
    experts: int = 1
    chosen: int = 1

    @property
    def attention_weights(self) -> int:
        own, shared = self.heads * self.head_width, self.key_heads * self.head_width
        return self.layers * self.width * (2 * own + 2 * shared)

    @property
    def expert_weights(self) -> int:
        """Of one feed-forward in every layer."""
        return self.layers * self.width * 3 * self.inner

    @property
    def layer_weights(self) -> int:
        """Numbers in all layers' matrices that one token meets; norms, routers and embeddings aside."""
        return self.attention_weights + self.chosen * self.expert_weights

    def read_weights(self, tokens: int) -> float:
        """What a pass over so many tokens reads: of the experts those that somebody is likely to choose."""
        met = self.experts * (1 - (1 - self.chosen / self.experts) ** tokens)
        return self.attention_weights + met * self.expert_weights

    @property
    def weights(self) -> int:
        """All of them, the embedding once."""
        everywhere = self.attention_weights + self.experts * self.expert_weights
        return everywhere + self.vocabulary * self.width

    def operations(self, length: int) -> float:
        """Floating-point operations for one row of `length` tokens: two per weight and token, and attention's
        two products, of which a causal model needs half."""
        attention = 4 * self.layers * self.heads * self.head_width * length**2
        return 2.0 * self.layer_weights * length + attention * (0.5 if self.causal else 1.0)

    def step(self, length: int) -> float:
        """Operations for one written token behind `length` others."""
        return 2.0 * self.layer_weights + 4 * self.layers * self.heads * self.head_width * length


FRIDA = Size(24, 1536, 4096, 24, 24, 64, 93_651, causal=False)
RERANKER = Size(28, 1024, 3072, 16, 8, 128, 151_936, causal=True)
MOE = Size(48, 2048, 768, 32, 4, 128, 151_936, causal=True, experts=128, chosen=8)
TINY_FRIDA = Size(2, 64, 128, 4, 4, 16, 500, causal=False)
TINY_RERANKER = Size(2, 64, 128, 4, 2, 16, 500, causal=True)
TINY_MOE = Size(2, 64, 32, 4, 2, 16, 500, causal=True, experts=8, chosen=2)


def fitting(size: Size, room: float) -> Size:
    """With as many layers as fit into `room` bytes in bf16, head and embedding apart. At least one."""
    layer = (size.attention_weights + size.experts * size.expert_weights) / size.layers
    ends = 2 * size.vocabulary * size.width
    layers = int((room / 2 - ends) / layer)
    return replace(size, layers=max(1, min(size.layers, layers)))


@dataclass(frozen=True)
class Peak:
    """What a device could do at best: dense bf16 operations and bytes of its memory, both per second."""

    operations: float
    bytes: float


# By a part of the device's name; from the makers' data sheets, SXM where there are several.
PEAKS = {
    "H200": Peak(989e12, 4.8e12),
    "H100": Peak(989e12, 3.35e12),
    "A100": Peak(312e12, 2.04e12),
    "L40S": Peak(362e12, 0.864e12),
    "L4": Peak(121e12, 0.3e12),
}


def peak(device: str) -> Peak | None:
    """None for a device that is not in the table: then no share is printed."""
    return next((PEAKS[name] for name in PEAKS if name in device), None)
