"""Qwen3-Reranker on PyTorch: pairs in, the log-odds of "yes" against "no" out.

Rows are padded on the left, so that the last position is every row's last token; of the vocabulary's 151,936
logits only the two answers' are computed. Rows of one question share their first tokens: their keys and
values are computed once and reused where that was measured to pay. A pair that fails is NaN, alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Self

import torch
from device_faults import Faults
from failures import cause, halved, log
from local_model import Place, architecture, load, require_vocabulary
from qwen3_judgement import Judged
from qwen3_prompt import InvalidPair, Prompts, Row
from token_passes import padded, passes
from transformers import (
    DynamicCache,
    DynamicLayer,
    Qwen3ForCausalLM,
    Qwen3ForSequenceClassification,
    Qwen3Model,
)

PASS_TOKENS = 16_384
CAUSAL, CLASSIFIER = "Qwen3ForCausalLM", "Qwen3ForSequenceClassification"
# A shared question needs company before its keys are worth copying.
SHARE_FROM = 2

Keys = list[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Timing:
    """Seconds for one group of rows, with the question shared and without."""

    shared: float
    whole: float


class Reranker:
    """answers: [2, width] the output rows of no and yes, or [1, width] their difference.

    For one thread at a time."""

    def __init__(
        self,
        model: Qwen3Model,
        answers: torch.Tensor,
        prompts: Prompts,
        budget: int = PASS_TOKENS,
        share: bool = True,
    ) -> None:
        self.model = model
        self.answers = answers.float()
        self.prompts = prompts
        self.budget = budget
        self.share = share
        self.faults = Faults(model.device)

    @classmethod
    def load(cls, folder: Path, place: Place, prompts: Prompts, *, one_logit: bool = False) -> Self:
        """From config.json and model.safetensors, as published or converted. Raises CannotLoad."""
        if architecture(folder, (CAUSAL, CLASSIFIER)) == CLASSIFIER:
            classifier = load(Qwen3ForSequenceClassification, folder, place)
            require_vocabulary(classifier, prompts.tokenizer)
            return cls(classifier.model, classifier.score.weight, prompts)
        causal = load(Qwen3ForCausalLM, folder, place)
        require_vocabulary(causal, prompts.tokenizer)
        rows = causal.lm_head.weight[[prompts.no, prompts.yes]].float()
        return cls(causal.model, difference(rows) if one_logit else rows, prompts)

    def rerank(self, pairs: Sequence[tuple[str, str] | None]) -> list[Judged]:
        """One judgement per (query, passage), in order; None stands for a pair that could not be read."""
        rows = {at: row for at, pair in enumerate(pairs) if (row := self._row(pair))}
        margins = dict(zip(rows, self.margins(list(rows.values())), strict=True))
        nothing = Judged(float("nan"), False)
        return [
            Judged(margins[at], rows[at].truncated) if at in rows else nothing for at in range(len(pairs))
        ]

    def margins(self, rows: Sequence[Row]) -> list[float]:
        """Log-odds of yes per row, in order. Grouped by question where the question is shared."""
        found: dict[int, float] = {}
        for group, shared in self._groups(rows):
            chosen = [rows[index] for index in group]
            keys = self._question(chosen) if shared else []
            skip = chosen[0].shared if keys else 0
            # Whole lengths, since each row of a pass has its own copy of the question's keys.
            for part in passes([len(row.ids) for row in chosen], self.budget):
                ids = [chosen[at].ids[skip:] for at in part]
                margins = halved(
                    lambda some: self._forward(some, keys),  # noqa: B023
                    ids,
                    lambda _: float("nan"),
                    self.faults.judge,
                )
                found.update(zip((group[at] for at in part), margins, strict=True))
        return [found[index] for index in range(len(rows))]

    def measure(self, rows: Sequence[Row], repeats: int = 3) -> Timing:
        """How long these rows take both ways; sets `share` to the faster."""
        times = {}
        for self.share in (True, False):
            times[self.share] = min(seconds(lambda: self.margins(rows)) for _ in range(repeats))
        self.share = times[True] < times[False]
        return Timing(times[True], times[False])

    def _row(self, pair: tuple[str, str] | None) -> Row | None:
        try:
            return self.prompts.row(*pair) if pair else None
        except InvalidPair:
            return None
        except Exception as error:  # noqa: BLE001 - nobody else's score is lost by a text nobody foresaw
            log.warning("a pair could not be read: %s", cause(error))
            return None

    def _groups(self, rows: Sequence[Row]) -> Iterator[tuple[list[int], bool]]:
        """Row indices by question, and whether its keys are shared; what shares nothing goes together."""

        def question(index: int) -> list[int]:
            return rows[index].ids[: rows[index].shared]

        together = [] if self.share else list(range(len(rows)))
        indices = sorted(range(len(rows)), key=question) if self.share else []
        for _, found in groupby(indices, key=question):
            group = list(found)
            if len(group) >= SHARE_FROM:
                yield group, True
            else:
                together += group
        if together:
            yield together, False

    def _question(self, rows: Sequence[Row]) -> Keys:
        """What the rows share; nothing where the device has no room for it, and each row is read whole."""
        try:
            return self._keys(rows)
        except Exception as error:  # noqa: BLE001 - as in `halved`
            self.faults.judge(error, 1)
        return []

    @torch.inference_mode()
    def _keys(self, rows: Sequence[Row]) -> Keys:
        """The keys and values of the question, of every layer: [1, heads, tokens, width]."""
        ids = torch.tensor([rows[0].ids[: rows[0].shared]], device=self.model.device)
        cache = DynamicCache()
        self.model(input_ids=ids, cache=cache, use_cache=True)
        layers = (layer for layer in cache.layers if isinstance(layer, DynamicLayer))
        return [
            (layer.keys, layer.values)
            for layer in layers
            if layer.keys is not None and layer.values is not None
        ]

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]], keys: Keys) -> list[float]:
        past = keys[0][0].shape[2] if keys else 0
        ids = torch.full((len(rows), padded(max(map(len, rows)))), self.prompts.pad)
        mask = torch.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, -len(row) :] = torch.tensor(row)
            mask[index, -len(row) :] = 1
        # Positions count real tokens only: padding stands between the shared question and the rest.
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0) + past
        seen = torch.cat([torch.ones(len(rows), past, dtype=mask.dtype), mask], dim=1)
        states = self.model(
            input_ids=ids.to(self.model.device),
            attention_mask=seen.to(self.model.device),
            position_ids=positions.to(self.model.device),
            cache=repeated(keys, len(rows)) if keys else None,
            use_cache=bool(keys),
        ).last_hidden_state
        logits = states[:, -1].float() @ self.answers.T
        margin = logits[:, 1] - logits[:, 0] if len(self.answers) == 2 else logits[:, 0]
        return [float(value) for value in margin.cpu()]


def repeated(keys: Keys, rows: int) -> DynamicCache:
    """A cache of its own for a pass: the passes of one question start from the same keys."""
    cache = DynamicCache()
    for layer, (key, value) in enumerate(keys):
        cache.update(key.expand(rows, -1, -1, -1), value.expand(rows, -1, -1, -1), layer)
    return cache


def difference(answers: torch.Tensor) -> torch.Tensor:
    """[2, width] of no and yes -> [1, width]: one logit whose sigmoid is the two's softmax."""
    return answers[1:] - answers[:1]


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started
