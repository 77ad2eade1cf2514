"""The evaluation's own services stand beside the served ones."""

import socket
from pathlib import Path

from cli import evaluate_instance


def test_what_the_served_ones_hold_is_left_to_them(tmp_path: Path) -> None:
    """Console and ingest of a running stack are in the environment that the evaluation is given."""
    with socket.create_server(("127.0.0.1", 0)) as console, socket.create_server(("127.0.0.1", 0)) as ingest:
        held = {"HTTP": console, "INGEST": ingest}
        given = {f"RADRAG_{name}_ADDRESS": f"127.0.0.1:{one.getsockname()[1]}" for name, one in held.items()}
        own = evaluate_instance._environ(tmp_path, given, shared=False)
    assert own["RADRAG_HOME"] == str(tmp_path)
    assert not set(given.values()) & set(own.values())
