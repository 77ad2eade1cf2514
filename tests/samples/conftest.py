"""Builds the samples once for all tests of this room."""

from pathlib import Path

import pytest

from samples.build import build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    build(folder)
    return folder
