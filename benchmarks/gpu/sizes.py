"""The dimensions of the two models, full and tiny, and what one pass over them costs. Knows no PyTorch.

Full: FRIDA's config.json (ai-forever/FRIDA) and Qwen3-Reranker-0.6B's, which is Qwen3-0.6B's.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """width of the residual stream; inner of the gated feed-forward; key_heads fewer where shared (GQA)."""

    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    head_width: int
    vocabulary: int
    causal: bool

    @property
    def layer_weights(self) -> int:
        """Numbers in all layers' matrices; norms and embeddings aside."""
        own, shared = self.heads * self.head_width, self.key_heads * self.head_width
        return self.layers * self.width * (2 * own + 2 * shared + 3 * self.inner)

    @property
    def weights(self) -> int:
        return self.layer_weights + self.vocabulary * self.width

    def operations(self, length: int) -> float:
        """Floating-point operations for one row of `length` tokens: two per weight and token, and attention's
        two products, of which a causal model needs half."""
        attention = 4 * self.layers * self.heads * self.head_width * length**2
        return 2.0 * self.layer_weights * length + attention * (0.5 if self.causal else 1.0)


FRIDA = Size(24, 1536, 4096, 24, 24, 64, 93_651, causal=False)
RERANKER = Size(28, 1024, 3072, 16, 8, 128, 151_936, causal=True)
TINY_FRIDA = Size(2, 64, 128, 4, 4, 16, 500, causal=False)
TINY_RERANKER = Size(2, 64, 128, 4, 2, 16, 500, causal=True)


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
