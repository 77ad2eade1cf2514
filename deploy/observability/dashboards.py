"""Writes the dashboards' files. Run: make rules"""

import json
from collections.abc import Sequence
from pathlib import Path

from deploy.observability.boards import answer_path, knowledge, model_servers, overview, quality
from deploy.observability.panels import Board, as_json

FOLDER = Path(__file__).parent / "dashboards"
BOARDS: Sequence[Board] = tuple(
    one.BOARD for one in (overview, answer_path, model_servers, knowledge, quality)
)


def written(board: Board) -> str:
    """A dashboard's file as it should be."""
    return json.dumps(as_json(board), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in BOARDS:
        (FOLDER / f"{one.uid}.json").write_text(written(one), encoding="utf-8")
