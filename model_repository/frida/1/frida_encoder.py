"""FRIDA on PyTorch: texts in, a vector per text or a state per token out.

Knows nothing of Triton, tasks or spans. Rows are padded only to save time: padding is masked, T5's positions
are relative, so a vector does not depend on what else was in the call (in fp32 to 1e-5; in bf16 a kernel may
round a row of another batch size in another order).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch
from device_faults import Faults
from failures import halved
from frida_tokens import FridaTokenizer, Tokens
from local_model import Place, architecture, load, require_vocabulary
from token_passes import padded, passes
from token_windows import Floats, Ints, stitched, windows
from transformers import T5EncoderModel

# The trained length: T5 does not break beyond it, and nobody knows what it is worth there.
WINDOW = 512
# Padded tokens in one forward pass. A layer's attention bias in bf16 takes tokens x length x 48 bytes.
PASS_TOKENS = 16_384
ARCHITECTURES = ("T5EncoderModel", "T5ForConditionalGeneration")


class TokenStates(NamedTuple):
    """The last hidden state of each of a text's own tokens: [tokens, dimension] float32, not normalised."""

    states: Floats
    offsets: Ints


class Embedded(NamedTuple):
    """One unit vector per text [texts, dimension], its content tokens, and whether the window cut it."""

    vectors: Floats
    tokens: list[int]
    truncated: list[bool]


class FridaEncoder:
    """For one thread at a time."""

    def __init__(
        self,
        model: T5EncoderModel,
        tokenizer: FridaTokenizer,
        window: int = WINDOW,
        budget: int = PASS_TOKENS,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.window = window
        self.budget = budget
        self.faults = Faults(model.device)

    @classmethod
    def load(cls, folder: Path, place: Place, window: int = WINDOW, budget: int = PASS_TOKENS) -> Self:
        """From config.json, model.safetensors and tokenizer.json. Raises CannotLoad or WrongTokenizer."""
        tokenizer = FridaTokenizer.load(folder / "tokenizer.json")
        architecture(folder, ARCHITECTURES)
        model = load(T5EncoderModel, folder, place)
        require_vocabulary(model, tokenizer.tokenizer)
        return cls(model, tokenizer, window, budget)

    @property
    def dimension(self) -> int:
        return int(self.model.config.d_model)

    def embed(self, texts: Sequence[str], prefix: str) -> Embedded:
        """Each text in one window: the normalised state at position 0, as FRIDA was trained. What does not
        fit is cut, and said so."""
        tokens = [self.tokenizer.tokens(text, prefix) for text in texts]
        states = self._run([self._row(one, (0, self._room(one))) for one in tokens], first_only=True)
        return self._embedded([state[0] for state in states], tokens)

    def token_states(self, texts: Sequence[str], prefix: str) -> list[TokenStates]:
        """The states of every token of every text.

        A text longer than the window goes through in windows of equal length that overlap; each holds the
        prefix and the special tokens, and each token's state is taken from the window in which it lies
        furthest from a cut.
        """
        tokens = [self.tokenizer.tokens(text, prefix) for text in texts]
        plans = [windows(len(one.ids), self._room(one)) for one in tokens]
        cuts = [(one, window) for one, plan in zip(tokens, plans, strict=True) for window in plan]
        states = self._run([self._row(one, window) for one, window in cuts])
        parts = iter([self._own(state, one) for state, (one, _) in zip(states, cuts, strict=True)])
        return [
            TokenStates(stitched(plan, [next(parts) for _ in plan]), one.offsets)
            for one, plan in zip(tokens, plans, strict=True)
        ]

    def _room(self, tokens: Tokens) -> int:
        return self.tokenizer.room(tokens.prefix, self.window)

    def _row(self, tokens: Tokens, window: tuple[int, int]) -> list[int]:
        return self.tokenizer.row(tokens.prefix, tokens.ids[slice(*window)])

    def _own(self, states: Floats, tokens: Tokens) -> Floats:
        """A row's states without those of its special tokens and prefix."""
        head, tail = self.tokenizer.frame
        return states[len(head) + len(tokens.prefix) : len(states) - len(tail)]

    def _embedded(self, states: Sequence[Floats], tokens: Sequence[Tokens]) -> Embedded:
        vectors = normalised(np.array(states, np.float32).reshape(-1, self.dimension))
        cut = [len(one.ids) > self._room(one) for one in tokens]
        return Embedded(vectors, [len(one.ids) for one in tokens], cut)

    def _run(self, rows: Sequence[Sequence[int]], *, first_only: bool = False) -> list[Floats]:
        """The last hidden states of each row, in the rows' order; only position 0's if told."""
        states: dict[int, Floats] = {}
        for group in passes([len(row) for row in rows], self.budget):
            chosen = [rows[index] for index in group]
            found = halved(
                lambda part: self._states(part, first_only), chosen, self._nothing, self.faults.judge
            )
            states.update(zip(group, found, strict=True))
        return [states[index] for index in range(len(rows))]

    def _states(self, rows: Sequence[Sequence[int]], first_only: bool) -> list[Floats]:
        found = self._forward(rows)
        kept = (found[:, :1] if first_only else found).float().cpu().numpy()
        return [state[: len(row)] for state, row in zip(kept, rows, strict=True)]

    def _nothing(self, row: Sequence[int]) -> Floats:
        """For a row that failed: its request is refused as not finite, and no other."""
        return np.full((len(row), self.dimension), np.nan, np.float32)

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """[rows, padded length, dimension], on the device."""
        ids = torch.full((len(rows), padded(max(map(len, rows)))), self.tokenizer.pad)
        mask = torch.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = torch.tensor(row)
            mask[index, : len(row)] = 1
        device = self.model.device
        states = self.model(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state
        return torch.as_tensor(states)


def normalised(vectors: Floats) -> Floats:
    """Unit length along the last axis; NaN stays NaN."""
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit
