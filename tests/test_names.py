"""What tests are called: the same in every process of a run, or none of its tests is run."""

import gzip

import pytest


@pytest.mark.parametrize("data", [gzip.compress(b"a"), bytearray(7)])
def test_bytes_are_called_by_their_number(data: bytes, request: pytest.FixtureRequest) -> None:
    assert request.node.name.endswith(f"[{len(data)} bytes]")
