"""The cache of vectors and scores."""

from pathlib import Path

import numpy as np

from evaluation.cache import NumberCache, Numbers


async def test_a_second_run_computes_nothing(tmp_path: Path) -> None:
    calls = []

    async def compute() -> Numbers:
        calls.append(1)
        return np.arange(6, dtype=np.float32).reshape(2, 3)

    first = NumberCache(tmp_path, "model 1")
    assert (await first.get("text", compute)).tolist() == [[0, 1, 2], [3, 4, 5]]
    first.close()
    second = NumberCache(tmp_path, "model 1")
    assert (await second.get("text", compute)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert len(calls) == 1
    other_text, other_model = second, NumberCache(tmp_path, "model 2")
    await other_text.get("other text", compute)
    await other_model.get("text", compute)
    assert len(calls) == 3
    second.close()
    other_model.close()


async def test_no_rows_are_kept_as_no_rows(tmp_path: Path) -> None:
    cache = NumberCache(tmp_path, "model")

    async def compute() -> Numbers:
        return np.zeros((0, 4), dtype=np.float32)

    assert (await cache.get("", compute)).shape == (0, 4)
    assert (await cache.get("", compute)).shape == (0, 4)
    cache.close()
