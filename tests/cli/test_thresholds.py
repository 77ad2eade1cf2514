"""The shipped thresholds belong to today's settings, word lists and calibration questions."""

import json
from dataclasses import replace
from pathlib import Path

from cli import places
from cli.evaluate_calibrate import settings_sha256, stale
from evaluation import questions
from radrag.settings import Settings

DATA = places.ROOT / "samples" / "calibration.jsonl"
SETTINGS = Settings()
FRESH = {"m": {"settings_sha256": settings_sha256(SETTINGS), "data_sha256": questions.sha256(DATA)}}


def test_the_shipped_thresholds_are_not_stale() -> None:
    """Fails when a setting or a question changed since: `radrag eval calibrate` sets them anew."""
    shipped = json.loads((places.ROOT / SETTINGS.thresholds).read_text(encoding="utf-8"))
    assert shipped["calibrated"]
    for kind in ("rerank", "degraded"):
        assert stale(shipped[kind], SETTINGS, DATA) == [], kind


def test_a_changed_setting_makes_a_threshold_stale() -> None:
    assert stale(FRESH, SETTINGS, DATA) == []
    assert stale(FRESH, replace(SETTINGS, candidates=7), DATA) == ["m"]


def test_changed_questions_make_a_threshold_stale(tmp_path: Path) -> None:
    other = tmp_path / "calibration.jsonl"
    other.write_text("{}", encoding="utf-8")
    assert stale(FRESH, SETTINGS, other) == ["m"]


def test_a_threshold_that_does_not_say_what_it_was_made_of_is_stale() -> None:
    assert stale({"m": {"score": 0.5}}, SETTINGS, DATA) == ["m"]
