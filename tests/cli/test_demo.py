"""The demo, for real: the first thing a newcomer runs."""

import re
import subprocess
import sys
from pathlib import Path

from cli import demo, ports
from cli.ports import Port

ROOT = Path(__file__).parents[2]


def test_the_demo_answers_in_both_languages_and_leaves_nothing_running() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "cli", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=480,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert all(f"$ radrag ask --stages {question!r}" in finished.stdout for question in demo.QUESTIONS)
    assert finished.stdout.count("✓ verified") >= 2
    assert len(re.findall(r"^rerank +[\d.]+ +[\d.]+ +ok$", finished.stdout, re.MULTILINE)) == 2
    assert finished.stdout.rstrip().endswith("stopped: triton, retrieval, gateway, ingest")
    (address,) = re.findall(r"asked at ([\d.]+):(\d+)", finished.stdout)
    assert ports.free(Port(address[0], int(address[1]), "gateway"))
