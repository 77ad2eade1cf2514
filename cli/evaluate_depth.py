"""Cells over frozen sources: the generator is asked again with the first of them, cut to a length.

What was retrieved stays as it is, so that only the depth and the length of the context change.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cli import evaluate_ask, evaluate_writing, places
from cli.evaluate_answers import READER
from cli.terminal import Terminal
from evaluation import text_overlap, written
from evaluation.ablation import Cell, Grid
from evaluation.bounded import each
from evaluation.jsonl import DatasetError
from evaluation.measures import mean
from evaluation.provenance import provenance
from evaluation.written import Written
from radrag.settings import Settings

OPTIONS = ("contexts", "cap")
SETTINGS = (
    "generator_model", "generator_template", "generator_kind", "openai_url", "openai_model", "temperature",
    "top_p", "max_tokens", "seed", "prompt_characters", "unsupported",
)  # fmt: skip
KNOWN = frozenset((*OPTIONS, *SETTINGS))
ROW = "generated"


def sha256(grid: Grid) -> str:
    """The hash of the frozen answers."""
    return hashlib.sha256(Path(grid.frozen).read_bytes()).hexdigest()


def checked(cell: Cell, grid: Grid) -> None:
    """Raises DatasetError when a cell's depth or length is no number from 1, or from 0."""
    for name, least in (("contexts", 1), ("cap", 0)):
        value = cell.values.get(name, least)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise DatasetError(Path(grid.frozen), 0, f"cell {cell.name!r}: {name} is {value!r}")


async def measured(
    cell: Cell, grid: Grid, command: str, screen: Terminal, environ: Mapping[str, str]
) -> dict[str, object]:
    """The cell's figures, as `radrag eval retrieval` gives its own. Raises DatasetError, SettingError."""
    frozen = _drawn(written.read(Path(grid.frozen)), grid)
    around = {f"RADRAG_{k.upper()}": str(v) for k, v in cell.values.items() if k not in OPTIONS}
    contexts, cap = (cell.values.get(name, 0) for name in OPTIONS)
    assert isinstance(contexts, int)
    assert isinstance(cap, int)
    async with evaluate_writing.by_generator(Settings.from_environ({**environ, **around})) as writer:

        async def again(one: Written) -> Written:
            return await writer.from_sources(one, contexts or len(one.passages), cap)

        answers = await each(
            again, frozen, 4, "writing", lambda stage, done, of: screen.progress(f"{stage} {done} of {of}")
        )
    settings = json.dumps(cell.values, sort_keys=True)
    return {
        "kind": "depth",
        "command": command,
        "dataset": Path(grid.frozen).name,
        "split": "",
        "data_sha256": sha256(grid),
        "queries": len(answers),
        "unanswered": sum(not one.answered for one in answers),
        "failed_calls": sum(bool(one.error) for one in answers),
        "rows": {ROW: _means(answers)},
        "settings": cell.values,
        "settings_sha256": hashlib.sha256(settings.encode()).hexdigest(),
        **provenance(places.ROOT),
    }


def _means(answers: list[Written]) -> dict[str, object]:
    pairs = {
        one.asked.id: (one.answer if one.answered else "", one.asked.reference)
        for one in answers
        if one.asked.reference and not one.error
    }
    scores = written.by_rule(answers, READER) | text_overlap.by_case(pairs)
    return {name: vars(mean(list(values.values()))) for name, values in scores.items()}


def _drawn(frozen: list[Written], grid: Grid) -> list[Written]:
    """Those with sources, since without any there is no depth; `limit` of them."""
    with_sources = {one.asked.id: one for one in frozen if one.passages}
    if not with_sources:
        raise DatasetError(Path(grid.frozen), 0, "has no answers with passages: keep them with --out")
    asked = evaluate_ask.drawn([one.asked for one in with_sources.values()], grid.limit)
    return [replace(with_sources[one.id], answer="") for one in asked]
