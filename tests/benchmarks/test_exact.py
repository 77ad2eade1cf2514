"""Exact search over a file of vectors, in blocks, finds what a comparison with all of them finds."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import exact
from benchmarks.exact import Exact, nearest


def test_the_nearest_are_the_same_however_small_the_blocks_are(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    vectors, asked = (draw.standard_normal((count, 8)).astype(np.float32) for count in (100, 4))
    rows = np.arange(0, 100, 3)
    expected = [set(rows[np.argsort(-(vectors[rows] @ one))[:5]]) for one in asked]
    for block in (1, 4, 7, 1000):
        monkeypatch.setattr(exact, "BLOCK", block)
        assert [set(found) for found in nearest(vectors, rows, asked, 5)] == expected


def test_each_leg_has_the_children_of_its_label_topic_and_language_alone(tmp_path: Path) -> None:
    held = Exact(tmp_path / "vectors", 2)
    here, there = np.array([[1, 0], [0.6, 0.8]], np.float32), np.array([[0, 1]], np.float32)
    held.add("safety", "en", ("public", "tenth"), ["a", "b"], here)
    held.add("safety", "ru", ("public",), ["c"], there)
    found = dict(held.legs(np.array([[1, 0]], np.float32), 1))
    assert found == {
        ("public", "safety", "en"): [{"a"}],
        ("tenth", "safety", "en"): [{"a"}],
        ("public", "safety", "ru"): [{"c"}],
    }
    assert held.seen() == {"public": 3, "tenth": 2}
    held.close()
    assert not list(tmp_path.iterdir())
